import type { Registry } from "prom-client";
import type { Clock } from "#shared/time/clock.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { startUpkeep } from "#control-plane/core/database/upkeep.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { eraseTargets, linkMonitors } from "#control-plane/watching/expiry/links/links.ts";
import { createExpiryMetrics } from "#control-plane/watching/expiry/metrics.ts";
import { startExpirySweep } from "#control-plane/watching/expiry/sweep/sweep.ts";
import { judgeDomain } from "#control-plane/watching/expiry/read/domain-check.ts";
import type { Teardown } from "#control-plane/core/teardown.ts";
import { planEarlyLooks, type Report } from "#control-plane/watching/expiry/reports-store.ts";

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

const EVERY_MS = 1_000;
/** Time for running looks to be given back when the replica stops, in milliseconds. */
const STOP_MS = 5_000;

/** Opens the watch over certificates and registrations. What is known only for an account ends with it. */
export function openExpiry(
  deps: Parameters<typeof startExpiry>[0] & { readonly accounts: Accounts },
  teardown: Teardown,
): Expiry {
  const expiry = startExpiry(deps);
  teardown.push(() => expiry.stop());
  deps.accounts.onErase((tx, accountId) => eraseTargets(tx, accountId));
  return expiry;
}

/**
 * Starts the watch. The parts have a timer each, so that a slow registry holds up nothing else. What is due is looked
 * for every `everyMs` milliseconds.
 */
export function startExpiry(
  deps: Pick<App, "sql" | "clock" | "random" | "log" | "timers"> & {
    readonly checks: CheckContext;
    readonly registry: Registry;
    readonly events: Events;
    readonly everyMs?: number;
  },
): Expiry {
  const { sql, clock, log, timers, everyMs = EVERY_MS } = deps;
  const stopping = new AbortController();
  const sweeping = { ...deps, everyMs, metrics: createExpiryMetrics(deps.registry) };
  const sweeps = [startExpirySweep("certificate", sweeping), startExpirySweep("domain", sweeping)];
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
      timers,
    }),
  );
  return {
    note: (monitorId, fingerprint) => reports.note(monitorId, fingerprint),
    judgeDomain: (monitorId) => judgeDomain(sql, monitorId, clock.now()),
    async round() {
      for (const part of parts) await run(part);
      for (const sweep of sweeps) await sweep.drain();
    },
    async stop() {
      stopping.abort();
      for (const one of upkeep) one.stop();
      await Promise.all(sweeps.map((sweep) => sweep.stop(0)));
      await waitAtMost(STOP_MS, Promise.allSettled(running), undefined);
    },
  };
}

/** Fingerprints of certificates that checks have seen. */
interface Reports {
  /** Notes the fingerprint of a check. One that the monitor has seen before costs nothing. */
  note(monitorId: number, fingerprint: string): void;
  /** Plans early looks for what was noted. */
  flush(): Promise<void>;
}

/** A look after another change, or at a known certificate, is at the earliest this long after the last one, milliseconds. */
const PAUSES = { newMs: 10 * 60_000, knownMs: 6 * 3_600_000 };
/** Time after which the same fingerprint of a monitor is reported again, in milliseconds. */
const AGAIN_MS = 3_600_000;
/** Maximum number of fingerprints kept for a monitor, and of monitors. One takes about 300 octets. */
const MOST_OF_ONE = 4;
const MOST_KEPT = 200_000;
/** Maximum number of reports in one statement. Others wait. */
const MOST_AT_ONCE = 1_000;

interface Seen {
  readonly fingerprint: string;
  /** Monotonic milliseconds of the report. */
  readonly at: number;
}

/**
 * Creates the reports of one replica. The first fingerprint that it sees of a monitor is reported too, and each once more
 * if checks still see it some minutes later.
 */
function createReports(sql: Sql, clock: Clock): Reports {
  const seen = new Map<number, { last: string; reported: readonly Seen[]; repeatAt: number | null }>();
  const waiting = new Map<string, Report>();
  return {
    note(monitorId, fingerprint) {
      const known = seen.get(monitorId);
      const now = clock.monotonic();
      if (known?.last === fingerprint) {
        // The look at once can have met a server that still had the certificate before.
        if (known.repeatAt === null || now < known.repeatAt) return;
        known.repeatAt = null;
        waiting.set(`${monitorId} ${fingerprint}`, { monitorId, fingerprint });
        return;
      }
      const before = known?.reported.find((one) => one.fingerprint === fingerprint);
      if (known !== undefined && before !== undefined && now - before.at < AGAIN_MS) {
        known.last = fingerprint;
        return;
      }
      if (seen.size >= MOST_KEPT) seen.clear();
      const others = (known?.reported ?? []).filter((one) => one.fingerprint !== fingerprint);
      const reported = [{ fingerprint, at: now }, ...others].slice(0, MOST_OF_ONE);
      seen.set(monitorId, { last: fingerprint, reported, repeatAt: now + PAUSES.newMs });
      waiting.set(`${monitorId} ${fingerprint}`, { monitorId, fingerprint });
    },
    async flush() {
      while (waiting.size > 0) {
        const batch = [...waiting].slice(0, MOST_AT_ONCE);
        await planEarlyLooks(
          sql,
          batch.map(([, report]) => report),
          clock.now(),
          PAUSES,
        );
        for (const [key] of batch) waiting.delete(key);
      }
    },
  };
}
