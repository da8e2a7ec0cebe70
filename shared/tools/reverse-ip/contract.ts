import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { IpAddress, Nullable } from "#shared/tools/fields.ts";
import {
  ipVersion,
  count,
  integer,
  list,
  OBSERVED_FIELDS,
  record,
  text,
  texts,
  truth,
  word,
} from "#shared/tools/shapes.ts";

const SOURCES = ["ptr", "observation", "certificate", "provider"] as const;

/** Names that checks of this service have seen at the address; the control plane adds them to the job. */
export const REVERSE_IP_INPUT = Type.Object({
  observations: Type.Array(Type.Object({ host: Type.String(), first_seen: Type.String(), last_seen: Type.String() }), {
    maxItems: 500,
    description: "Host names in A-labels, with ISO 8601 times",
  }),
});

const Name = record(
  {
    domain: text("Host name in lower-case A-labels; begins with *. if a certificate covers all names below it"),
    source: word(
      SOURCES,
      "Best source: ptr (reverse DNS), observation (a check of this service), certificate, provider (passive DNS)",
    ),
    sources: list(word(SOURCES, "One source"), "All sources of the name"),
    first_seen: Nullable(text("First time seen at the address, ISO 8601 UTC; null if the sources have no times")),
    last_seen: Nullable(text("Last time seen, this check included, ISO 8601 UTC; null if the sources have no times")),
    still_resolves: Nullable(
      truth(
        "Whether it resolves to the address now; null for wildcards, failed lookups and names beyond the first 120",
      ),
    ),
  },
  "One name",
);

/** Lists the host names at an address. */
export const reverseIp = defineTool({
  name: "reverse-ip",
  title: "Reverse IP",
  summary: "Domains that share an IP address: reverse DNS, certificate, own observations, passive DNS; never complete",
  scope: "ip",
  toolset: "network",
  target: { param: "ip", kind: "address", connects: false },
  example: { ip: "93.184.215.14" },
  params: Type.Object({ ip: IpAddress({ description: "IPv4 or IPv6 address" }) }),
  input: REVERSE_IP_INPUT,
  result: Type.Object({
    ip: text("Checked address"),
    ip_version: ipVersion(),
    ptr: texts("Names in reverse DNS"),
    fcrdns: Nullable(
      truth("Whether one of them resolves back to the address; null without names or without an answer"),
    ),
    domains: list(Name, "Names seen at the address, at most 500: first those that still resolve to it, then by name"),
    total: count("Names found, including those beyond the list"),
    registrable_domains: count(
      "Distinct registrable domains among the names that still resolve to the address or were not checked",
    ),
    sources_used: list(word(SOURCES, "One source"), "Sources that gave at least one name"),
    complete: Type.Literal(false, { description: "Always false: no source lists every name of an address" }),
    shared_hosting_hint: Nullable(
      truth("Whether many customers seem to share the address: a content network, or 5 or more domains; null: no name"),
    ),
    cdn: Nullable(text("Content delivery network that publishes the address as its own; null if none is known")),
    certificate: Nullable(
      record(
        {
          subject: Nullable(text("Common name of the certificate on port 443 without a server name")),
          names: count("DNS names in it"),
          not_after: text("End of validity, ISO 8601 UTC"),
          days_left: integer("Whole days until then, negative when past"),
        },
        "Certificate of the address's default site; null if none was sent",
      ),
    ),
    ...OBSERVED_FIELDS,
  }),
  deadlineMs: () => 30_000,
});
