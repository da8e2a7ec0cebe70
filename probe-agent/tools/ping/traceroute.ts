import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import type { HopRow, TraceResult } from "#shared/tools/ping/trace-result.ts";
import {
  hopLoss,
  pathHash,
  findRefusal,
  type EchoEvidence,
  traceFindings,
} from "#probe-agent/tools/ping/trace-findings.ts";
import { hopStatistics, toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Address } from "#probe-agent/port/address.ts";
import type { TraceHop } from "#probe-agent/port/packets.ts";
import { RESERVE_MS } from "#probe-agent/tools/ping/part.ts";
import type { PingResult } from "#shared/tools/ping/contract.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import { addressType } from "#probe-agent/analysis/network/address-type.ts";
import { askCymru } from "#probe-agent/sources/cymru.ts";

// Names and networks are looked up after the trace, because lookups during the trace would turn answers into silence.
const NAMES_MS = 3_000;
const LEAST_TRACE_MS = 2_000;

/** Parameters of a trace, used by ping and traceroute. */
interface TraceParams {
  readonly protocol?: "icmp" | "udp" | "tcp";
  readonly port?: number;
  readonly max_hops: number;
  readonly queries: number;
  /** Payload of icmp and udp probes in bytes. */
  readonly size?: number;
}

/** A trace's part of a result. */
interface Traced {
  readonly fields: TraceResult;
  readonly limitations: readonly string[];
}

const MOST_MS = 2_900;
const LEAST_MS = 300;

/**
 * Traces the route to the address, then looks up its routers. Failures are the probe's, stage request (createTrace).
 */
export async function traceRoute(net: Net, address: Address, params: TraceParams): Promise<Outcome<Traced>> {
  const protocol = params.protocol ?? "icmp";
  const budgetMs = net.remainingMs() - NAMES_MS - RESERVE_MS;
  if (budgetMs < LEAST_TRACE_MS) {
    return failed("dns", "resolver", "timeout", "the name lookup took most of the check's time");
  }
  const run = await net.trace.run(
    {
      ip: address.ip,
      protocol,
      ...(params.port === undefined ? {} : { port: params.port }),
      maxHops: params.max_hops,
      queries: params.queries,
      ...(params.size === undefined ? {} : { size: params.size }),
      budgetMs,
    },
    (hop) => {
      const [loss = null] = hopLoss([hop], false);
      net.emit({ kind: "hop", data: rowOf(hop, NOTHING_KNOWN, loss) });
    },
  );
  if (run.status !== "ok") return run;
  const { hops, reached } = run.data;
  const patience = Math.min(NAMES_MS, net.remainingMs() - RESERVE_MS);
  const [{ names, limitations }, mtu, echoes] = await Promise.all([
    nameHops(net, hops, patience),
    measurePathMtu(net, address, hops, patience),
    reached && hops.some(leavesDoubt) ? echoTarget(net, address, hops.at(-1), patience) : undefined,
  ]);
  const losses = hopLoss(hops, reached, echoes);
  const unreachable = reached ? null : findRefusal(address.version, hops);
  return ok({
    fields: {
      reached,
      protocol,
      hops: hops.map((hop, index) => rowOf(hop, names, losses[index] ?? null)),
      path_hash: pathHash(hops),
      unreachable,
      path_mtu: mtu.path_mtu,
      findings: traceFindings({ unreachable, path_mtu: mtu.path_mtu }),
    },
    limitations: [
      ...limitations,
      ...mtu.limitations,
      ...unknownLoss(hops, losses),
      ...(reached && protocol === "tcp" && losses.at(-1) !== 0 ? [REPEATED_SYN] : []),
    ],
  });
}

/**
 * Reports whether unanswered probes of a hop can mean either loss or a limit on answers that this agent's own probes do
 * not explain.
 */
function leavesDoubt({ evidence: { lost, unclear } }: TraceHop): boolean {
  return lost + unclear > 0;
}

/**
 * Twenty echoes. On a path that loses one packet in seven, only one run in twenty loses none of them. They take about 2
 * s in total.
 */
const ECHOES = { count: 20, intervalMs: 50, size: 32, ttl: 64, timeoutMs: 1_000 } as const;

/**
 * Measures loss with echo requests to the target. Undefined if there is no raw socket, no time, or no answer to any of
 * them.
 */
async function echoTarget(
  net: Net,
  { ip, version }: Address,
  target: TraceHop | undefined,
  patienceMs: number,
): Promise<EchoEvidence | undefined> {
  const { v4, v6 } = net.icmp.available();
  if (!(version === 6 ? v6 : v4) || patienceMs < ECHOES.count * ECHOES.intervalMs + ECHOES.timeoutMs) return undefined;
  const run = await net.icmp.echo({ ip, ...ECHOES }, () => {});
  if (run.status !== "ok") return undefined;
  const answered = new Set(
    run.data.replies.flatMap(({ seq, status }) => (status === "ok" || status === "late" ? [seq] : [])),
  ).size;
  if (answered === 0) return undefined;
  const isTargetLimited = (target?.replies ?? []).some(({ icmpType }) => icmpType !== null && !isEchoReply(icmpType));
  return { sampled: ECHOES.count, lost: Math.max(0, ECHOES.count - answered), isTargetLimited };
}

/** Reports whether an ICMP type is an echo reply (RFC 792 type 0, RFC 4443 type 129). */
function isEchoReply(type: number): boolean {
  return type === 0 || type === 129;
}

const REPEATED_SYN =
  "Loss at the target counts unanswered SYNs. A host or firewall that ignores a repeated SYN of one flow looks the same.";

function unknownLoss(hops: readonly TraceHop[], losses: readonly (number | null)[]): readonly string[] {
  const unknown = hops.flatMap(({ hop }, index) => (losses[index] === null ? [hop] : []));
  if (unknown.length === 0) return [];
  return [
    `Loss at hop ${unknown.join(", ")} is not known: a limit on the router's answers explains the unanswered probes too, ` +
      "and no hop behind it shows which it was.",
  ];
}

function rowOf({ hop, sent, roundTripsMs, replies, evidence }: TraceHop, names: HopNames, loss: number | null): HopRow {
  return {
    hop,
    replies: replies.map(({ ip, rttMs, icmpType, icmpCode, mpls }) => {
      const known = ip === null ? undefined : names.get(ip);
      return {
        ip,
        hostname: known?.hostname ?? null,
        asn: known?.asn ?? null,
        as_name: known?.asName ?? null,
        country: known?.country ?? null,
        rtt_ms: rttMs === null ? null : toMicroseconds(rttMs),
        icmp_type: icmpType,
        icmp_code: icmpCode,
        ...(mpls === undefined ? {} : { mpls: mpls.map((label) => ({ ...label })) }),
      };
    }),
    loss_percent: loss,
    stats: {
      ...hopStatistics(sent, roundTripsMs),
      sampled: evidence.sampled,
      loss_percent: loss,
    },
  };
}

/**
 * Measures the MTU of the traced path, and finds where it narrows. Null, with a reason, if it could not be measured.
 */
async function measurePathMtu(
  net: Net,
  address: Address,
  hops: readonly TraceHop[],
  leftMs: number,
): Promise<Pick<Required<PingResult>, "path_mtu"> & { readonly limitations: readonly string[] }> {
  // If nothing answered, there is no path to measure.
  const answered = hops.some(({ replies }) => replies.some(({ ip }) => ip !== null));
  if (!answered) return { path_mtu: null, limitations: [] };
  if (leftMs < LEAST_MS) return { path_mtu: null, limitations: ["No time was left to measure the path's MTU."] };
  const measured = await net.trace.pathMtu(address.ip, Math.min(MOST_MS, leftMs));
  if (measured.status !== "ok") {
    return {
      path_mtu: null,
      limitations: ["The path's MTU could not be measured: the probe's packets did not leave."],
    };
  }
  const { bytes, limitedBy, blackHole, method } = measured.data;
  const hop = hops.find(({ replies }) => replies.some(({ ip }) => ip === limitedBy))?.hop ?? null;
  return {
    path_mtu: {
      bytes,
      limited_by: limitedBy === null ? null : { hop, ip: limitedBy },
      black_hole: blackHole,
      method,
    },
    limitations:
      bytes === null
        ? ["The path's MTU is not known, because the target does not answer the echoes used to measure it."]
        : [],
  };
}

/** Name and network of an address of the path. A field is null if it is not known. */
interface HopName {
  readonly hostname: string | null;
  readonly asn: number | null;
  readonly asName: string | null;
  readonly country: string | null;
}

/** Names by address. */
type HopNames = ReadonlyMap<string, HopName>;

/** Names before any source was asked. */
const NOTHING_KNOWN: HopNames = new Map();

const MOST_ADDRESSES = 64;
/** Types of addresses that are not announced in global routing. Outside services should not learn about them. */
const INSIDE: ReadonlySet<string> = new Set(["private", "cgnat", "loopback", "link_local", "multicast"]);

/**
 * Looks up the names and networks of all addresses of a path at the same time, within `patienceMs`. Data in the
 * operator's databases is not looked up elsewhere.
 */
export async function nameHops(
  net: Net,
  hops: readonly TraceHop[],
  patienceMs: number,
): Promise<{ readonly names: HopNames; readonly limitations: readonly string[] }> {
  const addresses = [...new Set(hops.flatMap(({ replies }) => replies.flatMap(({ ip }) => ip ?? [])))];
  let unanswered = 0;
  const named = await Promise.all(
    addresses.slice(0, MOST_ADDRESSES).map(async (ip): Promise<[string, HopName]> => {
      const outside = !INSIDE.has(addressType(ip));
      const owner = outside ? (net.data.asn(ip)?.owner ?? null) : null;
      const country = outside ? (net.data.geo(ip)?.place?.country?.code ?? null) : null;
      const isKnown = owner?.asn != null && country !== null;
      const [hostnames, cymru] = await Promise.all([
        waitAtMost(patienceMs, net.dns.reverse(ip), null),
        outside && !isKnown ? waitAtMost(patienceMs, askCymru(net, ip), null) : undefined,
      ]);
      if ((cymru === null || cymru?.answered === false) && owner?.asn == null) unanswered += 1;
      return [
        ip,
        {
          hostname: hostnames?.[0] ?? null,
          asn: cymru?.origin?.asns[0] ?? owner?.asn ?? null,
          asName: cymru?.system?.name ?? owner?.as_name ?? null,
          country: country ?? cymru?.origin?.country ?? cymru?.system?.country ?? null,
        },
      ];
    }),
  );
  const limitations =
    unanswered === 0 ? [] : [`Team Cymru's zones did not answer for ${unanswered} of ${addresses.length} addresses.`];
  return { names: new Map(named), limitations };
}
