import { encodeOid } from "#probe-agent/analysis/tls/certificate/der-encode.ts";
import { ascii, der, integer, sequence } from "#test/servers/der.ts";
import type { Extension } from "#test/servers/chains/writer.ts";

/** OIDs of the extensions (RFC 5280 section 4.2). */
export const OID = {
  ski: "2.5.29.14",
  keyUsage: "2.5.29.15",
  san: "2.5.29.17",
  issuerAltName: "2.5.29.18",
  basicConstraints: "2.5.29.19",
  nameConstraints: "2.5.29.30",
  crlPoints: "2.5.29.31",
  policies: "2.5.29.32",
  policyMappings: "2.5.29.33",
  aki: "2.5.29.35",
  policyConstraints: "2.5.29.36",
  eku: "2.5.29.37",
  aia: "1.3.6.1.5.5.7.1.1",
  tlsFeature: "1.3.6.1.5.5.7.1.24",
} as const;

/** Extended key usages. */
export const PURPOSE = {
  server: "1.3.6.1.5.5.7.3.1",
  client: "1.3.6.1.5.5.7.3.2",
  codeSigning: "1.3.6.1.5.5.7.3.3",
  ocspSigning: "1.3.6.1.5.5.7.3.9",
  any: "2.5.29.37.0",
} as const;

/** Octet of keyUsage's first eight bits. */
export const USAGE = { digitalSignature: 0x80, keyEncipherment: 0x20, keyCertSign: 0x04, cRLSign: 0x02 } as const;

const TRUE = der(0x01, Uint8Array.of(0xff));

/** An extension of a value as it is. */
export function extension(oid: string, value: Uint8Array, critical = false): Extension {
  return { oid, critical, value };
}

/** basicConstraints; `parts` are the fields in the SEQUENCE. */
export function basicConstraints(ca: boolean, pathLength?: number, critical = true): Extension {
  const parts = [...(ca ? [TRUE] : []), ...(pathLength === undefined ? [] : [integer(pathLength)])];
  return extension(OID.basicConstraints, sequence(...parts), critical);
}

/** keyUsage of one octet; unused bits as DER wants them. */
export function keyUsage(bits: number, critical = true): Extension {
  const unused = bits === 0 ? 0 : Math.log2(bits & -bits);
  return extension(OID.keyUsage, der(0x03, Uint8Array.of(unused, bits)), critical);
}

/** extendedKeyUsage. */
export function eku(...purposes: readonly string[]): Extension {
  return extension(OID.eku, sequence(...purposes.map((purpose) => encodeOid(purpose))));
}

/** subjectAltName of DER GeneralNames. */
export function san(names: readonly Uint8Array[], critical = false): Extension {
  return extension(OID.san, sequence(...names), critical);
}

/** A dNSName. */
export function dns(name: string): Uint8Array {
  return ascii(0x82, name);
}

/** An iPAddress, or in name constraints address and mask. */
export function ip(...octets: readonly number[]): Uint8Array {
  return der(0x87, Uint8Array.from(octets));
}

/** subjectKeyIdentifier. */
export function ski(id: Uint8Array, critical = false): Extension {
  return extension(OID.ski, der(0x04, id), critical);
}

/** authorityKeyIdentifier of a key identifier. */
export function aki(id: Uint8Array, critical = false): Extension {
  return extension(OID.aki, sequence(der(0x80, id)), critical);
}

/** authorityInfoAccess: where the issuer's certificate is. */
export function aia(critical = false): Extension {
  const location = ascii(0x86, "http://pki.test/issuer.der");
  return extension(OID.aia, sequence(sequence(encodeOid("1.3.6.1.5.5.7.48.2"), location)), critical);
}

/** nameConstraints of permitted and excluded bases; null leaves a side out. */
export function nameConstraints(
  permitted: readonly Uint8Array[] | null,
  excluded: readonly Uint8Array[] | null = null,
): Extension {
  const side = (tag: number, bases: readonly Uint8Array[] | null): Uint8Array[] =>
    bases === null ? [] : [der(tag, ...bases.map((base) => sequence(base)))];
  return extension(OID.nameConstraints, sequence(...side(0xa0, permitted), ...side(0xa1, excluded)), true);
}

/** certificatePolicies of policy OIDs. */
export function policies(...oids: readonly string[]): Extension {
  return extension(OID.policies, sequence(...oids.map((oid) => sequence(encodeOid(oid)))));
}

/** policyConstraints: requireExplicitPolicy after so many certificates. */
export function requireExplicitPolicy(after: number, critical = true): Extension {
  return extension(OID.policyConstraints, sequence(der(0x80, Uint8Array.of(after))), critical);
}

/** policyMappings: the issuer's policy, and the equivalent policy of the certificates below. */
export function policyMappings(issuer: string, subject: string, critical = false): Extension {
  return extension(OID.policyMappings, sequence(sequence(encodeOid(issuer), encodeOid(subject))), critical);
}

/** inhibitAnyPolicy after so many certificates. */
export function inhibitAnyPolicy(after: number): Extension {
  return extension("2.5.29.54", integer(after), true);
}
