import { findRegistrationFault } from "#shared/monitor-checks/registration.ts";
import {
  noteOldTls,
  type CertificateFacts,
  sentCertificates,
} from "#control-plane/watching/expiry/observed/certificate.ts";
import type { RegistrationFacts } from "#control-plane/watching/expiry/observed/registration.ts";
import type { ExpiryKind } from "#control-plane/outages/kinds/expiring.ts";
import type { Look } from "#control-plane/watching/expiry/sweep/look.ts";
import { createHash } from "node:crypto";
import { nextCrossing, thresholdsOf } from "#control-plane/watching/expiry/notices/thresholds.ts";

/** A target as it was before a sweep. Times are Unix milliseconds. */
export interface TargetBefore {
  readonly kind: ExpiryKind;
  readonly target: string;
  readonly lookAt: number;
  readonly failures: number;
  /** Why the last look found nothing; null: it succeeded. */
  readonly error: string | null;
  /** The same for people; null: it succeeded, or the answer is in doubt. */
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

/** A target as it is after a sweep. */
export interface TargetAfter extends Omit<TargetBefore, "kind" | "target"> {
  /** When notices are decided next; null: never by what is known. */
  readonly noticeAt: number | null;
}

/** What decides whether a look is due. */
type Looked = Pick<TargetBefore, "lookAt" | "lookedAt" | "failures" | "doubtedAt" | "certificate" | "registration">;

/**
 * Reports whether a sweep begins with a look: at the daily time, and before a notice, so that nobody is warned of what
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

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const PHASE_BYTES = 6;

/**
 * Returns the time of the next daily look, Unix milliseconds: the target's own time of day, at least half a day ahead,
 * so that looks at all targets spread over the day.
 */
function nextDailyLook(target: string, now: number): number {
  const phase = createHash("sha256").update(target).digest().readUIntBE(0, PHASE_BYTES) % DAY_MS;
  const earliest = now + DAY_MS / 2;
  const today = earliest - (earliest % DAY_MS) + phase;
  return today >= earliest ? today : today + DAY_MS;
}

/** The shortest and the longest pause after failed looks, in milliseconds. */
const PAUSES: Readonly<Record<ExpiryKind, readonly [shortest: number, longest: number]>> = {
  certificate: [5 * MINUTE_MS, HOUR_MS],
  domain: [HOUR_MS, DAY_MS],
};
/** The shortest pause of a registry that said it is asked too often. */
const LIMITED_MS = 6 * HOUR_MS;

/**
 * Returns the time of the look after failed ones, Unix milliseconds. The pause doubles with each failure and is up to a
 * fifth longer by `luck`, 0 to 1, so that the targets of one registry do not come back together.
 */
function nextRetry(
  kind: ExpiryKind,
  { failures, isLimited }: { readonly failures: number; readonly isLimited: boolean },
  luck: number,
  now: number,
): number {
  const [shortest, longest] = PAUSES[kind];
  const doubled = Math.min(longest, shortest * 2 ** Math.min(failures - 1, 20));
  return Math.round(now + Math.max(doubled, isLimited ? LIMITED_MS : 0) * (1 + luck / 5));
}

/** The shortest and the longest pause while no probe can look, in milliseconds. */
const UNASKED: readonly [shortest: number, longest: number] = [10_000, 5 * MINUTE_MS];

/**
 * Returns the time of the look after one that no probe could make, Unix milliseconds. A replica that has just started has
 * no probes for some seconds, so the pause is as long as this has lasted, and up to a fifth longer by `luck`, 0 to 1.
 */
function nextAttempt(failedSince: number, luck: number, now: number): number {
  const [shortest, longest] = UNASKED;
  return Math.round(now + Math.min(longest, Math.max(shortest, now - failedSince)) * (1 + luck / 5));
}

/** Returns when the next notice about a certificate of the chain is due, Unix milliseconds; null: none is. */
function certificateCrossing(facts: CertificateFacts, now: number): number | null {
  const crossings = sentCertificates(facts).flatMap(({ notBefore, notAfter }) => {
    const expiresAt = Date.parse(notAfter);
    return nextCrossing(thresholdsOf(expiresAt - Date.parse(notBefore)), expiresAt, now) ?? [];
  });
  return crossings.length === 0 ? null : Math.min(...crossings);
}

/** Returns when the next notice about a registration is due, Unix milliseconds; null: none is. */
function registrationCrossing({ expires }: RegistrationFacts, now: number): number | null {
  return expires === null ? null : nextCrossing(thresholdsOf(null), Date.parse(expires), now);
}
