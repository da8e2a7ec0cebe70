import { createReader, type Reader } from "#probe-agent/net/tls/reader.ts";
import { SUITES } from "#probe-agent/analysis/tls/ssl/suites.ts";

/** Group or size of the ephemeral key in a ServerKeyExchange. */
interface EphemeralKey {
  /** Number of the named curve; null if there is none. */
  readonly group: number | null;
  /** Size of the Diffie-Hellman prime in bits; null if there is none. */
  readonly primeBits: number | null;
}

const NAMED_CURVE = 3;
const UNKNOWN: EphemeralKey = { group: null, primeBits: null };

/**
 * Parses a ServerKeyExchange of the selected suite (RFC 5246 section 7.4.3, RFC 8422 section 5.4, RFC 4279 section 2).
 */
export function readEphemeralKey(body: Uint8Array, suite: number): EphemeralKey {
  const { kx, auth } = SUITES.get(suite) ?? {};
  const reader = createReader(body);
  if (auth === "PSK") reader.vector(2);
  if (kx === "ECDHE") return { ...UNKNOWN, group: namedCurve(reader) };
  if (kx === "DHE") return { ...UNKNOWN, primeBits: bitLength(reader.vector(2)) };
  return UNKNOWN;
}

function namedCurve(reader: Reader): number | null {
  return reader.number(1) === NAMED_CURVE ? (reader.number(2) ?? null) : null;
}

function bitLength(number: Uint8Array | undefined): number | null {
  const start = number?.findIndex((octet) => octet !== 0) ?? -1;
  if (number === undefined || start < 0) return null;
  return (number.length - start - 1) * 8 + (32 - Math.clz32(number[start] ?? 0));
}
