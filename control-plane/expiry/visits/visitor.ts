import type { Logger } from "pino";
import type { Clock, Random } from "#shared/clock.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import type { Events } from "#control-plane/events/events.ts";
import type { CertificateFacts } from "#control-plane/expiry/facts/certificate.ts";
import type { RegistrationFacts } from "#control-plane/expiry/facts/registration.ts";
import type { ExpiryKind } from "#control-plane/expiry/links/targets.ts";
import type { ExpiryMetrics } from "#control-plane/expiry/metrics.ts";
import { endQuestion } from "#control-plane/expiry/registries/registries.ts";
import { claimDue, type Claimer } from "#control-plane/expiry/visits/claims/claims.ts";
import type { ClaimedTarget } from "#control-plane/expiry/visits/claims/store.ts";
import { isLookDue } from "#control-plane/expiry/visits/judge.ts";
import { lookAt, type Look } from "#control-plane/expiry/visits/look.ts";
import { settleVisit } from "#control-plane/expiry/visits/settle.ts";
import { dismissTarget, releaseTarget } from "#control-plane/expiry/visits/store.ts";
import { requestChecks } from "#control-plane/checking/schedule/schedule.ts";
import type { AreCovered } from "#control-plane/checking/watch/apply-changes.ts";

/** Visits the targets of one kind when they are due. */
interface Visitor {
  /** Visits all that are due now. Returns when none is left, or those that are left belong to another replica. */
  visitDue(): Promise<void>;
}

/** Dependencies of the visits. */
interface VisitorDeps {
  readonly sql: Sql;
  readonly checks: CheckContext;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly events: Events;
  readonly areCovered: AreCovered;
  readonly metrics: ExpiryMetrics;
  /** Aborted when the replica stops. */
  readonly stopping: AbortSignal;
}

/** Maximum number of visits at the same time; of domains, each belongs to another registry. */
const MOST_AT_ONCE: Readonly<Record<ExpiryKind, number>> = { certificate: 20, domain: 10 };
/** While visits run, others are searched for this often, in milliseconds: a slow one holds up nothing else. */
const SEARCH_MS = 1_000;
/** Visits that end within this time of each other are followed by one search, in milliseconds. */
const TOGETHER_MS = 25;
/** Time until a target without an active monitor is visited again, in milliseconds. */
const UNWATCHED_MS = 86_400_000;
const BYTE = 256;

/** Creates the visitor of a kind. */
export function createVisitor(kind: ExpiryKind, deps: VisitorDeps): Visitor {
  const { sql, checks, clock, random, log, events, areCovered, metrics, stopping } = deps;
  const claimer: Claimer = { kind, sql, clock, random };
  const running = new Set<Promise<void>>();
  const luck = () => (random.bytes(1)[0] ?? 0) / BYTE;

  async function visit(claimed: ClaimedTarget): Promise<void> {
    metrics.lag.observe({ kind }, Math.max(0, clock.now().getTime() - claimed.nextAt.getTime()) / 1_000);
    const look = await lookIfDue(claimed);
    if (look?.kind === "cancelled") return releaseTarget(sql, claimed);
    if (!claimed.isWatched) {
      const nextAt = new Date(clock.now().getTime() + UNWATCHED_MS);
      return transact(sql, (tx) => dismissTarget(tx, claimed, nextAt));
    }
    const settled = await settleVisit({ sql, events, areCovered, luck: luck(), now: clock.now() }, claimed, look);
    if (settled === null) return;
    for (const type of settled.events) metrics.events.inc({ type });
    if (look !== null || settled.events.length > 0) await requestChecks(sql, settled.domainMonitors, clock.now());
  }

  /** Looks at a target if that is due, and ends the claim of its registry in any case. */
  async function lookIfDue(claimed: ClaimedTarget): Promise<Look | null> {
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

  function start(claimed: ClaimedTarget): void {
    const visiting = visit(claimed)
      // The target is visited again when its lease has ended.
      .catch((error: unknown) => {
        log.warn({ err: error, target: claimed.target }, "expiry: a visit failed; it is repeated");
      })
      .finally(() => running.delete(visiting));
    running.add(visiting);
  }

  return {
    async visitDue() {
      for (;;) {
        const most = stopping.aborted ? 0 : MOST_AT_ONCE[kind] - running.size;
        if (most > 0) for (const claimed of await claimDue(claimer, most)) start(claimed);
        if (running.size === 0) return;
        await waitAtMost(SEARCH_MS, Promise.race(running), undefined);
        await waitAtMost(TOGETHER_MS, Promise.all(running), undefined);
      }
    },
  };
}
