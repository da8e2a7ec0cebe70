import type { Clock, Random } from "#shared/clock.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { deadlineOf } from "#control-plane/heartbeats/apply-ping.ts";
import { findCronProblem } from "#control-plane/heartbeats/cron.ts";
import { writeCronLine } from "#control-plane/heartbeats/cron-line.ts";
import { readRecord } from "#control-plane/heartbeats/rows.ts";
import {
  deleteHeartbeat,
  insertHeartbeats,
  lockHeartbeat,
  readHeartbeats,
  readPings,
  updateDeadline,
  updateToken,
  type PingRow,
  type ShownHeartbeat,
} from "#control-plane/heartbeats/store.ts";
import { createToken, openToken } from "#control-plane/heartbeats/token.ts";
import type { HeartbeatSettings } from "#control-plane/kinds/heartbeat.ts";
import type { HeartbeatFacts, HeartbeatPort, ShownPing } from "#control-plane/monitors/heartbeat-port.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";
import { openTimeZone } from "#control-plane/time-zone.ts";

/** Dependencies of heartbeats. */
interface HeartbeatsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly encryption: Encryption;
  /** Address of the service, without a slash at its end. */
  readonly baseUrl: string;
}

/** Creates the addresses, deadlines and views of heartbeats. */
export function createHeartbeats({ clock, random, encryption, baseUrl }: HeartbeatsDeps): HeartbeatPort {
  const newToken = () => createToken(random, encryption);
  return {
    findScheduleProblem: findProblem,
    cronLine: writeCronLine,
    insert: (tx, ids) => insertHeartbeats(tx, ids, ids.map(newToken)),
    remove: deleteHeartbeat,
    rotate: (tx, id) => updateToken(tx, id, newToken()),
    async reschedule(tx, { id, settings }) {
      const row = await lockHeartbeat(tx, id);
      if (row === null || row.deadlineAt === null) return;
      const at = deadlineOf(readRecord(row), settings);
      // A shorter period must not make a heartbeat late that was in time until now.
      const earliest = clock.now().getTime() + settings.grace_seconds * 1_000;
      await updateDeadline(tx, id, at === null ? null : new Date(Math.max(at, earliest)));
    },
    async facts(sql, ids) {
      const rows = await readHeartbeats(sql, ids);
      return new Map(rows.map((row) => [row.monitorId, factsOf(row)] as const));
    },
    pings: async (sql, id) => (await readPings(sql, id)).map(showPing),
  };

  function factsOf(row: ShownHeartbeat): HeartbeatFacts {
    const { openRuns } = readRecord(row);
    const [oldest] = openRuns;
    return {
      url: `${baseUrl}/api/heartbeat/${openToken(encryption, row.tokenSealed)}`,
      lastPingAt: row.lastPingAt,
      lastKind: row.lastKind,
      lastDurationMs: row.lastDurationMs,
      runStartedAt: oldest === undefined ? null : new Date(oldest.startedAt),
      deadlineAt: row.deadlineAt,
    };
  }
}

function findProblem({ cron, timezone }: HeartbeatSettings): FieldProblem | null {
  if (openTimeZone(timezone) === null) {
    const message = "must be the name of a time zone, such as Europe/Berlin";
    return { field: "heartbeat.timezone", reason: "type", message };
  }
  const message = cron === null ? null : findCronProblem(cron);
  return message === null ? null : { field: "heartbeat.cron", reason: "type", message };
}

function showPing(ping: PingRow): ShownPing {
  return {
    received_at: ping.receivedAt.toISOString(),
    kind: ping.kind,
    exit_code: ping.exitCode,
    rid: ping.rid,
    method: ping.method,
    remote_addr: ping.remoteAddr,
    user_agent: ping.userAgent,
    duration_ms: ping.durationMs,
    body: ping.body,
    body_truncated: ping.isBodyTruncated,
  };
}
