import { Type } from "typebox";
import { AutnumRegistration } from "#shared/tools/registrations.ts";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Resource } from "#shared/tools/fields.ts";
import { count, list, OBSERVED_FIELDS, record, text, word } from "#shared/tools/shapes.ts";

const Result = Type.Object({
  query: text("What was asked for"),
  host: Nullable(text("Host name looked up, lower-case A-labels; null where an address or number was asked for")),
  ip: Nullable(text("Address whose network was looked for: the host's first; null where a number was asked for")),
  asn: Nullable(count("AS number; of several that announce the address the first; null where none is known")),
  asdot: Nullable(text("The same as RFC 5396 writes it, high.low above 65535")),
  use: Nullable(
    word(
      ["public", "private", "documentation", "reserved", "as_trans", "as112"],
      "What the number is for (IANA special-purpose AS numbers)",
    ),
  ),
  origins: list(Type.Integer(), "All systems that announce the prefix; empty for a number"),
  name: Nullable(text("Short name of the system, e.g. CLOUDFLARENET")),
  org: Nullable(text("Who holds the number")),
  country: Nullable(text("Country code of the registration; EU and AP are no countries but occur")),
  registry: Nullable(text("Regional internet registry: afrinic, apnic, arin, lacnic or ripencc")),
  allocated: Nullable(text("Day the number was given out, YYYY-MM-DD")),
  prefix: Nullable(text("Most specific prefix in global routing that holds the address, CIDR; null for a number")),
  prefixes: record(
    {
      ipv4: Nullable(count("IPv4 prefixes the system announces; null: no source of this probe counts them")),
      ipv6: Nullable(count("IPv6 prefixes the system announces; null: no source of this probe counts them")),
    },
    "Size of the system in prefixes",
  ),
  peers: Nullable(list(Type.Integer(), "Neighbouring systems; null: no source of this probe knows them")),
  upstreams: Nullable(list(Type.Integer(), "Systems it buys transit from; null: no source of this probe knows them")),
  abuse: Nullable(text("Where the holder wants abuse reported")),
  rdap: Nullable(AutnumRegistration),
  database: Nullable(
    record(
      {
        source: text("Type of the database, as it names itself"),
        build_epoch: count("When it was built, Unix seconds"),
        licence: Nullable(text("The operator's note on its licence")),
      },
      "The operator's database of networks; null where none is used",
    ),
  ),
  ...OBSERVED_FIELDS,
});

/** Which network an address belongs to, and who runs it. */
export const asn = defineTool({
  name: "asn",
  title: "ASN and network owner",
  summary: "Autonomous system of an address or host, or of a number: name, holder, registry, announced prefix",
  scope: "ip",
  toolset: "registry",
  target: { param: "query", kind: "resource", connects: false },
  example: { query: "AS15169" },
  params: Type.Object({
    query: Resource({ description: "AS number (AS64500, 64500 or AS1.10), IP address or host name" }),
  }),
  result: Result,
  deadlineMs: () => 10_000,
  open: { q: "query" },
});
