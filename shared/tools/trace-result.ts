import { Type, type Static } from "typebox";
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
  country: Nullable(Type.String({ description: "Country the address block is registered in, ISO 3166-1 alpha-2" })),
  rtt_ms: Nullable(Type.Number({ description: "Round trip to the hop, milliseconds" })),
  icmp_type: Nullable(Type.Integer({ description: "ICMP type of the answer; null for a TCP one and for silence" })),
  icmp_code: Nullable(Type.Integer({ description: "ICMP code of the answer; null for a TCP one and for silence" })),
  mpls: Type.Optional(
    Type.Array(Label, { description: "MPLS labels the probe carried there, where the router tells (RFC 4950)" }),
  ),
});

/** One hop of a trace. */
export const HopRow = Type.Object({
  hop: Type.Integer({ description: "Distance, 1 is the first router" }),
  replies: Type.Array(Reply, { description: "One per query; a router that limits its answers is asked again" }),
  loss_percent: Type.Number({
    description: "Queries lost on the way, percent; a router's own rate limit does not count; 100 for a silent hop",
  }),
});
/** Values of the HopRow schema. */
export type HopRow = Static<typeof HopRow>;

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
} as const;
