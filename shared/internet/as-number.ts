/** The highest AS number (RFC 6793). */
const MAX_ASN = 4_294_967_295;

/**
 * Parses an AS number: AS64500, 64500, as64500, or two 16-bit halves with the prefix AS, as in AS1.10 (RFC 5396; the
 * URL standard reads 1.10 without it as an IPv4 address). Returns null for anything else.
 */
export function readAsNumber(text: string): number | null {
  const [, plain] = /^(?:as)?0*(\d{1,10})$/i.exec(text) ?? [];
  if (plain !== undefined) return Number(plain) <= MAX_ASN ? Number(plain) : null;
  const [, high, low] = /^as(\d{1,5})\.(\d{1,5})$/i.exec(text) ?? [];
  if (high === undefined || Number(high) > 65_535 || Number(low) > 65_535) return null;
  return Number(high) * 65_536 + Number(low);
}
