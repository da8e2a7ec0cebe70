import type { Clock } from "#shared/time/clock.ts";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";
import { createAddressLimiter } from "#control-plane/http/limits/address.ts";

/** Maximum number of requests for public pages per client address and minute, in all their forms together. */
const PER_MINUTE = 60;

/** Creates the limiter of what anyone can read without a key: status pages, their feeds and badges, shared results. */
export function createVisitLimiter(clock: Clock): AddressLimiter {
  return createAddressLimiter({ clock, limit: PER_MINUTE, windowSeconds: 60 });
}
