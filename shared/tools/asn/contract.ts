import { Type } from "typebox";
import { AutnumRegistration } from "#shared/tools/registrations.ts";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Resource } from "#shared/tools/fields.ts";
import { count, list, OBSERVED_FIELDS, record, text, word } from "#shared/tools/shapes.ts";

const Result = Type.Object({
  query: text("Query as submitted"),
  host: Nullable(text("Host name looked up, lower-case A-labels; null if the query is an address or number")),
  ip: Nullable(text("Address whose network was looked up: the host's first; null if the query is a number")),
  asn: Nullable(count("AS number; the first if several announce the address; null if none is known")),
  asdot: Nullable(text("AS number in asdot notation (RFC 5396): high.low above 65535")),
  use: Nullable(
    word(
      ["public", "private", "documentation", "reserved", "as_trans", "as112"],
      "Purpose of the number (IANA special-purpose AS numbers)",
    ),
  ),
  origins: list(Type.Integer(), "All systems that announce the prefix; empty for a number"),
  name: Nullable(text("Short name of the system, e.g. CLOUDFLARENET")),
  org: Nullable(text("Holder of the number")),
  country: Nullable(text("Country code of the registration; EU and AP occur although they are no countries")),
  registry: Nullable(text("Regional internet registry: afrinic, apnic, arin, lacnic or ripencc")),
  allocated: Nullable(text("Date of the allocation, YYYY-MM-DD")),
  prefix: Nullable(text("Most specific prefix in global routing that contains the address, CIDR; null for a number")),
  prefixes: record(
    {
      ipv4: Nullable(count("IPv4 prefixes the system announces; null: no source of this probe counts them")),
      ipv6: Nullable(count("IPv6 prefixes the system announces; null: no source of this probe counts them")),
    },
    "Size of the system in prefixes",
  ),
  peers: Nullable(list(Type.Integer(), "Neighbouring systems; null: no source of this probe knows them")),
  upstreams: Nullable(list(Type.Integer(), "Systems it buys transit from; null: no source of this probe knows them")),
  abuse: Nullable(text("Abuse contact of the holder")),
  rdap: Nullable(AutnumRegistration),
  database: Nullable(
    record(
      {
        source: text("Type of the database, from its metadata"),
        build_epoch: count("When it was built, Unix seconds"),
        licence: Nullable(text("The operator's note on its licence")),
      },
      "The operator's database of networks; null if none is used",
    ),
  ),
  ...OBSERVED_FIELDS,
});

/** Looks up the network of an address and its holder. */
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
