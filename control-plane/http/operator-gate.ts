import { createHash, timingSafeEqual } from "node:crypto";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { bearerToken, type Hook } from "#control-plane/http/gate.ts";

/**
 * Creates the hook of every /api/admin route: it compares the operator token in constant time. The right token is always
 * accepted; otherwise a stranger with the operator's address could lock the operator out. An address with too many
 * failures in this minute gets 429 for wrong tokens.
 */
export function createAdminGate(token: string, failures: AddressLimiter): Hook {
  const expected = sha256(token);
  return (request, _reply, done) => {
    const presented = bearerToken(request);
    if (presented !== null && timingSafeEqual(sha256(presented), expected)) return done();
    const { ok, retryAfterSeconds } = failures.take(request.clientAddress);
    if (!ok) return done(refuse(retryAfterSeconds));
    const headers = { "www-authenticate": "Bearer" };
    if (presented === null) {
      const message = "Send the operator token as Authorization: Bearer <token>.";
      return done(new Refusal("auth_required", { message, headers }));
    }
    done(new Refusal("invalid_api_key", { message: "This is not the operator token.", headers }));
  };
}

function refuse(seconds: number): Refusal {
  return new Refusal("rate_limit_exceeded", {
    message: `Too many attempts without the operator token from your address. Wait ${seconds} s.`,
    headers: { "retry-after": String(seconds) },
  });
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
