import type { PingReply } from "#shared/tools/ping.ts";
import { rttStatistics } from "#probe-agent/analysis/network/statistics.ts";
import type { Part } from "#probe-agent/tools/ping/part.ts";

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
