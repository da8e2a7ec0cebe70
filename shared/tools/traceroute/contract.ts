import { Type, type Static } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Host, Limitations } from "#shared/tools/fields.ts";
import { ping, traceProblem } from "#shared/tools/ping/contract.ts";
import { number, text, word, elapsed } from "#shared/tools/shapes.ts";
import { TRACE_FIELDS, traceRtt } from "#shared/tools/ping/trace-result.ts";

const { max_hops, queries, ip_version, port } = ping.params.properties;

const Result = Type.Object({
  host: text("Requested host, lower-case A-labels or an IP literal"),
  ip: text("Address of the target"),
  ip_version: ping.result.properties.ip_version,
  ...TRACE_FIELDS,
  resolve_ms: number("Name lookup, milliseconds; 0 for an address"),
  elapsed_ms: elapsed(),
  observed_at: text("When the check began, ISO 8601 UTC"),
  limitations: Limitations(),
});

/** Traces the route to a host, like the ping tool's action of that name. */
export const traceroute = defineTool({
  name: "traceroute",
  title: "Traceroute",
  summary: "The routers on the way to a host, with their names, networks and round-trip times",
  scope: "ping",
  toolset: "network",
  target: { param: "host", kind: "host", connects: true },
  example: { host: "example.com" },
  params: Type.Object({
    host: Host({ description: "Host or IP address" }),
    max_hops,
    protocol: withDefault(word(["icmp", "udp", "tcp"], "Protocol of the probes"), "icmp"),
    port,
    queries,
    ip_version,
  }),
  refine: ({ protocol, port: given }) => traceProblem(protocol, given),
  result: Result,
  needs: () => ["traceroute"],
  deadlineMs: () => 30_000,
  across: {
    agreeOn: ({ reached }: Static<typeof Result>) => reached,
    measure: (data: Static<typeof Result>) => ({ rtt_ms: traceRtt(data) }),
  },
});
