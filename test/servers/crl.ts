import { ascii, der, integer, sequence } from "#test/servers/der.ts";
import { daysFromNow, type Issued } from "#test/servers/pki.ts";
import { algorithmOf, extension, parsed, signed, utcTime, type Signing } from "#test/servers/signing.ts";

/** One entry. */
export interface CrlEntry {
  readonly serialNumber: Uint8Array;
  readonly at?: Date;
  /** CRLReason's number. */
  readonly reason?: number;
  /** Encoded ones, besides the reason. */
  readonly extensions?: readonly Uint8Array[];
}

/** How a list is made; the default is from an hour ago for a week. */
export interface CrlOptions {
  /** Identity whose name and key the list has. */
  readonly issuer: Issued;
  /** Identity whose key signs; default: the issuer. */
  readonly signer?: Issued;
  readonly entries?: readonly CrlEntry[];
  /** Encoded entries, one after the other, in the place of `entries`. */
  readonly rawEntries?: Uint8Array;
  readonly thisUpdate?: Date;
  /** Null leaves it out. */
  readonly nextUpdate?: Date | null;
  /** Encoded ones. */
  readonly extensions?: readonly Uint8Array[];
  readonly signing?: Signing;
}

/** A revocation list of version 2 (RFC 5280 section 5.1), DER. */
export function certificateList(options: CrlOptions): Uint8Array {
  const { issuer, signer = issuer, entries = [], extensions = [], signing } = options;
  const { thisUpdate = daysFromNow(-1 / 24), nextUpdate = daysFromNow(7) } = options;
  const revoked = options.rawEntries ?? Buffer.concat(entries.map(crlEntry));
  const tbs = sequence(
    integer(1),
    algorithmOf(signer, signing),
    parsed(issuer).subject,
    utcTime(thisUpdate),
    ...(nextUpdate === null ? [] : [utcTime(nextUpdate)]),
    ...(revoked.length === 0 ? [] : [der(0x30, revoked)]),
    ...(extensions.length === 0 ? [] : [der(0xa0, sequence(...extensions))]),
  );
  const { algorithm, signature } = signed(signer, tbs, signing);
  return sequence(tbs, algorithm, signature);
}

/** One entry, encoded. */
export function crlEntry({ serialNumber, at = daysFromNow(-3), reason, extensions = [] }: CrlEntry): Uint8Array {
  const code = reason === undefined ? [] : [extension("2.5.29.21", der(0x0a, Uint8Array.of(reason)))];
  const all = [...code, ...extensions];
  return sequence(der(0x02, serialNumber), utcTime(at), ...(all.length === 0 ? [] : [sequence(...all)]));
}

/** Issuing distribution point (RFC 5280 section 5.2.5), critical as it has to be. */
export function issuingDistributionPoint(scope: {
  readonly urls?: readonly string[];
  readonly onlyUsers?: boolean;
  readonly onlyAuthorities?: boolean;
  readonly someReasons?: boolean;
  readonly indirect?: boolean;
}): Uint8Array {
  const flag = (tag: number, is: boolean | undefined): Uint8Array[] =>
    is === true ? [der(tag, Uint8Array.of(0xff))] : [];
  const names = scope.urls?.map((url) => ascii(0x86, url));
  const value = sequence(
    ...(names === undefined ? [] : [der(0xa0, der(0xa0, ...names))]),
    ...flag(0x81, scope.onlyUsers),
    ...flag(0x82, scope.onlyAuthorities),
    ...(scope.someReasons === true ? [der(0x83, Uint8Array.of(6, 0x40))] : []),
    ...flag(0x84, scope.indirect),
  );
  return extension("2.5.29.28", value, true);
}

/** The entry extension by which an indirect list names another issuer (RFC 5280 section 5.3.3), critical. */
export function certificateIssuer(name: Uint8Array): Uint8Array {
  return extension("2.5.29.29", sequence(der(0xa4, name)), true);
}

/** Delta CRL indicator (RFC 5280 section 5.2.4), critical. */
export function deltaIndicator(base: number): Uint8Array {
  return extension("2.5.29.27", integer(base), true);
}

/** A list as PEM. */
export function crlPem(list: Uint8Array): string {
  const lines = Buffer.from(list)
    .toString("base64")
    .replaceAll(/.{64}(?=.)/g, "$&\n");
  return `-----BEGIN X509 CRL-----\n${lines}\n-----END X509 CRL-----\n`;
}

/** So many entries of 34 octets, with serial numbers that no test certificate has. */
export function manyEntries(count: number): Uint8Array {
  const serialNumber = Buffer.alloc(15, 0x11);
  const entry = Buffer.from(crlEntry({ serialNumber }));
  const at = entry.indexOf(serialNumber) + 11;
  const all = Buffer.alloc(count * entry.length);
  for (let index = 0; index < count; index += 1) {
    entry.writeUInt32BE(index, at);
    entry.copy(all, index * entry.length);
  }
  return all;
}
