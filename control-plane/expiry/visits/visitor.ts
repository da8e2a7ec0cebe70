import type { Logger } from "pino";
import type { Clock, Random } from "#shared/clock.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import type { Events } from "#control-plane/events/events.ts";
import type { CertificateFacts } from "#control-plane/expiry/facts/certificate.ts";
import type { RegistrationFacts } from "#control-plane/expiry/facts/registration.ts";
import type { ExpiryKind } from "#control-plane/expiry/links/targets.ts";
import type { ExpiryMetrics } from "#control-plane/expiry/metrics.ts";
import { isLookDue } from "#control-plane/expiry/visits/judge.ts";
import { LONGEST_LOOK_MS, lookAt, type Look } from "#control-plane/expiry/visits/look.ts";
import { createRegistries, type Registries } from "#control-plane/expiry/visits/registries.ts";
import { settleVisit } from "#control-plane/expiry/visits/settle.ts";
import { claimTargets, dismissTarget, releaseTarget, type ClaimedTarget } from "#control-plane/expiry/visits/store.ts";
import { requestChecks } from "#control-plane/monitors/schedule/schedule.ts";

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
  readonly metrics: ExpiryMetrics;
  /** Aborted when the replica stops. */
  readonly stopping: AbortSignal;
}

/** Maximum number of visits at the same time: registries are asked little by little. */
const MOST_AT_ONCE: Readonly<Record<ExpiryKind, number>> = { certificate: 20, domain: 2 };
/** Time beyond the longest look after which another replica visits a target, in milliseconds. */
const LEASE_GRACE_MS = 30_000;
/** Time until a target without an active monitor is visited again, in milliseconds. */
const UNWATCHED_MS = 86_400_000;
const LEASE_BYTES = 6;
const BYTE = 256;

/** Creates the visitor of a kind. */
export function createVisitor(kind: ExpiryKind, deps: VisitorDeps): Visitor {
  const { sql, checks, clock, random, log, events, metrics, stopping } = deps;
  const registries = createRegistries(clock);

  async function claim(): Promise<readonly ClaimedTarget[]> {
    return claimTargets(sql, {
      kind,
      now: clock.now(),
      most: MOST_AT_ONCE[kind],
      lease: Buffer.from(random.bytes(LEASE_BYTES)).readUIntBE(0, LEASE_BYTES) + 1,
      leaseMs: LONGEST_LOOK_MS + LEASE_GRACE_MS,
      closed: registries.closed(),
    });
  }

  async function visit(claimed: ClaimedTarget): Promise<void> {
    metrics.lag.observe({ kind }, Math.max(0, clock.now().getTime() - claimed.nextAt.getTime()) / 1_000);
    if (!claimed.isWatched) {
      const nextAt = new Date(clock.now().getTime() + UNWATCHED_MS);
      return transact(sql, (tx) => dismissTarget(tx, claimed, nextAt));
    }
    const look = await lookIfDue(claimed, registries);
    if (look?.kind === "cancelled") return releaseTarget(sql, claimed);
    const luck = (random.bytes(1)[0] ?? 0) / BYTE;
    const settled = await settleVisit({ sql, events, luck, now: clock.now() }, claimed, look);
    if (settled === null) return;
    for (const type of settled.events) metrics.events.inc({ type });
    if (look !== null || settled.events.length > 0) await requestChecks(sql, settled.domainMonitors, clock.now());
  }

  async function lookIfDue(claimed: ClaimedTarget, { note }: Registries): Promise<Look | null> {
    const facts: unknown = claimed.facts === null ? null : JSON.parse(claimed.facts);
    const known = {
      lookAt: claimed.lookAt.getTime(),
      lookedAt: claimed.lookedAt?.getTime() ?? null,
      failures: claimed.failures,
      certificate: kind === "certificate" ? (facts as CertificateFacts | null) : null,
      registration: kind === "domain" ? (facts as RegistrationFacts | null) : null,
    };
    if (!isLookDue(known, clock.now().getTime())) return null;
    const look = await lookAt(checks, claimed, stopping);
    if (look.kind === "cancelled") return look;
    metrics.looks.inc({ kind, outcome: look.kind === "failed" ? "failed" : "found" });
    if (claimed.registry !== null) note(claimed.registry, look.kind === "failed" && look.isLimited);
    return look;
  }

  return {
    async visitDue() {
      while (!stopping.aborted) {
        const due = await claim();
        if (due.length === 0) return;
        const visits = due.map((claimed) =>
          // The target is visited again when its lease has ended.
          visit(claimed).catch((error: unknown) => {
            log.warn({ err: error, target: claimed.target }, "expiry: a visit failed; it is repeated");
          }),
        );
        await Promise.all(visits);
      }
    },
  };
}
