import { DECOY_ROW, decoyOf, type Decoy } from "#control-plane/watching/heartbeats/decoy.ts";
import { dueAfterSuccess, nextDue } from "#control-plane/watching/heartbeats/deadline.ts";
import { foldPings, type PingedHeartbeat } from "#control-plane/watching/heartbeats/fold-pings.ts";
import type { Ping } from "#control-plane/watching/heartbeats/ping.ts";
import type { PingedToken, WaitingPing } from "#control-plane/watching/heartbeats/pings/queue.ts";
import type { FoundHeartbeat, WrittenPings } from "#control-plane/watching/heartbeats/pings/store.ts";
import { readRecord } from "#control-plane/watching/heartbeats/rows.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import { heartbeatStateSettings } from "#control-plane/watching/heartbeats/state-settings.ts";
import { isToken } from "#control-plane/watching/heartbeats/token.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";
import { decodeState } from "#control-plane/outages/state/encoding.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

/** How a ping is answered. */
interface PingAnswer {
  /** Unix milliseconds. */
  readonly nextExpected: number;
  /** Whether it belongs to a heartbeat. */
  readonly isCounted: boolean;
}

/** Pings to one address, with what is written for them. */
export interface PlannedPings {
  readonly pinged: PingedToken;
  /** The account of the heartbeat; null: the address is unknown. */
  readonly accountId: number | null;
  /** How each of the taken pings is answered. */
  readonly answers: readonly PingAnswer[];
  /** null: none of them counts. */
  readonly write: WrittenPings | null;
  readonly decoy: Decoy;
  /** Those that do not count, which the decoy records. */
  readonly uncounted: readonly Ping[];
}

/** Plans what is recorded of the waiting pings to one address; `found` is null if the address is unknown. */
export function planPings(
  encryption: Pick<Encryption, "digest">,
  pinged: PingedToken,
  found: FoundHeartbeat | null,
): PlannedPings {
  const decoy = decoyOf(encryption, pinged.token);
  const heartbeat = found === null || !found.isActive || !isToken(pinged.token) ? null : openFound(found);
  const counted = heartbeat === null ? [] : countedPings(pinged.taken, heartbeat.settings);
  const answers = pinged.taken.map((waiting) => answerOf(waiting, heartbeat, decoy));
  const uncounted = pinged.taken.filter((waiting) => !counted.includes(waiting)).map(({ ping }) => ping);
  const shared = { pinged, accountId: found?.accountId ?? null, answers, decoy, uncounted };
  if (heartbeat === null || found === null || counted.length === 0) {
    return { ...shared, write: null };
  }
  const { record, stored } = foldPings(
    heartbeat,
    counted.map(({ ping }) => ping),
  );
  return { ...shared, write: { id: found.monitorId, version: found.version, record, pings: stored } };
}

/** Lists the pings that count: by a method that the heartbeat accepts. */
export function countedPings(
  pings: readonly WaitingPing[],
  { methods }: Pick<HeartbeatSettings, "methods">,
): readonly WaitingPing[] {
  return pings.filter(({ ping }) => methods === "any" || ping.method === "POST");
}

function openFound(found: typeof DECOY_ROW): PingedHeartbeat | null {
  const all = readStoredSettings(found.settings);
  if (all.heartbeat === null) return null;
  return {
    record: readRecord(found),
    settings: all.heartbeat,
    stateSettings: heartbeatStateSettings(all),
    state: decodeState(found.state),
  };
}

function answerOf({ ping }: WaitingPing, heartbeat: PingedHeartbeat | null, decoy: Decoy): PingAnswer {
  const isKnown = heartbeat !== null;
  const isSuccess = ping.kind === "success" || ping.exitCode === 0;
  const due = isSuccess ? dueAfterSuccess : nextDue;
  const nextExpected = due(isKnown ? heartbeat.settings : decoy.settings, ping.receivedAt);
  return { nextExpected, isCounted: isKnown };
}

/** Returns what decoys record in place of heartbeats: the same rows, without content. */
export function toDecoys(planned: readonly PlannedPings[]): readonly WrittenPings[] {
  const byId = new Map<number, Ping[]>();
  for (const { decoy, uncounted } of planned) {
    if (uncounted.length > 0) byId.set(decoy.id, [...(byId.get(decoy.id) ?? []), ...uncounted.map(withoutContent)]);
  }
  return Array.from(byId, ([id, pings]) => {
    const heartbeat = openFound(DECOY_ROW);
    if (heartbeat === null) throw new Error("a decoy is no heartbeat");
    const { record, stored } = foldPings(heartbeat, pings);
    return { id, version: 0, record: { ...record, openRuns: [], verdicts: [] }, pings: stored };
  });
}

/** Returns a ping of the same size with nothing of what a client sent. */
function withoutContent(ping: Ping): Ping {
  const blank = (text: string | null): string | null => (text === null ? null : " ".repeat(text.length));
  return { ...ping, rid: blank(ping.rid), remoteAddr: "", userAgent: blank(ping.userAgent), body: blank(ping.body) };
}
