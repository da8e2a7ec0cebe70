import { ok, type Outcome } from "#shared/outcome.ts";
import type { PortRow } from "#shared/tools/ping.ts";
import { usualService } from "#probe-agent/analysis/port-services.ts";
import { toMicroseconds } from "#probe-agent/analysis/statistics.ts";
import type { Net } from "#probe-agent/net/port.ts";
import type { Address } from "#probe-agent/net/port/address.ts";
import { RESERVE_MS, type Part, type PingParams } from "#probe-agent/tools/ping/part.ts";
import { probeFault } from "#probe-agent/tools/ping/probe-fault.ts";

// A SYN lost on the way is sent again after one second and after three.
const MOST_WAIT_MS = 4_000;

/** The state of each port, all at once. Failures are the probe's, stage connect (probeFault), where every port met one. */
export async function checkPorts(net: Net, address: Address, params: PingParams): Promise<Outcome<Part>> {
  const waitMs = Math.max(1, Math.min(MOST_WAIT_MS, net.remainingMs() - RESERVE_MS));
  const ports = await Promise.all(
    (params.ports ?? []).map(async (port): Promise<PortRow> => {
      const { state, rttMs, reason } = await net.tcp.probe(address.ip, port, waitMs);
      const rtt = rttMs === null ? null : toMicroseconds(rttMs);
      const row = { port, state, service: usualService(port), rtt_ms: rtt, reason };
      net.emit({ kind: "port", data: row });
      return row;
    }),
  );
  const faults = ports.map(({ reason }) => probeFault(reason));
  const [fault] = faults;
  if (fault !== null && fault !== undefined && faults.every((each) => each !== null)) return fault;
  return ok({ fields: { ports }, limitations: [] });
}
