import type { FastifyRequest } from "fastify";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";
import { Refusal } from "#control-plane/http/errors.ts";

/** Counts a request without a key against the limit of its client address. Throws Refusal if the limit is used up. */
export function takeVisit(visits: AddressLimiter, { clientAddress }: FastifyRequest): void {
  const { ok, retryAfterSeconds } = visits.take(clientAddress);
  if (ok) return;
  throw new Refusal("rate_limit_exceeded", {
    message: `Too many requests from your address. Wait ${retryAfterSeconds} s.`,
    headers: { "retry-after": String(retryAfterSeconds) },
  });
}
