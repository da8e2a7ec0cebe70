import type { CheckContext } from "#control-plane/checks/context.ts";
import type { App } from "#control-plane/core/app.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import type { CertificateFacts } from "#control-plane/watching/expiry/observed/certificate.ts";
import type { RegistrationFacts } from "#control-plane/watching/expiry/observed/registration.ts";
import type { ExpiryKind } from "#control-plane/outages/kinds/expiring.ts";
import type { ExpiryMetrics } from "#control-plane/watching/expiry/metrics.ts";
import { endQuestion } from "#control-plane/watching/expiry/registries.ts";
import {
  type ClaimedTarget,
  claimCertificates,
  claimDomains,
  claimWaiting,
} from "#control-plane/watching/expiry/sweep/claims-store.ts";
import { isLookDue } from "#control-plane/watching/expiry/sweep/judge.ts";
import { lookAt, type Look, LONGEST_LOOK_MS } from "#control-plane/watching/expiry/sweep/look.ts";
import { settleTarget } from "#control-plane/watching/expiry/sweep/settle.ts";
import { dismissTarget, releaseTarget } from "#control-plane/watching/expiry/sweep/store.ts";
import { startClaimedWork, type ClaimedWork } from "#control-plane/checks/jobs/claimed-work.ts";
import { requestChecks } from "#control-plane/watching/checking/schedule/schedule.ts";

/** Maximum number of targets that are swept at the same time; of domains, each belongs to another registry. */
const MOST_AT_ONCE: Readonly<Record<ExpiryKind, number>> = { certificate: 20, domain: 10 };
/** Sweeps that end within this time of each other are followed by one search, in milliseconds. */
const TOGETHER_MS = 25;
/** Time until a target without an active monitor is swept again, in milliseconds. */
const NO_MONITOR_MS = 86_400_000;
const BYTE = 256;
/** Time beyond the longest look after which another replica sweeps a target, in milliseconds. */
const LEASE_GRACE_MS = 30_000;
/** How long a notice waits for the question before it while the registry is paused, in milliseconds. */
const NOTICE_WAIT_MS = 3_600_000;
const LEASE_BYTES = 6;

/**
 * Starts to sweep the targets of a kind when they are due. Replicas share the work. What is due is looked for every
 * `everyMs` milliseconds.
 */
export function startExpirySweep(
  kind: ExpiryKind,
  deps: Pick<App, "sql" | "clock" | "random" | "log" | "timers"> & {
    readonly checks: CheckContext;
    readonly events: Events;
    readonly everyMs: number;
    readonly metrics: ExpiryMetrics;
  },
): ClaimedWork<ClaimedTarget> {
  const { sql, checks, clock, random, log, timers, events, metrics } = deps;
  const luck = () => (random.bytes(1)[0] ?? 0) / BYTE;

  async function sweepTarget(claimed: ClaimedTarget, stopping: AbortSignal): Promise<void> {
    metrics.lag.observe({ kind }, Math.max(0, clock.now().getTime() - claimed.nextAt.getTime()) / 1_000);
    const look = await lookIfDue(claimed, stopping);
    if (look?.kind === "cancelled") return releaseTarget(sql, claimed);
    if (!claimed.isWatched) {
      const nextAt = new Date(clock.now().getTime() + NO_MONITOR_MS);
      return transact(sql, (tx) => dismissTarget(tx, claimed, nextAt));
    }
    const settled = await settleTarget({ sql, events, luck: luck(), now: clock.now() }, claimed, look);
    if (settled === null) return;
    for (const type of settled.events) metrics.events.inc({ type });
    if (look !== null || settled.events.length > 0) await requestChecks(sql, settled.domainMonitors, clock.now());
  }

  /** Looks at a target if that is due, and ends the claim of its registry in any case. */
  async function lookIfDue(claimed: ClaimedTarget, stopping: AbortSignal): Promise<Look | null> {
    let look: Look | null = null;
    try {
      if (!isDue(claimed)) return null;
      look = await lookAt(checks, claimed, stopping);
      if (look.kind === "cancelled") return look;
      metrics.looks.inc({ kind, outcome: look.kind === "failed" ? "failed" : "found" });
      return look;
    } finally {
      await endQuestion({ sql, clock, log, metrics, luck }, claimed, look);
    }
  }

  function isDue({ canLook, isWatched, lookAt: due, lookedAt, doubtedAt, failures, facts }: ClaimedTarget): boolean {
    if (!canLook || !isWatched) return false;
    const found: unknown = facts === null ? null : JSON.parse(facts);
    const known = {
      lookAt: due.getTime(),
      lookedAt: lookedAt?.getTime() ?? null,
      failures,
      doubtedAt: doubtedAt?.getTime() ?? null,
      certificate: kind === "certificate" ? (found as CertificateFacts | null) : null,
      registration: kind === "domain" ? (found as RegistrationFacts | null) : null,
    };
    return isLookDue(known, clock.now().getTime());
  }

  return startClaimedWork({
    name: "expiry: a round",
    log,
    timers,
    most: MOST_AT_ONCE[kind],
    lookMs: deps.everyMs,
    async claim(room) {
      const pieces = room === 0 ? [] : await claimDue(kind, deps, room);
      return { pieces, isMore: pieces.length > 0 };
    },
    work: sweepTarget,
    // The target is swept again when its lease has ended.
    onError: (error, { target }) => log.warn({ err: error, target }, "expiry: a visit failed; it is repeated"),
    together: { pieces: 1, ms: TOGETHER_MS },
  });
}

/** Claims at most so many targets of a kind that are due for a sweep. */
async function claimDue(
  kind: ExpiryKind,
  { sql, clock, random }: Pick<App, "sql" | "clock" | "random">,
  most: number,
): Promise<readonly ClaimedTarget[]> {
  const options = {
    now: clock.now(),
    most,
    lease: Buffer.from(random.bytes(LEASE_BYTES)).readUIntBE(0, LEASE_BYTES) + 1,
    leaseMs: LONGEST_LOOK_MS + LEASE_GRACE_MS,
  };
  if (kind === "certificate") return claimCertificates(sql, options);
  const asked = await claimDomains(sql, options);
  if (asked.length === most) return asked;
  return [...asked, ...(await claimWaiting(sql, { ...options, most: most - asked.length, waitMs: NOTICE_WAIT_MS }))];
}
