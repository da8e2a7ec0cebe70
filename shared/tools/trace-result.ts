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
  ip: Nullable(Type.String({ description: "Who answered; null for silence" })),
  hostname: Nullable(Type.String({ description: "PTR name of that address" })),
  asn: Nullable(Type.Integer({ description: "Autonomous system that announces the address" })),
  as_name: Nullable(Type.String({ description: "Short name of that system" })),
  country: Nullable(
    Type.String({
      description:
        "Country the operator's database puts the address in, else that its block is registered in, ISO 3166-1 alpha-2",
    }),
  ),
  rtt_ms: Nullable(Type.Number({ description: "Round trip to the hop, milliseconds" })),
  icmp_type: Nullable(Type.Integer({ description: "ICMP type of the answer; null for a TCP one and for silence" })),
  icmp_code: Nullable(Type.Integer({ description: "ICMP code of the answer; null for a TCP one and for silence" })),
  mpls: Type.Optional(
    Type.Array(Label, { description: "MPLS labels the probe carried there, where the router tells (RFC 4950)" }),
  ),
});

function milliseconds(description: string) {
  return Nullable(Type.Number({ description: `${description}, milliseconds; null where nothing answered` }));
}

const Statistics = Type.Object(
  {
    sent: Type.Integer({
      description: "Probes sent this far, those a router was asked again with and those that met the target included",
    }),
    received: Type.Integer({ description: "Answers to them" }),
    sampled: Type.Integer({
      description: "Probes that loss_percent rests on: those whose silence no limit of one answer a second explains",
    }),
    loss_percent: Nullable(
      Type.Number({ description: "The hop's loss_percent: what was not answered beyond it is no loss" }),
    ),
    best_ms: milliseconds("Shortest round trip"),
    avg_ms: milliseconds("Mean round trip"),
    worst_ms: milliseconds("Longest round trip"),
    stdev_ms: milliseconds("Standard deviation"),
    jitter_ms: milliseconds("Mean of |difference| of consecutive answers"),
  },
  { description: "What mtr shows of a hop" },
);

/** One hop of a trace. */
export const HopRow = Type.Object({
  hop: Type.Integer({ description: "Distance, 1 is the first router" }),
  replies: Type.Array(Reply, {
    description:
      "One per query, and no more than were sent: a hop that never answers is asked three times; a router that limits its " +
      "answers is asked again",
  }),
  loss_percent: Nullable(
    Type.Number({
      description:
        "Probes lost on the way there and back, percent; 100 for a silent hop. A router's own limit on answers does not " +
        "count: an unanswered probe is lost where the router had a second's time since its last answer, and no hop " +
        "shows more than those behind it lose together. null where loss cannot be distinguished from a limit on answers (limitations)",
    }),
  ),
  stats: Statistics,
});
/** Values of the HopRow schema. */
export type HopRow = Static<typeof HopRow>;

const Unreachable = Type.Object(
  {
    hop: Type.Integer({ description: "Its distance" }),
    ip: Type.String({ description: "Its address" }),
    icmp_type: Type.Integer({ description: "ICMP type of its answer" }),
    icmp_code: Type.Integer({ description: "ICMP code of its answer" }),
    reason: Type.String({ description: "That code by name, e.g. host_unreachable, admin_prohibited, no_route" }),
  },
  { description: "The router that refused to go on; null where the target was reached or nobody refused" },
);

const PathMtu = Type.Object(
  {
    bytes: Nullable(
      Type.Integer({ description: "Largest IP packet that passes unfragmented, bytes; null where not known" }),
    ),
    limited_by: Nullable(
      Type.Object(
        {
          hop: Nullable(Type.Integer({ description: "Its distance; null where the trace did not show it" })),
          ip: Type.String({ description: "Its address" }),
        },
        { description: "The router that said a larger packet does not fit; null where none did" },
      ),
    ),
    black_hole: Type.Boolean({ description: "Larger packets vanish and nobody says so" }),
    method: Nullable(
      Type.Unsafe<"interface" | "reported" | "search">({
        type: "string",
        enum: ["interface", "reported", "search"],
        description:
          "interface: all the probe can send passes; reported: a router's word, confirmed; search: by trying",
      }),
    ),
  },
  { description: "MTU of the path (RFC 1191, RFC 8201), by echoes nobody may fragment; null where not measured" },
);

/** What a trace shows, for the ping and traceroute tools. */
export const TRACE_FIELDS = {
  reached: Type.Boolean({ description: "Whether the target itself answered" }),
  protocol: Type.Unsafe<"icmp" | "udp" | "tcp">({
    type: "string",
    enum: ["icmp", "udp", "tcp"],
    description: "What the probes were; all of one trace are one flow",
  }),
  hops: Type.Array(HopRow, { description: "From the probe to the target, or as far as anything answered" }),
  path_hash: Type.String({
    description:
      "Name of the route: first 16 hex digits of SHA-256 over the hops' addresses, one hop a line, * for silence",
  }),
  unreachable: Nullable(Unreachable),
  path_mtu: Nullable(PathMtu),
  findings: findings(),
} as const;

const TraceSchema = Type.Object(TRACE_FIELDS);
/** Values of the fields of a trace. */
export type TraceResult = Static<typeof TraceSchema>;

/** The shortest round trip to the target itself, milliseconds; null where it was not reached. */
export function traceRtt({ reached, hops }: Pick<TraceResult, "reached" | "hops">): number | null {
  const last = reached ? (hops.at(-1)?.replies.flatMap((reply) => reply.rtt_ms ?? []) ?? []) : [];
  return last.length === 0 ? null : Math.min(...last);
}
