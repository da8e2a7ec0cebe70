import { isRawNumber, parseExact } from "#shared/json/exact.ts";
import { signPayload, type Signature } from "#shared/audit/signature.ts";

/** An export with its signature: `data` of the response. */
export interface Envelope {
  readonly data: unknown;
  readonly sig: Signature;
}

/** Signs a payload at a time. */
export function signEnvelope(payload: object, secret: string, at: Date): Envelope {
  const data = toSignable(payload);
  return { data, sig: signPayload(data, secret, Math.floor(at.getTime() / 1_000)) };
}

/**
 * Returns what a value is in JSON, so that the signature covers exactly what is sent. Half of a surrogate pair, which a
 * target can send as an escape in JSON, has no form in UTF-8 (RFC 8785, section 3.2.2.2) and becomes U+FFFD. Numbers
 * above 2^53, and those with more digits than a double has, are texts: readers of RFC 8785 would round them.
 */
export function toSignable(value: unknown): unknown {
  const text = JSON.stringify(value);
  const plain = parseExact(text);
  // JSON.stringify writes only halves of pairs as escapes.
  return text.includes(String.raw`\ud`) || LARGE.test(text) ? repair(plain) : plain;
}

/** Characters of numbers above 2^53. */
const LARGE = /\d{16}|\de\+/;

function repair(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (isRawNumber(value)) return value.rawJSON;
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER ? String(value) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(repair);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), repair(item)]));
}
