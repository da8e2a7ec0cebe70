// oxlint-disable-next-line import/no-unassigned-import -- x509 needs its side effect before it loads
import "reflect-metadata";
import { createHash, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { ascii, der, integer, sequence } from "#test/servers/der.ts";

/** The v3 extensions of a certificate; absent ones take what suits a leaf or, with `ca`, an authority. */
export interface ExtensionOptions {
  readonly dns?: readonly string[];
  readonly ip?: readonly string[];
  readonly email?: readonly string[];
  readonly uri?: readonly string[];
  readonly sanCritical?: boolean;
  readonly ca?: boolean;
  readonly pathLength?: number;
  /** Leaves basicConstraints out altogether. */
  readonly noBasicConstraints?: boolean;
  /** Extended key usage OIDs; null leaves the extension out. Default serverAuth for leaves, none for authorities. */
  readonly eku?: readonly string[] | null;
  /** Key usage bits; null leaves the extension out. */
  readonly keyUsage?: x509.KeyUsageFlags | null;
  readonly nameConstraints?: NameConstraintOptions;
  /** TLS feature status_request (RFC 7633). */
  readonly mustStaple?: boolean;
  /** Certificate policy OIDs. */
  readonly policies?: readonly string[];
  /** Leaves the key identifiers out. */
  readonly noKeyIds?: boolean;
  readonly ocspUrls?: readonly string[];
  readonly caIssuers?: readonly string[];
  readonly crlUrls?: readonly string[];
  /** Added as they are. */
  readonly extra?: readonly { readonly oid: string; readonly critical?: boolean; readonly value: Uint8Array }[];
}

/** Subtrees by kind; `ip` entries are address octets followed by mask octets, `directory` entries DER Names. */
export interface NameConstraintOptions {
  readonly permitted?: Subtrees;
  readonly excluded?: Subtrees;
  readonly critical?: boolean;
}

/** Bases of the general subtrees of one side. */
export interface Subtrees {
  readonly dns?: readonly string[];
  readonly email?: readonly string[];
  readonly uri?: readonly string[];
  readonly ip?: readonly (readonly number[])[];
  readonly directory?: readonly Uint8Array[];
}

/** Extended key usage OID serverAuth (RFC 5280 section 4.2.1.12). */
export const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
/** Extended key usage OID clientAuth. */
export const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

/** Builds the extension list and the subject key identifier (SHA-1 of the SPKI, null when left out). */
export async function certificateExtensions(
  options: ExtensionOptions,
  publicKey: webcrypto.CryptoKey,
  issuerKeyId: Uint8Array | null | undefined,
): Promise<{ extensions: readonly x509.Extension[]; keyId: Uint8Array | null }> {
  const spki = new Uint8Array(await webcrypto.subtle.exportKey("spki", publicKey));
  const keyId = options.noKeyIds === true ? null : createHash("sha1").update(spki).digest();
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
  const extensions: x509.Extension[] = [...constraints(options), ...usages(options), ...names(options)];
  if (keyId !== null) extensions.push(new x509.SubjectKeyIdentifierExtension(hex(keyId)));
  if (keyId !== null && issuerKeyId !== null && issuerKeyId !== undefined) {
    extensions.push(new x509.AuthorityKeyIdentifierExtension(hex(issuerKeyId)));
  }
  extensions.push(...pointers(options));
  for (const { oid, critical = false, value } of options.extra ?? []) extensions.push(raw(oid, critical, value));
  return { extensions, keyId };
}

function constraints(options: ExtensionOptions): x509.Extension[] {
  const made: x509.Extension[] = [];
  if (options.noBasicConstraints !== true) {
    made.push(new x509.BasicConstraintsExtension(options.ca ?? false, options.pathLength, true));
  }
  if (options.nameConstraints) {
    const { permitted, excluded, critical = true } = options.nameConstraints;
    const value = sequence(
      ...(permitted ? [der(0xa0, ...subtrees(permitted))] : []),
      ...(excluded ? [der(0xa1, ...subtrees(excluded))] : []),
    );
    made.push(raw("2.5.29.30", critical, value));
  }
  return made;
}

function subtrees(of: Subtrees): Uint8Array[] {
  return [
    ...(of.email ?? []).map((base) => ascii(0x81, base)),
    ...(of.dns ?? []).map((base) => ascii(0x82, base)),
    ...(of.directory ?? []).map((base) => der(0xa4, base)),
    ...(of.uri ?? []).map((base) => ascii(0x86, base)),
    ...(of.ip ?? []).map((base) => der(0x87, Buffer.from(base))),
  ].map((base) => sequence(base));
}

function usages(options: ExtensionOptions): x509.Extension[] {
  const { digitalSignature, keyCertSign, cRLSign } = x509.KeyUsageFlags;
  const { keyUsage = options.ca === true ? keyCertSign | cRLSign : digitalSignature } = options;
  const { eku = options.ca === true ? null : [SERVER_AUTH] } = options;
  return [
    ...(keyUsage === null ? [] : [new x509.KeyUsagesExtension(keyUsage, true)]),
    ...(eku === null ? [] : [new x509.ExtendedKeyUsageExtension([...eku])]),
    ...(options.mustStaple === true ? [raw("1.3.6.1.5.5.7.1.24", false, sequence(integer(5)))] : []),
    ...(options.policies ? [new x509.CertificatePolicyExtension([...options.policies])] : []),
  ];
}

function names(options: ExtensionOptions): x509.Extension[] {
  const all: x509.JsonGeneralNames = [
    ...(options.dns ?? []).map((value) => ({ type: "dns" as const, value })),
    ...(options.ip ?? []).map((value) => ({ type: "ip" as const, value })),
    ...(options.email ?? []).map((value) => ({ type: "email" as const, value })),
    ...(options.uri ?? []).map((value) => ({ type: "url" as const, value })),
  ];
  return all.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(all, options.sanCritical ?? false)];
}

function pointers(options: ExtensionOptions): x509.Extension[] {
  const made: x509.Extension[] = [];
  if (options.ocspUrls || options.caIssuers) {
    const { ocspUrls = [], caIssuers = [] } = options;
    made.push(new x509.AuthorityInfoAccessExtension({ ocsp: [...ocspUrls], caIssuers: [...caIssuers] }));
  }
  if (options.crlUrls) made.push(new x509.CRLDistributionPointsExtension([...options.crlUrls]));
  return made;
}

function raw(oid: string, critical: boolean, value: Uint8Array): x509.Extension {
  return new x509.Extension(oid, critical, Buffer.from(value));
}
