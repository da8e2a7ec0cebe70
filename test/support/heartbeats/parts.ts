import type { HeartbeatRecord } from "#control-plane/watching/heartbeats/apply-ping.ts";
import type { PingedHeartbeat } from "#control-plane/watching/heartbeats/fold-pings.ts";
import { judgeNext } from "#control-plane/watching/heartbeats/judge.ts";
import type { Ping } from "#control-plane/watching/heartbeats/ping.ts";
import { heartbeatStateSettings } from "#control-plane/watching/heartbeats/state-settings.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import { NEW_STATE } from "#control-plane/outages/state/state.ts";

/** Settings of a heartbeat whose pings come every 10 minutes and can be a minute late. */
export const TEN_MINUTES: HeartbeatSettings = {
  period_seconds: 600,
  grace_seconds: 60,
  cron: null,
  timezone: "UTC",
  methods: "any",
};

/** The record of a heartbeat without pings. */
export const NEW_RECORD: HeartbeatRecord = {
  pingCount: 0,
  lastPingAt: null,
  lastKind: null,
  lastDurationMs: null,
  succeededAt: null,
  openRuns: [],
  deadlineAt: null,
  verdicts: [],
};

/** Makes a ping. */
export function pingOf(kind: Ping["kind"], receivedAt: number, over: Partial<Ping> = {}): Ping {
  return {
    kind,
    receivedAt,
    exitCode: null,
    rid: null,
    method: "GET",
    remoteAddr: "192.0.2.1",
    userAgent: null,
    body: null,
    isBodyTruncated: false,
    ...over,
  };
}

/** Makes the state of a heartbeat follow all verdicts of its pings. */
export function judgeAll(heartbeat: PingedHeartbeat) {
  const { record } = heartbeat;
  let { state } = heartbeat;
  const transitions = record.verdicts.flatMap((verdict) => {
    const judged = judgeNext({ ...heartbeat, record: { ...record, verdicts: [verdict] }, state });
    if (judged === null) return [];
    ({ state } = judged.transition);
    return judged.transition;
  });
  return { heartbeat: { ...heartbeat, record: { ...record, verdicts: [] }, state }, transitions };
}

/** Makes a heartbeat that has no pings yet. */
export function newHeartbeat(
  settings: Partial<HeartbeatSettings> = {},
  { repeatMinutes = null }: { readonly repeatMinutes?: number | null } = {},
): PingedHeartbeat {
  const stateSettings = heartbeatStateSettings({ repeat_minutes: repeatMinutes } as MonitorSettings);
  return { record: NEW_RECORD, settings: { ...TEN_MINUTES, ...settings }, stateSettings, state: NEW_STATE };
}
