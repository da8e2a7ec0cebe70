import { findRegistrationFault } from "#shared/monitor-checks/registration.ts";
import type { RegistrationFacts } from "#control-plane/expiry/facts/registration.ts";
import { remember, type Informed, type Memory } from "#control-plane/expiry/notices/memory.ts";
import { daysLeft, thresholdsOf, tightestReached } from "#control-plane/expiry/notices/thresholds.ts";

/** What a monitor is to be informed of. */
export type RegistrationNotice =
  | { readonly type: "domain.expiring"; readonly threshold: number; readonly daysLeft: number }
  | {
      readonly type: "domain.expired";
      readonly daysLeft: number | null;
      /** Why the registration is lost, as a stable word and a sentence. */
      readonly reason: string;
      readonly message: string;
    };

/** Notices, and what to remember with them. */
interface RegistrationDecision {
  readonly notices: readonly RegistrationNotice[];
  readonly memory: Memory;
}

/** An expiry that the registry does not state. */
const UNSTATED = "";
/** An expiry that is this much later is a renewal: registries round differently in RDAP and WHOIS. */
const RENEWED_MS = 2 * 86_400_000;

/**
 * Decides of what a monitor is to be informed about the registration of its domain. A later expiry begins anew; an
 * earlier one does not, because registries make mistakes.
 */
export function decideRegistration(facts: RegistrationFacts, memory: Memory, now: number): RegistrationDecision {
  const entry = entryOf(facts, memory, now);
  const expiresAt = facts.expires === null ? null : Date.parse(facts.expires);
  const left = expiresAt === null ? null : daysLeft(expiresAt, now);
  const fault = findRegistrationFault(facts, new Date(now));
  if (fault?.isLapsed === true) {
    const { reason, message } = fault;
    const notices = entry.expired ? [] : [{ type: "domain.expired", daysLeft: left, reason, message } as const];
    return { notices, memory: remember([], { ...entry, expired: true }) };
  }
  const threshold = expiresAt === null ? null : tightestReached(thresholdsOf(null), expiresAt, now);
  if (threshold === null || left === null || entry.expired || (entry.threshold ?? Infinity) <= threshold) {
    return { notices: [], memory: remember([], entry) };
  }
  const notices = [{ type: "domain.expiring", threshold, daysLeft: left } as const];
  return { notices, memory: remember([], { ...entry, threshold }) };
}

/** Returns the memory of this registration period. */
function entryOf({ expires, registered }: RegistrationFacts, [last]: Memory, now: number): Informed {
  const fresh = { identity: expires ?? UNSTATED, foundAt: now, threshold: null, expired: false };
  if (last === undefined) return fresh;
  const isLater =
    expires !== null &&
    registered !== false &&
    (last.identity === UNSTATED ? last.expired : Date.parse(expires) - Date.parse(last.identity) > RENEWED_MS);
  if (isLater) return fresh;
  return { ...last, foundAt: now, identity: last.identity === UNSTATED ? (expires ?? UNSTATED) : last.identity };
}
