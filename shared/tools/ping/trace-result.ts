import { Type, type Static } from "typebox";
import { findings } from "#shared/tools/shapes.ts";
import { Nullable } from "#shared/tools/fields.ts";

const Label = Type.Object(
  {
    label: Type.Integer({ description: "Label, 0 to 1048575" }),
    exp: Type.Integer({ description: "Traffic class, 0 to 7" }),
    s: Type.Boolean({ description: "Whether this is the bottom of the stack" }),
    ttl: Type.Integer({ description: "TTL of the entry" }),
  },
  { description: "One entry of an MPLS label stack (RFC 3032)" },
);

const Reply = Type.Object({
  ip: Nullable(Type.String({ description: "Address that answered; null without an answer" })),
  hostname: Nullable(Type.String({ description: "PTR name of that address" })),
  asn: Nullable(Type.Integer({ description: "Autonomous system that announces the address" })),
  as_name: Nullable(Type.String({ description: "Short name of that system" })),
  country: Nullable(
    Type.String({
      description:
        "Country of the address in the operator's database, else country in which its block is registered, ISO 3166-1 alpha-2",
    }),
  ),
  rtt_ms: Nullable(Type.Number({ description: "Round trip to the hop, milliseconds" })),
  icmp_type: Nullable(
    Type.Integer({ description: "ICMP type of the answer; null for a TCP answer and without an answer" }),
  ),
  icmp_code: Nullable(
    Type.Integer({ description: "ICMP code of the answer; null for a TCP answer and without an answer" }),
  ),
  mpls: Type.Optional(
    Type.Array(Label, { description: "MPLS labels of the probe at this hop, if the router reports them (RFC 4950)" }),
  ),
});

function milliseconds(description: string) {
  return Nullable(Type.Number({ description: `${description}, milliseconds; null without an answer` }));
}

const Statistics = Type.Object(
  {
    sent: Type.Integer({
      description: "Probes sent to this hop, including repeated ones and those that reached the target",
    }),
    received: Type.Integer({ description: "Answers to them" }),
    sampled: Type.Integer({
      description:
        "Probes that loss_percent is computed from: unanswered ones that a limit of one answer per second explains are excluded",
    }),
    loss_percent: Nullable(
      Type.Number({ description: "The hop's loss_percent; probes that a later hop did not answer are not lost here" }),
    ),
    best_ms: milliseconds("Shortest round trip"),
    avg_ms: milliseconds("Mean round trip"),
    worst_ms: milliseconds("Longest round trip"),
    stdev_ms: milliseconds("Standard deviation"),
    jitter_ms: milliseconds("Mean of |difference| of consecutive answers"),
  },
  { description: "Statistics of a hop, as mtr shows them" },
);

/** One hop of a trace. */
export const HopRow = Type.Object({
  hop: Type.Integer({ description: "Distance, 1 is the first router" }),
  replies: Type.Array(Reply, {
    description:
      "One per probe sent: a hop that never answers gets three probes; a router that limits its answers gets more",
  }),
  loss_percent: Nullable(
    Type.Number({
      description:
        "Probes lost in either direction, percent; 100 for a hop without answers. A router's own limit on answers does not " +
        "count: an unanswered probe counts as lost if the router had a second since its last answer, and no hop " +
        "shows more loss than the hops behind it have together. null if loss cannot be distinguished from a limit on answers (see limitations)",
    }),
  ),
  stats: Statistics,
});
/** Values of the HopRow schema. */
export type HopRow = Static<typeof HopRow>;

const Unreachable = Type.Object(
  {
    hop: Type.Integer({ description: "Distance of the router, hops" }),
    ip: Type.String({ description: "Address of the router" }),
    icmp_type: Type.Integer({ description: "ICMP type of its answer" }),
    icmp_code: Type.Integer({ description: "ICMP code of its answer" }),
    reason: Type.String({ description: "That code by name, e.g. host_unreachable, admin_prohibited, no_route" }),
  },
  { description: "The router that refused to forward; null if the target was reached or no router refused" },
);

const PathMtu = Type.Object(
  {
    bytes: Nullable(
      Type.Integer({ description: "Largest IP packet that passes unfragmented, bytes; null if unknown" }),
    ),
    limited_by: Nullable(
      Type.Object(
        {
          hop: Nullable(Type.Integer({ description: "Distance of the router, hops; null if it is not in the trace" })),
          ip: Type.String({ description: "Address of the router" }),
        },
        { description: "The router that reported that a larger packet does not fit; null if none did" },
      ),
    ),
    black_hole: Type.Boolean({ description: "Whether larger packets are dropped without an ICMP message" }),
    method: Nullable(
      Type.Unsafe<"interface" | "reported" | "search">({
        type: "string",
        enum: ["interface", "reported", "search"],
        description:
          "interface: every size the probe can send passes; reported: reported by a router and confirmed; search: found by trying sizes",
      }),
    ),
  },
  {
    description:
      "MTU of the path (RFC 1191, RFC 8201), measured with echoes that must not be fragmented; null if not measured",
  },
);

/** Fields of a trace, for the ping and traceroute tools. */
export const TRACE_FIELDS = {
  reached: Type.Boolean({ description: "Whether the target itself answered" }),
  protocol: Type.Unsafe<"icmp" | "udp" | "tcp">({
    type: "string",
    enum: ["icmp", "udp", "tcp"],
    description: "Protocol of the probes; all probes of a trace belong to one flow",
  }),
  hops: Type.Array(HopRow, { description: "Hops from the probe to the target, or to the last one that answered" }),
  path_hash: Type.String({
    description:
      "Hash of the route: first 16 hex digits of SHA-256 over the hops' addresses, one hop per line, * for a hop without answers",
  }),
  unreachable: Nullable(Unreachable),
  path_mtu: Nullable(PathMtu),
  findings: findings(),
} as const;

const TraceSchema = Type.Object(TRACE_FIELDS);
/** Values of the fields of a trace. */
export type TraceResult = Static<typeof TraceSchema>;

/** Returns the shortest round trip to the target itself, milliseconds; null if it was not reached. */
export function traceRtt({ reached, hops }: Pick<TraceResult, "reached" | "hops">): number | null {
  const last = reached ? (hops.at(-1)?.replies.flatMap((reply) => reply.rtt_ms ?? []) ?? []) : [];
  return last.length === 0 ? null : Math.min(...last);
}
