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
    domain: text("Host name in lower-case A-labels; begins with *. where a certificate covers all below it"),
    source: word(
      SOURCES,
      "Best source: ptr (reverse DNS), observation (a check of this service), certificate, provider (passive DNS)",
    ),
    sources: list(word(SOURCES, "One source"), "All sources that have the name"),
    first_seen: Nullable(text("Since when it was seen there, ISO 8601 UTC; null where the sources keep no times")),
    last_seen: Nullable(text("Until when, ISO 8601 UTC; this check itself counts")),
    still_resolves: Nullable(
      truth("Whether it leads to the address now; null for wildcards, failed look-ups and names beyond the first 120"),
    ),
  },
  "One name",
);

/** What else stands at an address, as far as honest sources can tell. */
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
    ip: text("Address looked at"),
    ip_version: ipVersion(),
    ptr: texts("Names in reverse DNS"),
    fcrdns: Nullable(truth("Whether one of them leads back to the address; null without one or without an answer")),
    domains: list(Name, "Names seen at the address: those that still resolve to it first, then by name; at most 500"),
    total: count("Names found, those beyond the list included"),
    registrable_domains: count("Different registered domains among the names that were not seen to have left"),
    sources_used: list(word(SOURCES, "One source"), "Sources that gave at least one name"),
    complete: Type.Literal(false, { description: "Always false: no source knows every name that leads to an address" }),
    shared_hosting_hint: Nullable(
      truth("Whether many customers seem to share the address: a content network, or 5 or more domains; null: no name"),
    ),
    cdn: Nullable(text("Content delivery network that publishes the address as its own; null where none known does")),
    certificate: Nullable(
      record(
        {
          subject: Nullable(text("Common name of the certificate shown on port 443 without a server name")),
          names: count("DNS names in it"),
          not_after: text("Until when it is valid, ISO 8601 UTC"),
          days_left: integer("Whole days until then, negative when past"),
        },
        "Certificate of the address's default site; null where none was shown",
      ),
    ),
    ...OBSERVED_FIELDS,
  }),
  deadlineMs: () => 30_000,
});
