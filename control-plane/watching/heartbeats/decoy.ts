import type { RecordRow } from "#control-plane/watching/heartbeats/rows.ts";
import { HEARTBEAT_LOCATION } from "#control-plane/watching/heartbeats/state-settings.ts";
import { type HeartbeatSettings, defaultHeartbeat } from "#control-plane/outages/kinds/heartbeat.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { encodeState } from "#control-plane/outages/state/encoding.ts";
import { NEW_STATE } from "#control-plane/outages/state/state.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

/** Periods that answers to addresses without a heartbeat claim: those that are usual for real ones, in seconds. */
const PERIODS = [60, 300, 600, 900, 1_800, 3_600, 21_600, 43_200, 86_400, 604_800];
/** Number of rows in heartbeat_decoys. */
const DECOYS = 256;
const PURPOSE = "heartbeats.decoy";

/** What takes the place of a heartbeat where there is none. The same token always gets the same. */
export interface Decoy {
  /** Row that its pings write. */
  readonly id: number;
  readonly settings: HeartbeatSettings;
}

/**
 * Returns the decoy of a token. It follows from a keyed hash, so that nobody can tell from the period that an answer
 * claims whether the token exists.
 */
export function decoyOf(encryption: Pick<Encryption, "digest">, token: string): Decoy {
  const digest = Buffer.from(encryption.digest(token, PURPOSE));
  // 32 bits: the first periods are more likely by less than one in 400 million.
  const period = PERIODS[digest.readUInt32BE(0) % PERIODS.length] ?? 60;
  return {
    id: digest.readUInt32BE(4) % DECOYS,
    settings: { period_seconds: period, grace_seconds: 60, cron: null, timezone: "UTC", methods: "any" },
  };
}

/** What is read of a decoy before each ping, as of a heartbeat that is up: the work is the same, and nothing is kept. */
export const DECOY_ROW: RecordRow & { readonly settings: string; readonly state: string } = {
  pingCount: 0,
  lastPingAt: new Date(0),
  lastKind: "success",
  lastDurationMs: null,
  succeededAt: new Date(0),
  openRuns: "[]",
  deadlineAt: new Date(120_000),
  verdicts: "[]",
  judgedNumber: 0,
  settings: JSON.stringify({ ...DEFAULT_SETTINGS, heartbeat: defaultHeartbeat(1) }),
  state: encodeState({
    ...NEW_STATE,
    status: "up",
    lastKnown: "up",
    changedAt: 0,
    knownSince: 0,
    locations: new Map([[HEARTBEAT_LOCATION, { verdict: "up", at: 0, streak: 1, since: 0, fault: null }]]),
  }),
};
