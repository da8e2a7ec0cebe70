import { Type, type Static } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Domain, Nullable, Word } from "#shared/tools/fields.ts";
import {
  findings,
  count,
  integer,
  list,
  number,
  OBSERVED_FIELDS,
  record,
  text,
  texts,
  truth,
  word,
} from "#shared/tools/shapes.ts";
import { PROPAGATION_INPUT } from "#shared/tools/propagation/vantages.ts";

/** Record types that can be requested. */
const PROPAGATION_TYPES = [
  "A",
  "AAAA",
  "CNAME",
  "MX",
  "NS",
  "TXT",
  "SOA",
  "CAA",
  "SRV",
  "PTR",
  "DS",
  "DNSKEY",
  "TLSA",
  "SVCB",
  "HTTPS",
] as const;

const status = () => text("NOERROR, NXDOMAIN, SERVFAIL, REFUSED, TIMEOUT, ...");
const answers = () => texts("RDATA in presentation form, lower case in parts that DNS compares without case, sorted");

/** Why a resolver answers with an error code. */
const CAUSES = ["dnssec", "refused", "servers_unreachable", "intermittent", "unknown"] as const;

const ExtendedError = Type.Object({
  code: integer("Extended DNS Error code"),
  name: Nullable(text("IANA's name of the code; null for an unregistered code")),
  text: text("Text from the resolver, often empty"),
});

const Recheck = record(
  {
    status: text("Status of the same query, repeated"),
    unchecked_status: text("Status of the query with checking disabled (CD): the resolver does not validate"),
  },
  "Two further queries to a resolver that answered SERVFAIL; null for all others, and for other probes' resolvers",
);

const Failure = Type.Object({
  cause: word(
    CAUSES,
    "dnssec: validation fails, by an Extended DNS Error or because the resolver answers with checking disabled; " +
      "refused: REFUSED; servers_unreachable: it cannot reach the domain's servers; intermittent: it answered the " +
      "repeated query; unknown: no cause reported",
  ),
  detail: text("The cause in a sentence, with the Extended DNS Errors"),
  resolvers: texts("Ids of the resolvers"),
});

const ResolverRow = Type.Object({
  id: text("Short name"),
  name: text("Operator of the resolver"),
  location: text("Location: a country, a region, or anycast"),
  kind: word(
    ["public", "agent", "own"],
    "public: of the list of public resolvers; agent: another probe's own resolver; own: this probe's own",
  ),
  server: Nullable(text("Address of the resolver, address#port; null if it could not be queried")),
  transport: Nullable(word(["udp", "tcp", "dot", "doh"], "Transport of the query; null for another probe's resolver")),
  status: status(),
  ede: list(ExtendedError, "The resolver's own reasons: Extended DNS Errors (RFC 8914)"),
  recheck: Nullable(Recheck),
  answers: answers(),
  cname_chain: texts("Aliases followed"),
  ttl: Nullable(
    integer(
      "Smallest TTL of the answer, seconds left in the resolver's cache; for a negative answer that of its SOA (RFC 2308); null if there is none",
    ),
  ),
  rtt_ms: Nullable(number("Round trip, milliseconds; null without an answer")),
  authoritative_match: Nullable(
    truth("Whether the domain's own servers give the same answer; null if that is unknown"),
  ),
  verdict: word(
    ["match", "subset", "geo", "stale", "differs", "broken", "error", "unknown"],
    "match: the answer of the domain's servers; subset: a part of it; geo: their answer to clients of its network; " +
      "stale: an older answer from its cache; differs: fetched recently but different; broken: SERVFAIL, REFUSED or " +
      "another error code; error: no answer; unknown: nothing to compare with",
  ),
  cause: Nullable(word(CAUSES, "broken: the cause, as in failures; null otherwise")),
  error: Nullable(text("Why there are no records: timeout, refused, servfail, ..., or a word of the transport")),
});

const Server = Type.Object({
  ns: text("Name of the server"),
  ip: Nullable(text("Address queried; null if it has none that may be queried")),
  status: status(),
  answers: answers(),
  ttl: Nullable(integer("TTL of the answer, seconds")),
  serial: Nullable(integer("Serial of its zone; null if it did not send one")),
  authoritative: truth("Whether the answer is authoritative (AA); false: lame server"),
  rtt_ms: Nullable(number("Round trip, milliseconds")),
  error: Nullable(text("Why there is no answer")),
});

const Authoritative = record(
  {
    zone: text("Zone of the name, or of its last alias"),
    name: text("Name queried there: the requested one, or the target of its aliases"),
    ns: texts("Names of the zone's servers"),
    answers: answers(),
    status: status(),
    ttl: Nullable(integer("TTL of the answer, seconds")),
    servers: list(Server, "Answer of each server"),
    serials: list(
      Type.Object({ ns: text("Name of the server"), serial: integer("Serial of its zone") }),
      "Zone serials; different serials mean that a server lags behind",
    ),
    consistent: truth("Whether all servers give the same answer and the same serial"),
  },
  "Answers of the domain's own servers; null if they could not be queried",
);

const Result = Type.Object({
  domain: text("Requested name"),
  ascii: text("The name in A-label form"),
  type: text("Requested record type"),
  resolvers: list(ResolverRow, "Public resolvers, then this probe's own, then other probes'"),
  authoritative: Nullable(Authoritative),
  agreement_pct: Nullable(
    number(
      "Resolvers with a current answer among those that answered, percent; SERVFAIL and REFUSED are answers and not " +
        "current; null if the current answer is unknown",
    ),
  ),
  consistent: Nullable(truth("Whether every resolver that answered has a current answer; null if none answered")),
  verdict: word(
    ["propagated", "propagating", "geo", "inconsistent", "broken_at_some", "broken", "unknown"],
    "propagated: the same answer everywhere; propagating: some resolvers, or one of the domain's own servers, still have an older answer; geo: answers differ by location on " +
      "purpose; inconsistent: answers differ for an unknown reason; broken_at_some: some resolvers answer with SERVFAIL, " +
      "REFUSED or another error code; broken: all that answered do; unknown: no resolver answered",
  ),
  distinct_answers: list(
    Type.Object({
      answers: answers(),
      status: status(),
      count: count("Number of resolvers with this answer"),
      resolvers: texts("Ids of these resolvers"),
    }),
    "Different answers, the most common first",
  ),
  failures: list(Failure, "Causes of failing resolvers, the most common first; empty if none fails"),
  expected_in_s: Nullable(integer("Seconds until the last older answer leaves the caches seen here; null for none")),
  findings: findings(),
  ...OBSERVED_FIELDS,
});
/** Values of the tool's result. */
export type PropagationResult = Static<typeof Result>;

/** Compares the answers of resolvers with those of the domain's own servers. */
export const propagation = defineTool({
  name: "propagation",
  title: "DNS propagation",
  summary: "Answers of public resolvers and other probes for a record, compared with those of the domain's own servers",
  scope: "dns",
  toolset: "dns",
  target: { param: "domain", kind: "domain", connects: false },
  example: { domain: "example.com" },
  params: Type.Object({
    domain: Domain({ description: "Name to look up" }),
    type: withDefault(Word(PROPAGATION_TYPES, { description: "Record type" }), "A"),
  }),
  result: Result,
  input: PROPAGATION_INPUT,
  deadlineMs: () => 20_000,
  open: { q: "domain" },
  across: {
    agreeOn: ({ authoritative }: PropagationResult) => authoritative?.answers ?? null,
    measure: () => ({}),
  },
});
