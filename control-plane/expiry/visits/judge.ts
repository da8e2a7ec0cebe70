import type { CertificateFacts } from "#control-plane/expiry/facts/certificate.ts";
import type { RegistrationFacts } from "#control-plane/expiry/facts/registration.ts";
import type { ExpiryKind } from "#control-plane/expiry/links/targets.ts";
import type { Look } from "#control-plane/expiry/visits/look.ts";
import {
  certificateCrossing,
  nextDailyLook,
  nextRetry,
  registrationCrossing,
} from "#control-plane/expiry/visits/timing.ts";

/** A target as it was before a visit. Times are Unix milliseconds. */
export interface TargetBefore {
  readonly kind: ExpiryKind;
  readonly target: string;
  readonly lookAt: number;
  readonly failures: number;
  readonly error: string | null;
  readonly lookedAt: number | null;
  readonly changedAt: number | null;
  readonly certificate: CertificateFacts | null;
  readonly registration: RegistrationFacts | null;
}

/** A target as it is after a visit. */
export interface TargetAfter extends Omit<TargetBefore, "kind" | "target"> {
  /** When it is visited next. */
  readonly nextAt: number;
}

/**
 * Reports whether a visit begins with a look: at the daily time, and before a notice, so that nobody is warned of what
 * was renewed since the last look. After a failed look only its own time counts.
 */
export function isLookDue(
  {
    lookAt,
    lookedAt,
    failures,
    ...facts
  }: Pick<TargetBefore, "lookAt" | "lookedAt" | "failures" | "certificate" | "registration">,
  now: number,
): boolean {
  if (now >= lookAt) return true;
  const crossing = lookedAt === null || failures > 0 ? null : crossingAfter(facts, lookedAt);
  return crossing !== null && crossing <= now;
}

function crossingAfter(
  { certificate, registration }: Pick<TargetBefore, "certificate" | "registration">,
  time: number,
): number | null {
  if (certificate !== null) return certificateCrossing(certificate, time);
  return registration === null ? null : registrationCrossing(registration, time);
}

/** Error of a registry that suddenly does not know a domain, until it says so again. */
const UNCONFIRMED = "not_registered_unconfirmed";
const CONFIRM_MS = 3_600_000;

/**
 * Applies a look to what is known about a target; null: no look was due. Facts stay as they are after a failed look. A
 * registry that suddenly does not know a domain is asked again before it is believed.
 */
export function judgeLook(before: TargetBefore, look: Look | null, luck: number, now: number): TargetAfter {
  const made = applyLook(before, look, luck, now);
  return { ...made, nextAt: Math.min(made.lookAt, crossingAfter(made, now) ?? Infinity) };
}

function applyLook(before: TargetBefore, look: Look | null, luck: number, now: number): Omit<TargetAfter, "nextAt"> {
  const { kind, target, ...kept } = before;
  if (look === null || look.kind === "cancelled") return kept;
  if (look.kind === "failed") {
    const failures = kept.failures + 1;
    const lookAt = nextRetry(kind, { failures, isLimited: look.isLimited }, luck, now);
    return { ...kept, failures, error: look.reason, lookAt };
  }
  if (look.kind === "domain" && isDoubtful(before, look.facts, now)) {
    return { ...kept, error: UNCONFIRMED, lookAt: now + CONFIRM_MS };
  }
  const found = { ...kept, failures: 0, error: null, lookedAt: now, lookAt: nextDailyLook(target, now) };
  if (look.kind === "domain") return { ...found, registration: look.facts };
  const isOther = before.certificate !== null && before.certificate.fingerprint !== look.facts.fingerprint;
  return { ...found, certificate: look.facts, changedAt: isOther ? now : kept.changedAt };
}

/** Reports whether a registry denies a registration that should last, for the first time. */
function isDoubtful({ registration, error }: TargetBefore, found: RegistrationFacts, now: number): boolean {
  if (found.registered !== false || error === UNCONFIRMED) return false;
  if (registration === null || registration.registered === false) return false;
  return registration.expires === null || Date.parse(registration.expires) > now;
}
