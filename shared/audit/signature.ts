import { createHash, createHmac } from "node:crypto";
import { toCanonicalJson } from "#shared/json/canonical.ts";

/** Version of the signature's form. */
export const SIGNATURE_VERSION = 1;
/** The only algorithm: HMAC (RFC 2104) with SHA-256. */
export const SIGNATURE_ALGORITHM = "HMAC-SHA256";

/** Signature of an audit export. */
export interface Signature {
  readonly v: typeof SIGNATURE_VERSION;
  readonly alg: typeof SIGNATURE_ALGORITHM;
  /** Names the secret: kidOf. */
  readonly kid: string;
  /** When it was signed, Unix seconds. */
  readonly ts: number;
  /** HMAC in lower-case hex. */
  readonly value: string;
}

/** Returns the name of a secret, which does not reveal it: the first 8 hex digits of its SHA-256. */
export function kidOf(secret: string): string {
  return createHash("sha256").update(secret, "utf8").digest("hex").slice(0, 8);
}

/** Returns the HMAC over `<ts>.<canonical form>`, lower-case hex. Throws TypeError if the payload has no such form. */
export function hmacOf(payload: unknown, secret: string, ts: number): string {
  return createHmac("sha256", Buffer.from(secret, "utf8"))
    .update(`${ts}.${toCanonicalJson(payload)}`)
    .digest("hex");
}

/** Signs a payload. */
export function signPayload(payload: unknown, secret: string, ts: number): Signature {
  const value = hmacOf(payload, secret, ts);
  return { v: SIGNATURE_VERSION, alg: SIGNATURE_ALGORITHM, kid: kidOf(secret), ts, value };
}
