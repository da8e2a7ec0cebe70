import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter, type ToolPresentation } from "#shared/tools/define-presenter.ts";
import { tellTrace } from "#shared/tools/ping/trace.ts";
import { counted, milliseconds, percent } from "#shared/presentation/values.ts";
import { ping as contract, type PingResult, type PortRow } from "#shared/tools/ping/contract.ts";

/** ping: the replies as ping(8) prints them with loss and round-trip times, the state of ports, or a route. */
export const ping = definePresenter(contract, (data) => {
  const { host, ip, ports, hops, reached, protocol, unreachable = null, path_mtu: pathMtu = null } = data;
  if (ports !== undefined) return tellPorts(host, ip, ports);
  if (hops !== undefined && reached !== undefined && protocol !== undefined)
    return tellTrace({ host, ip, hops, reached, protocol, unreachable, path_mtu: pathMtu });
  return tellPing(data);
});

function tellPing(data: PingResult): ToolPresentation {
  const { host, ip, port = null, packets_sent: sent = 0, packets_received: received = 0, rtt, replies = [] } = data;
  const loss = data.packet_loss_percent ?? 0;
  const target = port === null ? host : `${host} port ${port}`;
  const verdict = received === 0 ? "bad" : loss > 0 ? "warning" : "good";
  return {
    verdict,
    headline:
      received === 0
        ? `${target} does not answer: ${counted(sent, "packet")} sent, none came back`
        : `${target} answers in ${shown(rtt?.avg_ms) ?? "?"} ms on average, ${percent(loss)} packet loss`,
    facts: existing(
      fact("Packets", `${received} of ${sent} answered`, { tone: verdict }),
      fact("Loss", percent(loss), { tone: verdict }),
      fact("Average", shown(rtt?.avg_ms), { unit: "ms" }),
      fact("Fastest", shown(rtt?.min_ms), { unit: "ms" }),
      fact("Slowest", shown(rtt?.max_ms), { unit: "ms" }),
      fact("Jitter", shown(rtt?.jitter_ms), { unit: "ms" }),
      fact("Address", ip === host ? null : ip),
      fact("Method", port === null ? "ICMP" : `TCP port ${port}`),
    ),
    tables: existing(
      table(
        "Replies",
        ["#Packet", "#Time (ms)", "#TTL", "Status"],
        replies.map((reply) => ({
          cells: [
            reply.seq,
            shown(reply.rtt_ms),
            reply.ttl,
            reply.from ? `${reply.status} from ${reply.from}` : reply.status,
          ],
          tone: reply.status === "ok" ? null : "warning",
        })),
      ),
    ),
  };
}

const PORT_TONES = { open: "good", closed: "neutral", filtered: "warning" } as const;

function tellPorts(host: string, ip: string, ports: readonly PortRow[]): ToolPresentation {
  const open = ports.filter(({ state }) => state === "open");
  return {
    verdict: "neutral",
    headline: `${host}: ${open.length} of ${counted(ports.length, "port")} open`,
    facts: existing(fact("Open", open.map(({ port }) => port).join(", ")), fact("Address", ip === host ? null : ip)),
    tables: existing(
      table(
        "Ports",
        ["#Port", "State", "Service", "#Time (ms)", "Reason"],
        ports.map(({ port, state, service, rtt_ms: rtt, reason }) => ({
          cells: [port, state, service, shown(rtt), reason],
          tone: PORT_TONES[state],
        })),
      ),
    ),
  };
}

function shown(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : milliseconds(ms);
}
