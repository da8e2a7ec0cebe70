import { createHash } from "node:crypto";
import { sentCertificates, type CertificateFacts } from "#control-plane/watching/expiry/facts/certificate.ts";
import type { RegistrationFacts } from "#control-plane/watching/expiry/facts/registration.ts";
import type { ExpiryKind } from "#control-plane/outages/kinds/expiring.ts";
import { nextCrossing, thresholdsOf } from "#control-plane/watching/expiry/notices/thresholds.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const PHASE_BYTES = 6;

/**
 * Returns the time of the next daily look, Unix milliseconds: the target's own time of day, at least half a day ahead,
 * so that looks at all targets spread over the day.
 */
export function nextDailyLook(target: string, now: number): number {
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
export function nextRetry(
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
export function nextAttempt(failedSince: number, luck: number, now: number): number {
  const [shortest, longest] = UNASKED;
  return Math.round(now + Math.min(longest, Math.max(shortest, now - failedSince)) * (1 + luck / 5));
}

/** Returns when the next notice about a certificate of the chain is due, Unix milliseconds; null: none is. */
export function certificateCrossing(facts: CertificateFacts, now: number): number | null {
  const crossings = sentCertificates(facts).flatMap(({ notBefore, notAfter }) => {
    const expiresAt = Date.parse(notAfter);
    return nextCrossing(thresholdsOf(expiresAt - Date.parse(notBefore)), expiresAt, now) ?? [];
  });
  return crossings.length === 0 ? null : Math.min(...crossings);
}

/** Returns when the next notice about a registration is due, Unix milliseconds; null: none is. */
export function registrationCrossing({ expires }: RegistrationFacts, now: number): number | null {
  return expires === null ? null : nextCrossing(thresholdsOf(null), Date.parse(expires), now);
}
