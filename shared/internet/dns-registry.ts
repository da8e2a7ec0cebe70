// IANA "Domain Name System (DNS) Parameters": resource record types and RCODEs.

const TYPES: Readonly<Record<string, number>> = {
  A: 1,
  NS: 2,
  MD: 3,
  MF: 4,
  CNAME: 5,
  SOA: 6,
  MB: 7,
  MG: 8,
  MR: 9,
  NULL: 10,
  WKS: 11,
  PTR: 12,
  HINFO: 13,
  MINFO: 14,
  MX: 15,
  TXT: 16,
  RP: 17,
  AFSDB: 18,
  RT: 21,
  SIG: 24,
  KEY: 25,
  PX: 26,
  AAAA: 28,
  LOC: 29,
  NXT: 30,
  SRV: 33,
  NAPTR: 35,
  KX: 36,
  CERT: 37,
  DNAME: 39,
  OPT: 41,
  APL: 42,
  DS: 43,
  SSHFP: 44,
  IPSECKEY: 45,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  DHCID: 49,
  NSEC3: 50,
  NSEC3PARAM: 51,
  TLSA: 52,
  SMIMEA: 53,
  HIP: 55,
  CDS: 59,
  CDNSKEY: 60,
  OPENPGPKEY: 61,
  CSYNC: 62,
  ZONEMD: 63,
  SVCB: 64,
  HTTPS: 65,
  SPF: 99,
  EUI48: 108,
  EUI64: 109,
  TKEY: 249,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
  URI: 256,
  CAA: 257,
};

/** Codes of the RCODEs by IANA name (IANA, DNS RCODEs). */
export const RCODES: Readonly<Record<string, number>> = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  YXRRSET: 7,
  NXRRSET: 8,
  NOTAUTH: 9,
  NOTZONE: 10,
  DSOTYPENI: 11,
  BADVERS: 16,
  BADKEY: 17,
  BADTIME: 18,
  BADMODE: 19,
  BADNAME: 20,
  BADALG: 21,
  BADTRUNC: 22,
  BADCOOKIE: 23,
};

const TYPE_NAMES = new Map(Object.entries(TYPES).map(([name, code]) => [code, name]));
const TYPE_CODES = new Map(Object.entries(TYPES));
const RCODE_NAMES = new Map(Object.entries(RCODES).map(([name, code]) => [code, name]));

/** Code of class IN. */
export const CLASS_IN = 1;
/** Code of the EDNS pseudo record type (RFC 6891). */
export const TYPE_OPT = 41;

/** Returns the mnemonic of a type, or TYPEn if it has none here (RFC 3597 section 5). */
export function typeName(code: number): string {
  return TYPE_NAMES.get(code) ?? `TYPE${code}`;
}

/** Returns the code of a mnemonic or of TYPEn, in any letter case. Null if it is neither. */
export function typeCode(name: string): number | null {
  const upper = name.toUpperCase();
  const known = TYPE_CODES.get(upper);
  if (known !== undefined) return known;
  const digits = /^TYPE(\d{1,5})$/.exec(upper)?.[1];
  return digits === undefined || Number(digits) > 0xffff ? null : Number(digits);
}

/** Returns the IANA name of an RCODE, including extended RCODEs, or RCODEn if it has none. */
export function rcodeName(code: number): string {
  return RCODE_NAMES.get(code) ?? `RCODE${code}`;
}
