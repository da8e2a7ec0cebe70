import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock, Random } from "#shared/time/clock.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { startUpkeep } from "#control-plane/core/database/upkeep.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { eraseTargets, linkMonitors } from "#control-plane/watching/expiry/links/links.ts";
import { createExpiryMetrics } from "#control-plane/watching/expiry/metrics.ts";
import { createReports } from "#control-plane/watching/expiry/reports.ts";
import { startVisitor } from "#control-plane/watching/expiry/visits/visitor.ts";
import { judgeDomain } from "#control-plane/watching/expiry/shown/domain-check.ts";
import type { Teardown } from "#control-plane/core/teardown.ts";

/** The watch over certificates and registrations, at one replica. */
interface Expiry {
  /** Notes the fingerprint that a check of a monitor has seen: another certificate is looked at at once. */
  note(monitorId: number, fingerprint: string): void;
  /** Judges a check of a domain monitor by what the registry said last. */
  judgeDomain(monitorId: number): ReturnType<typeof judgeDomain>;
  /** Does everything that is due now. The timers call it, too. */
  round(): Promise<void>;
  /** Starts no further looks, and gives back those that are running. */
  stop(): Promise<void>;
}

/** Dependencies of the watch. */
interface ExpiryDeps {
  readonly sql: Sql;
  readonly checks: CheckContext;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: Registry;
  readonly events: Events;
  /** Milliseconds between two searches for what is due. Default: 1,000. */
  readonly everyMs?: number;
}

const EVERY_MS = 1_000;
/** Time for running looks to be given back when the replica stops, in milliseconds. */
const STOP_MS = 5_000;

/** Opens the watch over certificates and registrations. What is known only for an account ends with it. */
export function openExpiry(deps: ExpiryDeps & { readonly accounts: Accounts }, teardown: Teardown): Expiry {
  const expiry = startExpiry(deps);
  teardown.push(() => expiry.stop());
  deps.accounts.onErase((tx, accountId) => eraseTargets(tx, accountId));
  return expiry;
}

/** Starts the watch. The parts have a timer each, so that a slow registry holds up nothing else. */
export function startExpiry(deps: ExpiryDeps): Expiry {
  const { sql, clock, log, everyMs = EVERY_MS } = deps;
  const stopping = new AbortController();
  const visiting = { ...deps, everyMs, metrics: createExpiryMetrics(deps.registry) };
  const visitors = [startVisitor("certificate", visiting), startVisitor("domain", visiting)];
  const reports = createReports(sql, clock);
  const isStopped = () => stopping.signal.aborted;
  const running = new Set<Promise<void>>();

  async function run(work: () => Promise<void>): Promise<void> {
    const promise = work();
    running.add(promise);
    await promise.finally(() => running.delete(promise));
  }

  const parts = [() => linkMonitors(sql, deps.checks, () => clock.now(), isStopped), () => reports.flush()];
  const upkeep = parts.map((part) =>
    startUpkeep({
      everyMs,
      round: () => run(part),
      name: "expiry: a round",
      log,
    }),
  );
  return {
    note: (monitorId, fingerprint) => reports.note(monitorId, fingerprint),
    judgeDomain: (monitorId) => judgeDomain(sql, monitorId, clock.now()),
    async round() {
      for (const part of parts) await run(part);
      for (const visitor of visitors) await visitor.drain();
    },
    async stop() {
      stopping.abort();
      for (const one of upkeep) one.stop();
      await Promise.all(visitors.map((visitor) => visitor.stop(0)));
      await waitAtMost(STOP_MS, Promise.allSettled(running), undefined);
    },
  };
}
