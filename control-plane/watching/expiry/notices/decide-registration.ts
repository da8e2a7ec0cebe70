import { findRegistrationFault } from "#shared/monitor-checks/registration.ts";
import type { RegistrationFacts } from "#control-plane/watching/expiry/observed/registration.ts";
import { remember, type Informed, type Memory } from "#control-plane/watching/expiry/notices/memory.ts";
import { daysLeft, thresholdsOf, tightestReached } from "#control-plane/watching/expiry/notices/thresholds.ts";

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
/** Registries round differently in RDAP and WHOIS: only an expiry that differs by more is another one. */
const OTHER_MS = 2 * 86_400_000;
/** After this time the latest expiry counts no more if only earlier ones were stated since. */
const FORGET_MS = 30 * 86_400_000;

/**
 * Decides of what a monitor is to be informed about the registration of its domain. A later expiry begins anew.
 * Registries make mistakes, which must neither repeat notices nor suppress all later ones:
 *
 * 1. An earlier expiry does not begin anew, and the later one is kept to compare with, but only for FORGET_MS. Otherwise
 *    no renewal would be later than one date far in the future.
 * 2. If a domain has not lapsed after all, the next lapse is noticed again, and so are the thresholds ahead. Those that
 *    were noticed before are not repeated.
 */
export function decideRegistration(facts: RegistrationFacts, memory: Memory, now: number): RegistrationDecision {
  const fault = findRegistrationFault(facts, new Date(now));
  const isLapsed = fault?.isLapsed === true;
  const entry = entryOf(facts, memory, isLapsed, now);
  const expiresAt = facts.expires === null ? null : Date.parse(facts.expires);
  const left = expiresAt === null ? null : daysLeft(expiresAt, now);
  if (isLapsed) {
    const { reason, message } = fault;
    const notices = entry.expired ? [] : [{ type: "domain.expired", daysLeft: left, reason, message } as const];
    return { notices, memory: remember([], { ...entry, expired: true }) };
  }
  const threshold = expiresAt === null ? null : tightestReached(thresholdsOf(null), expiresAt, now);
  if (threshold === null || left === null || (entry.threshold ?? Infinity) <= threshold) {
    return { notices: [], memory: remember([], entry) };
  }
  const notices = [{ type: "domain.expiring", threshold, daysLeft: left } as const];
  return { notices, memory: remember([], { ...entry, threshold }) };
}

/** Returns the memory of this registration period. A lapse that goes on stays the same one, whatever date is stated. */
function entryOf({ expires }: RegistrationFacts, [last]: Memory, isLapsed: boolean, now: number): Informed {
  const fresh = { identity: expires ?? UNSTATED, foundAt: now, threshold: null, expired: false };
  if (last === undefined) return fresh;
  if (last.expired && isLapsed) return { ...last, foundAt: now };
  if (expires === null) return { ...last, foundAt: now, expired: false };
  if (last.identity === UNSTATED) return last.expired ? fresh : { ...last, foundAt: now, identity: expires };
  const laterMs = Date.parse(expires) - Date.parse(last.identity);
  if (laterMs > OTHER_MS) return fresh;
  const isForgotten = laterMs < -OTHER_MS && now - last.foundAt > FORGET_MS;
  if (isForgotten) return { ...last, foundAt: now, identity: expires, expired: false };
  return { ...last, foundAt: laterMs < -OTHER_MS ? last.foundAt : now, expired: false };
}
