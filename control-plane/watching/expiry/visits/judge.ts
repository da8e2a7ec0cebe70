import { findRegistrationFault } from "#shared/monitor-checks/registration.ts";
import { noteOldTls, type CertificateFacts } from "#control-plane/watching/expiry/facts/certificate.ts";
import type { RegistrationFacts } from "#control-plane/watching/expiry/facts/registration.ts";
import type { ExpiryKind } from "#control-plane/outages/kinds/expiring.ts";
import type { Look } from "#control-plane/watching/expiry/visits/look.ts";
import {
  certificateCrossing,
  nextAttempt,
  nextDailyLook,
  nextRetry,
  registrationCrossing,
} from "#control-plane/watching/expiry/visits/timing.ts";

/** A target as it was before a visit. Times are Unix milliseconds. */
export interface TargetBefore {
  readonly kind: ExpiryKind;
  readonly target: string;
  readonly lookAt: number;
  readonly failures: number;
  /** Why the last look told nothing; null: it did. */
  readonly error: string | null;
  /** The same for people; null: it did, or the answer is in doubt. */
  readonly errorMessage: string | null;
  /** Time of the first of the failed looks in a row; null: the last one did not fail. */
  readonly failedSince: number | null;
  /** When the registry first said that the domain has lapsed, if that is not believed yet. */
  readonly doubtedAt: number | null;
  readonly lookedAt: number | null;
  readonly changedAt: number | null;
  readonly certificate: CertificateFacts | null;
  readonly registration: RegistrationFacts | null;
}

/** A target as it is after a visit. */
export interface TargetAfter extends Omit<TargetBefore, "kind" | "target"> {
  /** When notices are decided next; null: never by what is known. */
  readonly noticeAt: number | null;
}

/** What decides whether a look is due. */
type Looked = Pick<TargetBefore, "lookAt" | "lookedAt" | "failures" | "doubtedAt" | "certificate" | "registration">;

/**
 * Reports whether a visit begins with a look: at the daily time, and before a notice, so that nobody is warned of what
 * was renewed since the last look. After a failed look, and while an answer is in doubt, only its own time counts.
 */
export function isLookDue({ lookAt, lookedAt, failures, doubtedAt, ...facts }: Looked, now: number): boolean {
  if (now >= lookAt) return true;
  const crossing = lookedAt === null || failures > 0 || doubtedAt !== null ? null : crossingAfter(facts, lookedAt);
  return crossing !== null && crossing <= now;
}

function crossingAfter(
  { certificate, registration }: Pick<TargetBefore, "certificate" | "registration">,
  time: number,
): number | null {
  if (certificate !== null) return certificateCrossing(certificate, time);
  return registration === null ? null : registrationCrossing(registration, time);
}

/** Error of a registry that suddenly says that a domain has lapsed, until it says so again. */
export const LAPSE_IN_DOUBT = "lapse_in_doubt";
const CONFIRM_MS = 3_600_000;

/**
 * Applies a look to what is known about a target; null: no look was made. Facts stay as they are after a failed look. A
 * registry that suddenly says that a domain has lapsed is asked again an hour later before it is believed.
 */
export function judgeLook(before: TargetBefore, look: Look | null, luck: number, now: number): TargetAfter {
  const made = applyLook(before, look, luck, now);
  return { ...made, noticeAt: crossingAfter(made, now) };
}

function applyLook(before: TargetBefore, look: Look | null, luck: number, now: number): Omit<TargetAfter, "noticeAt"> {
  const { kind, target, ...kept } = before;
  if (look === null || look.kind === "cancelled") return kept;
  if (look.kind === "failed" && look.isUnasked) {
    const failedSince = kept.failedSince ?? now;
    const lookAt = nextAttempt(failedSince, luck, now);
    return { ...kept, error: look.reason, errorMessage: look.message, failedSince, lookAt };
  }
  if (look.kind === "failed") {
    const failures = kept.failures + 1;
    const lookAt = nextRetry(kind, { failures, isLimited: look.isLimited }, luck, now);
    const failedSince = kept.failedSince ?? now;
    return { ...kept, failures, error: look.reason, errorMessage: look.message, failedSince, lookAt };
  }
  const answered = { ...kept, failures: 0, failedSince: null, errorMessage: null };
  if (look.kind === "domain" && isDoubtful(before, look.facts, now)) {
    const doubtedAt = kept.doubtedAt ?? now;
    return { ...answered, error: LAPSE_IN_DOUBT, doubtedAt, lookAt: doubtedAt + CONFIRM_MS };
  }
  const found = { ...answered, error: null, doubtedAt: null, lookedAt: now, lookAt: nextDailyLook(target, now) };
  if (look.kind === "domain") return { ...found, registration: look.facts };
  const isOther = before.certificate !== null && before.certificate.fingerprint !== look.facts.fingerprint;
  const certificate = noteOldTls(look.facts, before.certificate, now);
  return { ...found, certificate, changedAt: isOther ? now : kept.changedAt };
}

/**
 * Reports whether a registry says that a domain has lapsed, though by its answer before the registration should last, and
 * has not said so for long enough. A registration that ends at its known time is not in doubt.
 */
function isDoubtful({ registration, doubtedAt }: TargetBefore, found: RegistrationFacts, now: number): boolean {
  if (registration === null || hasLapsed(registration, now) || !hasLapsed(found, now)) return false;
  return doubtedAt === null || now - doubtedAt < CONFIRM_MS;
}

function hasLapsed(facts: RegistrationFacts, now: number): boolean {
  return findRegistrationFault(facts, new Date(now))?.isLapsed === true;
}
