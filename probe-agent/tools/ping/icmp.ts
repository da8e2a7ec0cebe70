import { failed, ok, type Outcome } from "#shared/outcome.ts";
import type { PingReply } from "#shared/tools/ping.ts";
import { toMicroseconds } from "#probe-agent/analysis/statistics.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Address } from "#probe-agent/port/address.ts";
import type { EchoReply } from "#probe-agent/port/packets.ts";
import { RESERVE_MS, type Part, type PingParams } from "#probe-agent/tools/ping/part.ts";
import { scheduleEchoes } from "#probe-agent/tools/ping/schedule.ts";
import { summarize } from "#probe-agent/tools/ping/summary.ts";

/** Pings by ICMP echoes. Failures are the probe's. A host that never answers is a result. */
export async function pingByIcmp(net: Net, address: Address, params: PingParams): Promise<Outcome<Part>> {
  const schedule = scheduleEchoes(params.count, params.interval_ms, net.remainingMs() - RESERVE_MS);
  if (schedule === null) return failed("dns", "resolver", "timeout", "the name lookup took all of the check's time");
  const run = await net.icmp.echo(
    {
      ip: address.ip,
      count: schedule.count,
      intervalMs: params.interval_ms,
      size: params.size,
      ttl: params.ttl,
      timeoutMs: schedule.waitMs,
    },
    (reply) => net.emit({ kind: "reply", data: rowOf(reply) }),
  );
  if (run.status !== "ok") return run;
  const limitations = [
    ...schedule.limitations,
    ...(address.version === 6 ? ["Raw IPv6 sockets do not show the hop limit of a reply, so ttl is null."] : []),
  ];
  return ok({
    fields: {
      method: "icmp",
      port: null,
      ...summarize(schedule.count, run.data.replies.map(rowOf)),
      clock_error_ms: toMicroseconds(run.data.clockErrorMs),
    },
    limitations,
  });
}

function rowOf({ seq, rttMs, ttl, status, code, from }: EchoReply): PingReply {
  return {
    seq,
    rtt_ms: rttMs === null ? null : toMicroseconds(rttMs),
    ttl,
    status,
    ...(code === undefined ? {} : { code }),
    ...(from === undefined ? {} : { from }),
  };
}
