import type { Evidence } from "#control-plane/evidence/evidence.ts";
import type { ShownPing } from "#control-plane/monitors/heartbeat-port.ts";

/** Pings that are shown of a heartbeat, and the part of their bodies. */
const MOST_PINGS = 5;
const MOST_PING_BODY = 1_000;

/** Describes the outage of a heartbeat by its newest pings, without any traffic. `newest` has the newest first. */
export function describePings(cause: string, newest: readonly ShownPing[], gatheredAt: Date): Evidence {
  const pings = newest.slice(0, MOST_PINGS);
  const [last] = pings;
  const lastPing = last === undefined ? "No ping was ever received" : `Last ping: ${last.kind} at ${last.received_at}`;
  const lastGood = pings.find(({ kind, exit_code: code }) => kind === "success" || code === 0);
  return {
    gathered_at: gatheredAt.toISOString(),
    failing: null,
    healthy: null,
    dns: null,
    certificate: null,
    changed: [],
    pings: pings.map((ping) => ({
      ...ping,
      body: ping.body === null ? null : ping.body.slice(0, MOST_PING_BODY).toWellFormed(),
      body_truncated: ping.body_truncated || (ping.body?.length ?? 0) > MOST_PING_BODY,
    })),
    summary: [
      cause,
      lastPing,
      lastGood === undefined ? "No success among the newest pings" : `Last success: ${lastGood.received_at}`,
    ],
    truncated: false,
  };
}
