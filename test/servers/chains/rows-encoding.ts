import { generateKeyPairSync } from "node:crypto";
import { encodeOid } from "#probe-agent/analysis/tls/certificate/der-encode.ts";
import { CHAIN_HOST } from "#test/servers/chains/build.ts";
import { aia, basicConstraints, dns, extension, OID, san } from "#test/servers/chains/extensions.ts";
import type { Row } from "#test/servers/chains/row.ts";
import {
  commonName,
  ecdsaSigner,
  keysOf,
  versionField,
  writeExtension,
  type Keys,
} from "#test/servers/chains/writer.ts";
import { der, integer, sequence } from "#test/servers/der.ts";

const HOST_NAME = dns(CHAIN_HOST);
const explicit = keysOf(generateKeyPairSync("ec", { namedCurve: "prime256v1", paramEncoding: "explicit" }));
const otherCurve = keysOf(generateKeyPairSync("ec", { namedCurve: "secp256k1" }));
const brainpool = keysOf(generateKeyPairSync("ec", { namedCurve: "brainpoolP256r1" }));
const p224 = keysOf(generateKeyPairSync("ec", { namedCurve: "secp224r1" }));
const p384 = keysOf(generateKeyPairSync("ec", { namedCurve: "secp384r1" }));
const rsa1024 = keysOf(generateKeyPairSync("rsa", { modulusLength: 1024 }));
const rsaPss = keysOf(generateKeyPairSync("rsa-pss", { modulusLength: 2048 }));
const compressed = compressedPoint();

function compressedPoint(): Keys {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const odd = ((Buffer.from(y, "base64url").at(-1) ?? 0) & 1) === 1;
  const point = Buffer.concat([Uint8Array.of(odd ? 3 : 2), Buffer.from(x, "base64url")]);
  const algorithm = sequence(encodeOid("1.2.840.10045.2.1"), encodeOid("1.2.840.10045.3.1.7"));
  return { privateKey, spki: sequence(algorithm, der(0x03, Uint8Array.of(0), point)) };
}

const SECOND_MS = 1000;
const LIFE_MS = 30 * 86_400_000;
const unpadded = (length: number): Uint8Array => Buffer.alloc(length, 0x5a);

/** Chains whose fault is in keys, signatures, dates or encoding. */
export const ENCODING_ROWS: readonly Row[] = [
  {
    name: "explicit curve parameters in the leaf",
    source: "RFC 5480 section 2.1.1; Firefox, Go and OpenSSL refuse",
    change: { leaf: { keys: explicit } },
    errors: ["weak_key"],
  },
  {
    name: "explicit curve parameters in the intermediate",
    source: "RFC 5480 section 2.1.1; Firefox, Go and OpenSSL refuse",
    change: { intermediate: { keys: explicit } },
    errors: ["weak_key"],
  },
  {
    name: "explicit curve parameters in the root",
    source: "RFC 5480 section 2.1.1; Firefox, Go and OpenSSL refuse",
    change: { root: { keys: explicit } },
    errors: ["weak_key"],
  },
  {
    name: "secp256k1",
    source: "CABF 6.1.5; Chrome, Firefox and Go refuse",
    change: { leaf: { keys: otherCurve } },
    errors: ["weak_key"],
    differs: "chrome",
  },
  {
    name: "brainpoolP256r1",
    source: "CABF 6.1.5; Chrome, Firefox and Go refuse",
    change: { intermediate: { keys: brainpool } },
    errors: ["weak_key"],
    differs: "chrome",
  },
  {
    name: "P-224",
    source: "CABF 6.1.5; Chrome and Firefox refuse",
    change: { leaf: { keys: p224 } },
    errors: ["weak_key"],
    differs: "chrome",
  },
  { name: "P-384", source: "CABF 6.1.5", change: { root: { keys: p384 } }, errors: [] },
  {
    name: "compressed point",
    source: "RFC 5480 section 2.2: optional; Firefox and Go refuse",
    change: { leaf: { keys: compressed } },
    errors: ["weak_key"],
    differs: "firefox",
  },
  {
    name: "RSA of 1024 bits",
    source: "CABF 6.1.5; Firefox refuses",
    change: { leaf: { keys: rsa1024 } },
    errors: ["weak_key"],
    differs: "key_policy",
  },
  {
    name: "RSASSA-PSS key",
    source: "Chrome, Firefox and Go do not know the key's OID",
    change: { leaf: { keys: rsaPss } },
    errors: ["weak_key"],
    differs: "chrome",
  },
  {
    name: "leaf signed with SHA-1",
    source: "CABF 7.1.3.2",
    change: { leaf: { signed: (issuer) => ecdsaSigner(issuer, "sha1") } },
    errors: ["weak_signature"],
    differs: "key_policy",
  },
  {
    name: "leaf signed with SHA-224",
    source: "CABF 7.1.3.2; Chrome and Firefox do not know the signature's OID",
    change: { leaf: { signed: (issuer) => ecdsaSigner(issuer, "sha224") } },
    errors: ["weak_signature"],
    differs: "chrome",
  },
  {
    name: "root signed with SHA-1",
    source: "a root's own signature proves nothing",
    change: { root: { signed: (issuer) => ecdsaSigner(issuer, "sha1") } },
    errors: [],
  },
  {
    name: "the two signature algorithms differ",
    source: "RFC 5280 section 4.1.1.2; Chrome, Firefox and Go refuse",
    change: { leaf: { outerAlgorithm: sequence(encodeOid("1.2.840.10045.4.3.3")) } },
    errors: ["malformed"],
  },
  {
    name: "in notAfter's second",
    source: "RFC 5280 section 4.1.2.5: inclusive, in whole seconds",
    change: {},
    atMs: LIFE_MS + SECOND_MS - 1,
    errors: [],
    differs: "last_second",
  },
  {
    name: "one second after notAfter",
    source: "RFC 5280 section 4.1.2.5",
    change: {},
    atMs: LIFE_MS + SECOND_MS,
    errors: ["expired"],
  },
  { name: "in notBefore's second", source: "RFC 5280 section 4.1.2.5", change: {}, atMs: -LIFE_MS, errors: [] },
  {
    name: "the millisecond before notBefore",
    source: "RFC 5280 section 4.1.2.5",
    change: {},
    atMs: -LIFE_MS - 1,
    errors: ["not_yet_valid"],
  },
  {
    name: "a date after 2049",
    source: "RFC 5280 section 4.1.2.5.2",
    change: { root: { notAfter: new Date("2060-01-01T00:00:00Z") } },
    errors: [],
  },
  {
    name: "negative serial number",
    source: "RFC 5280 section 4.1.2.2; Go refuses",
    change: { leaf: { serial: Uint8Array.of(0xff, 0x01) } },
    errors: ["malformed"],
    differs: "go",
  },
  {
    name: "serial number zero",
    source: "RFC 5280 section 4.1.2.2: users accept it",
    change: { leaf: { serial: Uint8Array.of(0) } },
    errors: [],
  },
  {
    name: "serial number of 22 octets",
    source: "RFC 5280 section 4.1.2.2: Chrome, Firefox and Go accept it",
    change: { leaf: { serial: unpadded(22) } },
    errors: [],
  },
  {
    name: "serial number with a needless zero octet",
    source: "X.690 section 8.3.2; Chrome, Firefox and Go refuse",
    change: { leaf: { serial: Uint8Array.of(0, 1) } },
    errors: ["malformed", "bad_signature"],
  },
  {
    name: "version 1 with extensions",
    source: "RFC 5280 section 4.1.2.9; Chrome: unexpected extensions",
    change: { leaf: { version: new Uint8Array() } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "version 2 with extensions",
    source: "RFC 5280 section 4.1.2.9; Chrome: unexpected extensions",
    change: { leaf: { version: versionField(1) } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "version 4",
    source: "RFC 5280 section 4.1.2.1; Chrome and Go refuse",
    change: { leaf: { version: versionField(3) } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "a root that writes version 1 out",
    source: "X.690 section 11.5: a default is left out; Chrome refuses",
    change: { root: { version: versionField(0), extensionField: new Uint8Array() } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "an empty list of extensions",
    source: "RFC 5280 section 4.1: SIZE (1..MAX); Chrome refuses",
    change: { root: { version: versionField(2), extensionField: der(0xa3, sequence()) }, intermediate: null },
    errors: ["malformed", "not_a_ca"],
  },
  {
    name: "an extension twice",
    source: "RFC 5280 section 4.2",
    change: {
      leaf: {
        extensionField: der(0xa3, sequence(...[san([HOST_NAME]), san([HOST_NAME])].map((one) => writeExtension(one)))),
      },
    },
    errors: ["malformed"],
  },
  {
    name: "criticality written out as FALSE",
    source: "X.690 section 11.5: a default is left out; Chrome refuses",
    change: {
      leaf: {
        extensionField: der(
          0xa3,
          sequence(
            sequence(encodeOid(OID.san), der(0x01, Uint8Array.of(0)), der(0x04, sequence(HOST_NAME))),
            writeExtension(basicConstraints(false)),
          ),
        ),
      },
    },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "criticality written as 1",
    source: "X.690 section 11.1: TRUE is 255; Chrome, Firefox and Go refuse",
    change: {
      leaf: {
        extensionField: der(
          0xa3,
          sequence(
            sequence(encodeOid(OID.san), der(0x01, Uint8Array.of(1)), der(0x04, sequence(HOST_NAME))),
            writeExtension(basicConstraints(false)),
          ),
        ),
      },
    },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "an authority whose cA is written as 1",
    source: "X.690 section 11.1: TRUE is 255; Chrome, Firefox and Go refuse",
    change: {
      intermediate: {
        set: [extension(OID.basicConstraints, sequence(der(0x01, Uint8Array.of(1)), integer(0)), true)],
      },
    },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "something behind the extensions",
    source: "RFC 5280 section 4.1; Chrome, Firefox and OpenSSL refuse",
    change: { leaf: { trailer: integer(1) } },
    errors: ["malformed", "bad_signature"],
  },
  {
    name: "unique identifiers",
    source: "RFC 5280 section 4.1.2.8: users accept them",
    change: { leaf: { uniqueIds: der(0x81, Uint8Array.of(0, 1)) } },
    errors: [],
  },
  {
    name: "something behind an extension's value",
    source: "X.690: one value; Chrome refuses",
    change: {
      leaf: {
        set: [extension(OID.aia, Buffer.concat([aia().value, integer(1)]))],
      },
    },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "a subject with characters its type has not",
    source: "X.680 section 41.4: no @ in PrintableString; Chrome and Go refuse",
    change: { leaf: { subject: commonName("webmaster@chains.test", 0x13) } },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "an issuer's name with characters its type has not",
    source: "X.680 section 41.4: no @ in PrintableString; Chrome and Go refuse",
    change: {
      intermediate: { subject: commonName("pki@chains.test", 0x0c) },
      leaf: { issuer: commonName("pki@chains.test", 0x13) },
    },
    errors: ["malformed"],
    differs: "chrome",
  },
  {
    name: "a subject that is not UTF-8",
    source: "X.680 section 41.16; Go and OpenSSL refuse",
    change: { leaf: { subject: commonName("b\u00fccher", 0x0c) } },
    errors: ["malformed", "bad_signature"],
  },
  {
    name: "a subject of an empty relative name",
    source: "RFC 5280 section 4.1.2.4: SET SIZE (1..MAX); Chrome refuses",
    change: { leaf: { subject: sequence(der(0x31)) } },
    errors: ["malformed"],
    differs: "chrome",
  },
];
