import type { FastifyReply } from "fastify";
import type { Plan } from "#control-plane/core/plans.ts";
import type { LimitState } from "#control-plane/http/access/limit-state.ts";
import { DAY_SECONDS, dayEnd, MINUTE_SECONDS, minuteEnd, secondsUntil } from "#control-plane/http/access/windows.ts";

/** Number of requests allowed in each window. */
type Allowance = Pick<Plan, "requestsPerMinute" | "requestsPerDay">;

const policies = new WeakMap<Allowance, string>();

/** Returns RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10): a structured list with one member per window. */
function rateLimitPolicy(plan: Allowance): string {
  let policy = policies.get(plan);
  if (policy === undefined) {
    policy = `"minute";q=${plan.requestsPerMinute};w=${MINUTE_SECONDS}, "day";q=${plan.requestsPerDay};w=${DAY_SECONDS}`;
    policies.set(plan, policy);
  }
  return policy;
}

/**
 * Sets X-RateLimit-* (always for the minute), RateLimit and RateLimit-Policy of a keyed answer, and forbids caching by
 * intermediaries: the answer is private to the caller.
 */
export function setRateHeaders(reply: FastifyReply, plan: Allowance, state: LimitState, nowMs: number): void {
  const reset = minuteEnd(state.minute);
  reply.header("cache-control", "no-store");
  reply.header("x-ratelimit-limit", state.minuteLimit);
  reply.header("x-ratelimit-remaining", state.minuteRemaining);
  reply.header("x-ratelimit-reset", reset);
  reply.header("ratelimit-policy", rateLimitPolicy(plan));
  reply.header(
    "ratelimit",
    `"minute";r=${state.minuteRemaining};t=${secondsUntil(reset, nowMs)}, ` +
      `"day";r=${state.dayRemaining};t=${secondsUntil(dayEnd(state.day), nowMs)}`,
  );
}
