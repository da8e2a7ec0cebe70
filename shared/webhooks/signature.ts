import { createHmac } from "node:crypto";

const STANDARD_PREFIX = "whsec_";

/** Returns the header X-Service-Signature-V2: HMAC-SHA256 (RFC 2104), keyed with the secret as shown, over `<timestamp>.<body>`. */
export function signV2(secret: string, timestamp: number, body: string | Uint8Array): string {
  return `sha256=${createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")}`;
}

/** Returns the legacy header X-Service-Signature: HMAC-SHA256 over the body alone. */
export function signLegacy(secret: string, body: string | Uint8Array): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/**
 * Returns one entry of the header webhook-signature (Standard Webhooks 1.0.0, "Signature scheme"): HMAC-SHA256 over
 * `<id>.<timestamp>.<body>`. The key is what the base64 part after `whsec_` decodes to, or the bytes of a secret without
 * this prefix. `timestamp`: Unix seconds.
 */
export function signStandard(secret: string, id: string, timestamp: number, body: string | Uint8Array): string {
  const key = secret.startsWith(STANDARD_PREFIX)
    ? Buffer.from(secret.slice(STANDARD_PREFIX.length), "base64")
    : Buffer.from(secret, "utf8");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
}
