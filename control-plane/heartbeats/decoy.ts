import type { HeartbeatRecord } from "#control-plane/heartbeats/apply-ping.ts";
import type { HeartbeatSettings } from "#control-plane/monitors/monitor.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";

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

/** The record of a decoy before each ping: the work is the same, and nothing is kept. */
export const DECOY_RECORD: HeartbeatRecord = {
  pingCount: 0,
  lastPingAt: null,
  lastKind: null,
  lastDurationMs: null,
  succeededAt: null,
  openRuns: [],
  deadlineAt: null,
};
