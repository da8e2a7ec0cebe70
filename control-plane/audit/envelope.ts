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
 * target can send as an escape in JSON, has no form in UTF-8 (RFC 8785, section 3.2.2.2) and becomes U+FFFD.
 */
export function toSignable(value: unknown): unknown {
  const text = JSON.stringify(value);
  const plain = JSON.parse(text) as unknown;
  // JSON.stringify writes only halves of pairs as escapes.
  return text.includes(String.raw`\ud`) ? repair(plain) : plain;
}

function repair(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(repair);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), repair(item)]));
}
