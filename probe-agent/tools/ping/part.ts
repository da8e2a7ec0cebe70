import { failed, refused, type Failed, type Refused } from "#shared/contracts/outcome.ts";
import type { ParamsOf } from "#shared/tools/define.ts";
import type { ping, PingReply, PingResult } from "#shared/tools/ping/contract.ts";
import { rttStatistics } from "#probe-agent/analysis/network/statistics.ts";

/** Parsed parameters of the ping tool. */
export type PingParams = ParamsOf<typeof ping>;

/** Fields that one action adds to the result. */
export interface Part {
  readonly fields: Omit<
    PingResult,
    "action" | "host" | "ip" | "ip_version" | "resolve_ms" | "elapsed_ms" | "observed_at" | "limitations"
  >;
  readonly limitations: readonly string[];
}

/** Time of a check kept for sending the answer back, in milliseconds. */
export const RESERVE_MS = 150;

const MESSAGES: ReadonlyMap<string, string> = new Map([
  ["network_unreachable", "this probe has no route to the address"],
  ["not_permitted", "this probe's system forbids the connection"],
  ["out_of_sockets", "this probe has no socket left"],
  ["cancelled", "the check ended before the connection attempt"],
]);

/**
 * Returns the failure (stage connect) for a TCP probe's reason that concerns the probe itself. Null if the reason
 * concerns the target.
 */
export function probeFault(reason: string | null): Failed | Refused | null {
  if (reason === "target_not_allowed") return refused;
  const message = MESSAGES.get(reason ?? "");
  return message === undefined || reason === null ? null : failed("connect", "probe", reason, message);
}

/**
 * Computes counts and statistics of a ping from its reply rows. Only the target's own intact answers count as received.
 */
export function summarize(sent: number, replies: readonly PingReply[]) {
  const received = new Map(
    replies.filter(({ status }) => status === "ok" || status === "late").map(({ seq, rtt_ms: rtt }) => [seq, rtt]),
  );
  const samples = Array.from({ length: sent }, (_, index) => received.get(index + 1) ?? null);
  const { loss_percent: loss, ...rtt } = rttStatistics(samples);
  return {
    packets_sent: sent,
    packets_received: received.size,
    packet_loss_percent: loss,
    rtt,
    replies: [...replies],
  } satisfies Part["fields"];
}

/** Number of echoes that fit, and the wait after the last one in milliseconds. */
interface Schedule {
  readonly count: number;
  readonly waitMs: number;
  readonly limitations: readonly string[];
}

// Long enough for any reply that does not count as lost, short enough not to delay the result for a dead host.
const MOST_WAIT_MS = 2_000;
const LEAST_WAIT_MS = 400;

/** Divides the time of the check that remains after the lookup. Null if not even one echo fits. */
export function scheduleEchoes(count: number, intervalMs: number, leftMs: number): Schedule | null {
  const fitting = Math.floor((leftMs - LEAST_WAIT_MS) / intervalMs) + 1;
  if (fitting < 1) return null;
  const sent = Math.min(count, fitting);
  return {
    count: sent,
    waitMs: Math.min(MOST_WAIT_MS, leftMs - (sent - 1) * intervalMs),
    limitations:
      sent < count
        ? [`The name lookup took so long that only ${sent} of ${count} echoes fit before the deadline.`]
        : [],
  };
}
