import { ok, type Outcome } from "#shared/outcome.ts";
import type { PortRow } from "#shared/tools/ping.ts";
import { usualService } from "#probe-agent/analysis/network/port-services.ts";
import { toMicroseconds } from "#probe-agent/analysis/statistics.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Address } from "#probe-agent/port/address.ts";
import { ONE_SYN_MS } from "#probe-agent/port/packets.ts";
import { RESERVE_MS, type Part, type PingParams } from "#probe-agent/tools/ping/part.ts";
import { probeFault } from "#probe-agent/tools/ping/probe-fault.ts";

// On a path that loses 40 % of the packets in the forward direction, one open port in forty loses four SYNs in a row.
const MOST_TRIES = 4;

/**
 * Checks the state of all ports at the same time. A port that does not answer is tried again on a new connection,
 * because a lost SYN does not prove a filter; each time is that of one handshake. If every port met a failure of the
 * probe, the check fails with stage connect (probeFault).
 */
export async function checkPorts(net: Net, address: Address, params: PingParams): Promise<Outcome<Part>> {
  const ports = await Promise.all(
    (params.ports ?? []).map(async (port): Promise<PortRow> => {
      const { state, rttMs, reason, tries } = await tryPort(net, address.ip, port);
      const rtt = rttMs === null ? null : toMicroseconds(rttMs);
      const row = { port, state, service: usualService(port), rtt_ms: rtt, reason, tries };
      net.emit({ kind: "port", data: row });
      return row;
    }),
  );
  const faults = ports.map(({ reason }) => probeFault(reason));
  const [fault] = faults;
  if (fault !== null && fault !== undefined && faults.every((each) => each !== null)) return fault;
  return ok({ fields: { ports }, limitations: ports.some(({ reason }) => reason === "timeout") ? [SILENCE] : [] });
}

const SILENCE =
  `A port is filtered with reason timeout when no handshake was answered within ${ONE_SYN_MS} ms. ` +
  "A path with a longer round trip looks the same: the system would send a second SYN after 1 s.";

type Tried = Awaited<ReturnType<Net["tcp"]["probe"]>> & { readonly tries: number };

async function tryPort(net: Net, ip: string, port: number): Promise<Tried> {
  for (let tries = 1; ; tries += 1) {
    const probed = await net.tcp.probe(ip, port, Math.max(1, net.remainingMs() - RESERVE_MS));
    const isOver = tries === MOST_TRIES || net.remainingMs() - RESERVE_MS < ONE_SYN_MS;
    if (probed.reason !== "timeout" || isOver) return { ...probed, tries };
  }
}
