import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { waitAtMost } from "#shared/time/time-limit.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { tryCheck } from "#control-plane/checks/run-check.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { probeOf, type ProbedType } from "#control-plane/outages/kinds/kinds.ts";
import { decodeState } from "#control-plane/outages/state/encoding.ts";
import {
  releaseEntries,
  type ClaimedEntry,
  type ReleasedEntry,
} from "#control-plane/watching/checking/schedule/store.ts";
import { createAccountShares } from "#control-plane/watching/checking/watch/account-shares.ts";
import type { ApplyDeps } from "#control-plane/watching/checking/watch/apply-changes.ts";
import { MOST_BUSY, MOST_CLAIMED, startClaimLoop } from "#control-plane/watching/checking/watch/claim-loop.ts";
import { createWatchMetrics, type WatchMetrics } from "#control-plane/watching/checking/watch/metrics.ts";
import { monitorCall } from "#control-plane/watching/checking/watch/monitor-call.ts";
import { judgedFinding, readFinding, NO_AGENT, type Finding } from "#control-plane/watching/checking/watch/observe.ts";
import type { PictureFinding } from "#control-plane/watching/checking/watch/picture-finding.ts";
import { isExtraCheck, latenessMs } from "#control-plane/watching/checking/watch/plan-record.ts";
import { createRecordWithEvents } from "#control-plane/watching/checking/watch/record-events.ts";
import { createRecorder } from "#control-plane/watching/checking/watch/recorder.ts";
import { createWithoutAgent } from "#control-plane/watching/checking/watch/without-agent.ts";
import { createWatchedMonitors } from "#control-plane/watching/checking/watch/watched.ts";
import { openSecrets } from "#control-plane/outages/kinds/secrets.ts";
import { createReleasingMap } from "#control-plane/core/releasing-map.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import type { CheckAnswer } from "#control-plane/checks/answer.ts";
import { createPump } from "#control-plane/core/database/pump.ts";

/** The checks of monitors that this replica runs. */
export interface Watch {
  /** Looks for due checks now: a monitor was created, changed or is to be run. */
  wake(): void;
  /** Returns those among the locations of an account's monitor that have had no connected probe for some time. */
  withoutAgent(accountId: number, locations: readonly string[]): readonly string[];
  /** Claims no more checks, lets running ones finish for `graceMs`, and gives the others back. */
  stop(graceMs: number): Promise<void>;
}

/** The last good checks, with which the evidence of an outage is compared. */
interface BaselinePort {
  /** Reports whether the next check of a schedule entry is to be reported in full. `now` is Unix milliseconds. */
  wants(entry: Pick<ClaimedEntry, "monitorId" | "location">, now: number): boolean;
  /** Takes the full result of a good check. `at` is Unix milliseconds of its beginning. */
  add(check: {
    readonly monitorId: number;
    readonly location: string;
    readonly at: number;
    readonly target: string;
    readonly accountId: number;
    readonly checkType: ProbedType;
    readonly whole: unknown;
  }): void;
}

/** The certificates and registrations that checks depend on. */
interface ExpiryWatch {
  /** Notes the certificate that a check has seen. */
  note(monitorId: number, fingerprint: string): void;
  /** Judges a check of a domain monitor by what the registry said last. */
  judgeDomain(monitorId: number): Promise<Pick<Finding, "verdict" | "fault">>;
}

/** Dependencies of the watch. */
interface WatchDeps extends Pick<App, "sql" | "clock" | "random" | "log" | "timers"> {
  readonly checks: CheckContext;
  readonly registry: Registry;
  /** What records changes of monitors beside their states. */
  readonly recording: ApplyDeps;
  readonly baselines: BaselinePort;
  readonly expiry: ExpiryWatch;
  /** Examines the pictures of visual monitors (picture-finding.ts). */
  readonly pictureFinding: PictureFinding;
  /** Opens the secrets of monitors. */
  readonly encryption: Encryption;
}

/**
 * A running check. Each has its own signal, because adding a listener to a shared signal takes time in proportion to the
 * listeners that it has.
 */
interface RunningCheck {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** Time for observations to be recorded when the replica stops, in milliseconds. Others are checked again. */
const RECORD_MS = 5_000;
/** Longest time that a check waits for a free agent, in milliseconds. With its jitter it is within the grace of leases. */
const WAIT_MS = 4_000;
/** Time after which a check tries again for which every agent of its location was busy, in milliseconds. */
const BUSY_RETRY_MS = 1_000;
/** Time after which a picture is taken again that could not be stored, in milliseconds. */
const PICTURE_RETRY_MS = 10_000;
/**
 * Lateness beyond which a check belongs to a backlog, and the time over which its checks are spread, milliseconds. A check
 * that waits takes room: of the 1,000 that one account gets, a second would leave 1,150 checks/s.
 */
const LATE_MS = 5_000;
const JITTER_MS = 250;

/** Starts to run the checks of monitors. */
export function startWatch(deps: WatchDeps): Watch {
  const { sql, checks, clock, log } = deps;
  const monitors = createWatchedMonitors();
  const withoutAgent = createWithoutAgent({ roster: checks.hub.roster, monitors, clock });
  const running = createReleasingMap<number, RunningCheck>();
  let started = 0;
  const metrics: WatchMetrics = createWatchMetrics(deps.registry, {
    running: () => running.size,
    unrecorded: () => recorder.waiting(),
  });
  const recordWithEvents = createRecordWithEvents({ sql, metrics, ...deps.recording });
  const recorder = createRecorder({ sql, clock, metrics, log, recordWithEvents });
  const shares = createAccountShares(MOST_BUSY, MOST_CLAIMED);
  const postponer = createPostponer(sql, log);
  /** Schedule entries whose checks were cancelled because this replica stops: not more than were running. */
  const abandoned: ClaimedEntry[] = [];

  function postpone(entry: ClaimedEntry, retryAfterMs: number): void {
    metrics.postponed.inc();
    postponer.add(entry, new Date(clock.now().getTime() + retryAfterMs));
  }

  function record(entry: ClaimedEntry, beganAt: number, finding: Finding): void {
    const isExtra = isExtraCheck(entry, beganAt);
    const lagMs = latenessMs(entry, beganAt);
    if (!isExtra) metrics.lag.observe(lagMs / 1_000);
    if (finding.fingerprint !== null) deps.expiry.note(entry.monitorId, finding.fingerprint);
    const { state, stateVersion } = entry;
    const isRecheck = isExtra && !entry.isRequested;
    const absent = withoutAgent.among(entry.accountId, entry.plannedLocations);
    const monitor = monitors.of(entry);
    recorder.add({ entry, monitor, finding, beganAt, lagMs, isRecheck, withoutAgent: absent, state, stateVersion });
  }

  /** Begins late checks at random moments of JITTER_MS, so that many of them do not reach their targets together. */
  async function begin(entry: ClaimedEntry, signal: AbortSignal): Promise<void> {
    if (latenessMs(entry, clock.now().getTime()) > LATE_MS) {
      const [byte = 0] = deps.random.bytes(1);
      await sleep((byte / 255) * JITTER_MS, undefined, { signal }).catch(() => {});
    }
    if (signal.aborted) abandoned.push(entry);
    else await check(entry, signal);
  }

  async function check(entry: ClaimedEntry, signal: AbortSignal): Promise<void> {
    let beganAt = clock.now().getTime();
    const monitor = monitors.of(entry);
    if (probeOf(monitor.checkType).judgedBy === "registry") {
      const { verdict, fault } = await deps.expiry.judgeDomain(entry.monitorId);
      return record(entry, beganAt, judgedFinding(verdict, fault));
    }
    const known = decodeState(entry.state).locations.get(entry.location)?.verdict ?? null;
    const isWhole = known === "up" && deps.baselines.wants(entry, beganAt);
    const { contract, params } = monitorCall(monitor, openSecrets(deps.encryption, entry.secrets), known, isWhole);
    const answer = await tryCheck(checks, {
      contract,
      params,
      accountId: entry.accountId,
      locations: monitors.location(entry.location) ?? [],
      maxLocations: 1,
      signal,
      waitMs: WAIT_MS,
      // What waits for a free agent has not begun.
      onSent: () => (beganAt = clock.now().getTime()),
    });
    if (answer.kind === "postponed") return postpone(entry, answer.retryAfterMs);
    const isLate = latenessMs(entry, clock.now().getTime()) >= entry.intervalSeconds * 1_000;
    if (isProbeBusy(answer) && !isLate) return postpone(entry, BUSY_RETRY_MS);
    const found = readFinding(answer);
    if (found === null) {
      abandoned.push(entry);
      return;
    }
    const finding = await deps.pictureFinding(entry, monitor, { answer, finding: found, beganAt });
    // It is not kept until this replica stops: while pictures cannot be stored, each of their checks ends here.
    if (finding === null) return postponer.add(entry, new Date(clock.now().getTime() + PICTURE_RETRY_MS));
    if (finding.verdict === "up" && finding.whole !== null) {
      const { monitorId, location, accountId, checkType, url: target } = entry;
      deps.baselines.add({ monitorId, location, accountId, checkType, target, at: beganAt, whole: finding.whole });
    }
    record(entry, beganAt, { ...finding, whole: null });
  }

  const loop = startClaimLoop({
    sql,
    clock,
    random: deps.random,
    log,
    timers: deps.timers,
    roster: checks.hub.roster,
    replicaId: checks.hub.replicaId,
    monitors,
    busy: () => running.size + recorder.waiting(),
    fullAccounts: () => shares.full(),
    check(entry) {
      if (!shares.begin(entry.accountId)) return postponer.add(entry, null);
      const stop = new AbortController();
      // After a bug nothing is known about the target. The schedule entry is claimed again when its lease has ended.
      const run = begin(entry, stop.signal).catch((error: unknown) => {
        log.error({ err: error, monitor: entry.monitorId }, "monitors: a check failed unexpectedly");
      });
      started += 1;
      const number = started;
      const ended = run.finally(() => {
        running.delete(number);
        shares.end(entry.accountId);
      });
      running.set(number, { stop, ended });
    },
    recordNoAgent: (entry) => record(entry, clock.now().getTime(), NO_AGENT),
  });

  return {
    wake: () => loop.wake(),
    withoutAgent: (accountId, locations) => withoutAgent.among(accountId, locations),
    async stop(graceMs) {
      await loop.stop();
      const timer = setTimeout(() => {
        for (const one of running.values()) one.stop.abort();
      }, graceMs);
      await Promise.all(Array.from(running.values(), ({ ended }) => ended));
      clearTimeout(timer);
      await waitAtMost(RECORD_MS, recorder.settle(), undefined);
      if (abandoned.length > 0) {
        await releaseEntries(
          sql,
          abandoned.map((entry) => ({ ...entry, dueAt: null })),
        );
      }
    },
  };
}

/** Reports whether a check at one location was not run only because no agent was free, so that it can be tried again. */
function isProbeBusy(answer: CheckAnswer): boolean {
  if (answer.kind !== "multi") return false;
  const [row] = answer.data.locations;
  return row?.status === "failed" && row.error.retry_after_seconds !== undefined;
}

/**
 * Gives schedule entries back whose checks cannot begin now. They keep their planned times, so their checks are late,
 * not lost.
 */
interface Postponer {
  /** Takes a schedule entry. `dueAt`: when it can be claimed again; null: as soon as there is room. */
  add(entry: ClaimedEntry, dueAt: Date | null): void;
}

/** Creates the postponer of one replica. Schedule entries of the same moment share a statement. */
function createPostponer(sql: Sql, log: Logger): Postponer {
  let waiting: ReleasedEntry[] = [];
  const pump = createPump(async () => {
    const released = waiting;
    waiting = [];
    try {
      await releaseEntries(sql, released);
    } catch (error) {
      log.debug(
        { err: error },
        "monitors: postponed checks could not be given back; they follow when their leases end",
      );
    }
  });
  return {
    add({ monitorId, location, lease }, dueAt) {
      waiting.push({ monitorId, location, lease, dueAt });
      pump.wake();
    },
  };
}
