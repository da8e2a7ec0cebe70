import { existing, fact, table } from "#shared/presentation/build.ts";
import type { ToolPresentation } from "#shared/tools/define-presenter.ts";
import { counted, milliseconds, percent } from "#shared/presentation/values.ts";
import { listFirst } from "#shared/text/list.ts";
import { traceRtt, type HopRow, type TraceResult } from "#shared/tools/ping/trace-result.ts";

/** A trace and the host that it leads to. */
type Trace = Omit<TraceResult, "findings" | "path_hash"> & { readonly host: string; readonly ip: string };

/** Routers that are named for one hop; a hop with more balances over them. */
const MOST_ROUTERS = 3;

/** Presents a route as mtr prints it: a line a hop with loss and round-trip times. */
export function tellTrace({
  host,
  ip,
  hops,
  reached,
  protocol,
  unreachable,
  path_mtu: pathMtu,
}: Trace): ToolPresentation {
  const rtt = traceRtt({ reached, hops });
  const verdict = reached ? "good" : "bad";
  const last = hops.findLast(({ stats }) => stats.received > 0);
  return {
    verdict,
    headline: reached
      ? `${host} is ${counted(hops.length, "hop")} away, ${rtt === null ? "?" : milliseconds(rtt)} ms`
      : unreachable === null
        ? `${host} was not reached: ${last === undefined ? "no hop answers" : `no answer after hop ${last.hop}`}`
        : `${host} was not reached: hop ${unreachable.hop}, ${unreachable.ip}, answers ${unreachable.reason}`,
    facts: existing(
      fact("Reached", reached ? "yes" : "no", { tone: verdict }),
      fact("Hops", hops.length),
      fact("Round trip", rtt === null ? null : milliseconds(rtt), { unit: "ms" }),
      fact("Address", ip === host ? null : ip),
      fact("Protocol", protocol.toUpperCase()),
      fact("Path MTU", pathMtu?.bytes, { unit: "bytes" }),
    ),
    tables: existing(
      table(
        "Route",
        ["#Hop", "Host", "Network", "#Loss", "#Sent", "#Average (ms)", "#Best (ms)", "#Worst (ms)"],
        hops.map(describeHop),
      ),
    ),
  };
}

function describeHop({ hop, replies, stats, loss_percent: loss }: HopRow) {
  const routers = new Map(replies.flatMap((reply) => (reply.ip === null ? [] : [[reply.ip, reply] as const])));
  const names = Array.from(routers, ([address, { hostname }]) => (hostname ? `${hostname} (${address})` : address));
  const systems = new Set(
    Array.from(routers.values(), ({ asn, as_name: name }) => (asn === null ? "" : `AS${asn} ${name ?? ""}`.trimEnd())),
  );
  const times = [stats.avg_ms, stats.best_ms, stats.worst_ms].map((ms) => (ms === null ? null : milliseconds(ms)));
  return {
    cells: [
      hop,
      names.length === 0 ? "no answer" : listFirst(names, MOST_ROUTERS),
      Array.from(systems)
        .filter((system) => system !== "")
        .join(", "),
      loss === null ? null : percent(loss),
      stats.sent,
      ...times,
    ],
    tone: loss !== null && loss > 0 && loss < 100 ? ("warning" as const) : null,
  };
}
