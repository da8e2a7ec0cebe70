import { Type, type Static } from "typebox";
import { defineTool, withDefault, type Params } from "#shared/tools/define.ts";
import { Host, IntegerList, Limitations, Nullable } from "#shared/tools/fields.ts";
import { TRACE_FIELDS, traceRtt } from "#shared/tools/ping/trace-result.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { hostSeenAt } from "#shared/tools/observations.ts";
import { ipVersion, elapsed } from "#shared/tools/shapes.ts";

function words<const W extends string>(values: readonly W[], description: string) {
  return Type.Unsafe<W>({ type: "string", enum: values, description });
}

function integer(minimum: number, maximum: number, description: string) {
  return Type.Integer({ minimum, maximum, description });
}

function milliseconds(description: string) {
  return Nullable(Type.Number({ description: `${description}, milliseconds` }));
}

const PARAMS = {
  host: Host({ description: "Host or IP address" }),
  action: withDefault(words(["ping", "ports", "traceroute"], "Action to perform"), "ping"),
  count: withDefault(integer(1, 10, "ping: echoes to send"), 4),
  ports: Type.Optional(
    IntegerList(
      { minimum: 1, maximum: 65_535 },
      { description: "ports: TCP ports to check, comma-separated, at most 20", maxItems: 20, examples: ["80,443"] },
    ),
  ),
  max_hops: withDefault(integer(1, 30, "traceroute: maximum number of hops"), 30),
  size: withDefault(
    integer(8, 1_400, "ping: ICMP payload, bytes; traceroute: payload of icmp and udp probes, bytes"),
    56,
  ),
  interval_ms: withDefault(integer(100, 1_000, "ping: interval between echoes, milliseconds"), 200),
  ttl: withDefault(integer(1, 255, "ping: TTL or hop limit of the echoes"), 64),
  ip_version: Type.Optional(
    Type.Integer({ minimum: 4, maximum: 6, multipleOf: 2, examples: [4], description: "4 or 6: use this family only" }),
  ),
  protocol: Type.Optional(
    words(
      ["icmp", "tcp", "udp"],
      "ping: icmp (default; TCP if the probe cannot send ICMP) or tcp; traceroute: icmp (default), tcp or udp",
    ),
  ),
  port: Type.Optional(
    integer(1, 65_535, "TCP or UDP port; ping: selects a TCP ping; traceroute: default 33434 for udp, 80 for tcp"),
  ),
  queries: withDefault(integer(1, 5, "traceroute: probes per hop"), 3),
};

const Rtt = Type.Object(
  {
    min_ms: milliseconds("Shortest"),
    avg_ms: milliseconds("Mean"),
    max_ms: milliseconds("Longest"),
    mdev_ms: milliseconds("Standard deviation"),
    p50_ms: milliseconds("Median"),
    p95_ms: milliseconds("95th percentile"),
    jitter_ms: milliseconds("Mean of |difference| of consecutive replies"),
  },
  { description: "ping: round trips of the replies received; null values if there are none" },
);

const Reply = Type.Object({
  seq: Type.Integer({ description: "Number of the echo, from 1" }),
  rtt_ms: milliseconds("Round trip to the target; null if the target itself did not answer"),
  ttl: Nullable(Type.Integer({ description: "TTL of the reply; null for TCP, for IPv6 and without a reply" })),
  status: words(
    ["ok", "timeout", "late", "duplicate", "unreachable", "ttl_exceeded", "corrupt"],
    "ok and late (over 1 s, or 3 times the longest so far) count as received, once per echo",
  ),
  code: Type.Optional(Type.Integer({ description: "ICMP code of an error" })),
  from: Type.Optional(Type.String({ description: "Address that answered, if it was not the target" })),
});
/** Values of a ping's replies. */
export type PingReply = Static<typeof Reply>;

const Port = Type.Object({
  port: Type.Integer({ description: "TCP port" }),
  state: words(["open", "closed", "filtered"], "open: SYN-ACK; closed: RST; filtered: no answer or an ICMP error"),
  service: Nullable(Type.String({ description: "Service registered for the port (IANA); not detected" })),
  rtt_ms: milliseconds("Round trip of the handshake that was answered; null without an answer"),
  reason: Nullable(
    Type.String({ description: "Why the port is filtered: timeout, or an ICMP error by name, e.g. admin_prohibited" }),
  ),
  tries: Type.Integer({
    description: "Handshakes tried, 1 to 4, each with one SYN; only the last one can have an answer",
  }),
});
/** Values of the port rows. */
export type PortRow = Static<typeof Port>;

const RESULT = {
  action: words(["ping", "ports", "traceroute"], "Action performed; fields of the other actions are absent"),
  host: Type.String({ description: "Requested host, lower-case A-labels or an IP literal" }),
  ip: Type.String({ description: "Address used" }),
  ip_version: ipVersion(),
  method: Type.Optional(words(["icmp", "tcp"], "ping: ICMP echoes, or TCP handshakes of one SYN each")),
  port: Type.Optional(Nullable(Type.Integer({ description: "ping: TCP port used; null for ICMP" }))),
  packets_sent: Type.Optional(Type.Integer({ description: "ping: echoes sent" })),
  packets_received: Type.Optional(Type.Integer({ description: "ping: echoes the target answered" })),
  packet_loss_percent: Type.Optional(Type.Number({ description: "ping: echoes without an answer, percent" })),
  rtt: Type.Optional(Rtt),
  replies: Type.Optional(Type.Array(Reply, { description: "ping: replies in order of arrival, then missing ones" })),
  clock_error_ms: Type.Optional(
    Type.Number({
      description: "ping: maximum error of each round trip, from the lag of the measuring process, ms",
    }),
  ),
  ports: Type.Optional(Type.Array(Port, { description: "ports: one row per port, in the requested order" })),
  reached: Type.Optional(TRACE_FIELDS.reached),
  protocol: Type.Optional(TRACE_FIELDS.protocol),
  hops: Type.Optional(TRACE_FIELDS.hops),
  path_hash: Type.Optional(TRACE_FIELDS.path_hash),
  unreachable: Type.Optional(TRACE_FIELDS.unreachable),
  path_mtu: Type.Optional(TRACE_FIELDS.path_mtu),
  findings: Type.Optional(TRACE_FIELDS.findings),
  resolve_ms: Type.Number({ description: "Name lookup, milliseconds; 0 for an address" }),
  elapsed_ms: elapsed(),
  observed_at: Type.String({ description: "When the check began, ISO 8601 UTC" }),
  limitations: Limitations(),
};
const Result = Type.Object(RESULT);
/** Values of the ping tool's result. */
export type PingResult = Static<typeof Result>;

/** Checks reachability and round trips, TCP ports, or the route to a host. */
export const ping = defineTool({
  name: "ping",
  title: "Ping, ports, traceroute",
  summary: "Reachability and round-trip times of a host, the state of TCP ports, or the route to it",
  scope: "ping",
  toolset: "network",
  target: { param: "host", kind: "host", connects: true },
  example: { host: "example.com", count: 4 },
  observes: ({ host, ip }) => hostSeenAt(host, [ip]),
  params: Type.Object(PARAMS),
  result: Result,
  refine,
  needs: ({ action, protocol, ip_version: version }) => [
    ...(action === "traceroute" ? (["traceroute"] as const) : []),
    ...(protocol === "icmp" && version !== undefined ? [version === 4 ? ("icmp4" as const) : ("icmp6" as const)] : []),
  ],
  deadlineMs({ action, count, interval_ms: interval }) {
    if (action === "ping") return count * interval + 3_000;
    return action === "ports" ? 10_000 : 30_000;
  },
  open: { q: "host" },
  across: {
    agreeOn({ packet_loss_percent: loss, ports, reached }: PingResult) {
      return { answers: loss === undefined ? null : loss < 100, ports: ports?.map(({ state }) => state), reached };
    },
    measure({ rtt, hops, reached }: PingResult) {
      if (rtt !== undefined) return { rtt_ms: rtt.avg_ms };
      return hops === undefined ? {} : { rtt_ms: traceRtt({ reached: reached === true, hops }) };
    },
  },
});

function refine({ action, ports, protocol, port }: Params<typeof PARAMS>): FieldProblem | null {
  if (action === "ports" && ports === undefined) {
    return {
      field: "ports",
      reason: "required",
      message: "is required if action is ports: comma-separated TCP ports",
    };
  }
  if (action === "ping" && protocol === "udp") {
    return { field: "protocol", reason: "enum", message: "must be icmp or tcp if action is ping" };
  }
  if (action === "ports") return null;
  if (action === "traceroute") return traceProblem(protocol, port);
  return protocol === "icmp" && port !== undefined ? ICMP_HAS_NO_PORTS : null;
}

const ICMP_HAS_NO_PORTS: FieldProblem = {
  field: "protocol",
  reason: "enum",
  message: "icmp has no ports; remove port, or set protocol to tcp or udp",
};

/** Checks the combination of a trace's protocol and port. Returns null if it is valid. */
export function traceProblem(
  protocol: "icmp" | "udp" | "tcp" | undefined,
  port: number | undefined,
): FieldProblem | null {
  if (port === undefined) return null;
  if (protocol === "icmp") return ICMP_HAS_NO_PORTS;
  if (protocol !== undefined) return null;
  return { field: "protocol", reason: "required", message: "is required with port: tcp or udp" };
}
