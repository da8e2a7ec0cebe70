import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock, Random } from "#shared/clock.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import type { MonitorSecrets, ProbedType } from "#control-plane/monitors/monitor.ts";
import { decodeState } from "#control-plane/monitors/state/encoding.ts";
import { releaseSlots, type ClaimedSlot } from "#control-plane/monitors/schedule/store.ts";
import type { ApplyDeps } from "#control-plane/monitors/watch/apply-changes.ts";
import { startClaimLoop } from "#control-plane/monitors/watch/claim-loop.ts";
import { createWatchMetrics, type WatchMetrics } from "#control-plane/monitors/watch/metrics.ts";
import { monitorCall } from "#control-plane/monitors/watch/monitor-call.ts";
import { judgedFinding, readFinding, UNSERVED, type Finding } from "#control-plane/monitors/watch/observe.ts";
import { isExtraCheck } from "#control-plane/monitors/watch/plan-record.ts";
import type { PictureFinding } from "#control-plane/monitors/watch/picture-finding.ts";
import { createRecordWithEvents } from "#control-plane/monitors/watch/record-events.ts";
import { createRecorder } from "#control-plane/monitors/watch/recorder.ts";
import { createWatchedMonitors } from "#control-plane/monitors/watch/watched.ts";
import { createReleasingMap } from "#control-plane/releasing-map.ts";

/** The checks of monitors that this replica runs. */
export interface Watch {
  /** Looks for due checks now: a monitor was created, changed or is to be run. */
  wake(): void;
  /** Claims no more checks, lets running ones finish for `graceMs`, and gives the others back. */
  stop(graceMs: number): Promise<void>;
}

/** The last good checks, with which the evidence of an outage is compared. */
interface BaselinePort {
  /** Reports whether the next check of a slot is to be reported in full. `now` is Unix milliseconds. */
  wants(slot: Pick<ClaimedSlot, "monitorId" | "location">, now: number): boolean;
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
interface WatchDeps {
  readonly sql: Sql;
  readonly checks: CheckContext;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly registry: Registry;
  /** What records changes of monitors beside their states. */
  readonly recording: ApplyDeps;
  readonly baselines: BaselinePort;
  readonly expiry: ExpiryWatch;
  /** Examines the pictures of visual monitors (picture-finding.ts). */
  readonly pictureFinding: PictureFinding;
  /** Decrypts the secrets of a monitor. */
  readonly openSecrets: (secrets: Uint8Array | null) => MonitorSecrets;
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

/** Starts to run the checks of monitors. */
export function startWatch(deps: WatchDeps): Watch {
  const { sql, checks, clock, log } = deps;
  const monitors = createWatchedMonitors();
  const running = createReleasingMap<number, RunningCheck>();
  let started = 0;
  const metrics: WatchMetrics = createWatchMetrics(deps.registry, {
    running: () => running.size,
    unrecorded: () => recorder.waiting(),
  });
  const recordWithEvents = createRecordWithEvents({ sql, metrics, ...deps.recording });
  const recorder = createRecorder({ sql, clock, metrics, log, recordWithEvents });
  /** Slots whose checks were cancelled because this replica stops. */
  const abandoned: ClaimedSlot[] = [];

  function record(slot: ClaimedSlot, beganAt: number, finding: Finding): void {
    const isExtra = isExtraCheck(slot, beganAt);
    const wantedAt = isExtra && slot.extraAt !== null ? slot.extraAt : slot.plannedAt;
    const lagMs = Math.max(0, beganAt - wantedAt.getTime());
    if (!isExtra) metrics.lag.observe(lagMs / 1_000);
    if (finding.fingerprint !== null) deps.expiry.note(slot.monitorId, finding.fingerprint);
    const { state, stateVersion } = slot;
    const isRecheck = isExtra && !slot.isRequested;
    recorder.add({ slot, monitor: monitors.of(slot), finding, beganAt, lagMs, isRecheck, state, stateVersion });
  }

  async function check(slot: ClaimedSlot, signal: AbortSignal): Promise<void> {
    const beganAt = clock.now().getTime();
    const monitor = monitors.of(slot);
    if (monitor.checkType === "domain") {
      const { verdict, fault } = await deps.expiry.judgeDomain(slot.monitorId);
      return record(slot, beganAt, judgedFinding(verdict, fault));
    }
    const known = decodeState(slot.state).locations.get(slot.location)?.verdict ?? null;
    const isWhole = known === "up" && deps.baselines.wants(slot, beganAt);
    const { contract, params } = monitorCall(monitor, deps.openSecrets(slot.secrets), known, isWhole);
    const answer = await runCheck(checks, {
      contract,
      params,
      accountId: slot.accountId,
      locations: monitors.location(slot.location) ?? [],
      maxLocations: 1,
      pace: "paced",
      signal,
    });
    const found = readFinding(answer);
    const checked = found === null ? null : { answer, finding: found, beganAt };
    const finding = checked === null ? null : await deps.pictureFinding(slot, monitor, checked);
    if (finding === null) {
      abandoned.push(slot);
      return;
    }
    if (finding.verdict === "up" && finding.whole !== null) {
      const { monitorId, location, accountId, checkType, url: target } = slot;
      deps.baselines.add({ monitorId, location, accountId, checkType, target, at: beganAt, whole: finding.whole });
    }
    record(slot, beganAt, { ...finding, whole: null });
  }

  const loop = startClaimLoop({
    sql,
    clock,
    random: deps.random,
    log,
    roster: checks.hub.roster,
    monitors,
    busy: () => running.size + recorder.waiting(),
    check(slot) {
      // After a bug nothing is known about the target. The slot is claimed again when its lease has ended.
      const stop = new AbortController();
      const run = check(slot, stop.signal).catch((error: unknown) => {
        log.error({ err: error, monitor: slot.monitorId }, "monitors: a check failed unexpectedly");
      });
      started += 1;
      const number = started;
      running.set(number, { stop, ended: run.finally(() => running.delete(number)) });
    },
    recordUnserved: (slot) => record(slot, clock.now().getTime(), UNSERVED),
  });

  return {
    wake: () => loop.wake(),
    async stop(graceMs) {
      await loop.stop();
      const timer = setTimeout(() => {
        for (const one of running.values()) one.stop.abort();
      }, graceMs);
      await Promise.all(Array.from(running.values(), ({ ended }) => ended));
      clearTimeout(timer);
      await waitAtMost(RECORD_MS, recorder.settle(), undefined);
      if (abandoned.length > 0) await releaseSlots(sql, abandoned, null);
    },
  };
}
