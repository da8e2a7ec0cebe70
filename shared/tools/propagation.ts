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
import { PROPAGATION_INPUT } from "#shared/tools/vantages.ts";

/** Types that may be asked for. */
export const PROPAGATION_TYPES = [
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
const answers = () => texts("RDATA in presentation form, lower case where DNS pays no heed to case, sorted");

/** Why a resolver answers with an error code. */
const CAUSES = ["dnssec", "refused", "servers_unreachable", "intermittent", "unknown"] as const;

const ExtendedError = Type.Object({
  code: integer("Extended DNS Error code"),
  name: Nullable(text("What IANA calls the code; null for one it does not know")),
  text: text("The resolver's own words, often empty"),
});

const Recheck = record(
  {
    status: text("The same question, asked once more"),
    unchecked_status: text("The question with checking disabled (CD): the resolver does not validate"),
  },
  "Two further questions to a resolver that said SERVFAIL; null for every other one, and for other probes' resolvers",
);

const Failure = Type.Object({
  cause: word(
    CAUSES,
    "dnssec: validation fails, by an Extended DNS Error or because the resolver answers with checking disabled; " +
      "refused: REFUSED; servers_unreachable: it cannot reach the domain's servers; intermittent: it answered when " +
      "asked again; unknown: it does not say",
  ),
  detail: text("The cause in a sentence, with the Extended DNS Errors"),
  resolvers: texts("Ids of the resolvers"),
});

const ResolverRow = Type.Object({
  id: text("Short name"),
  name: text("Who runs it"),
  location: text("Where it stands: a country, a region, or anycast"),
  kind: word(
    ["public", "agent", "own"],
    "public: of the list of public resolvers; agent: another probe's own resolver; own: this probe's own",
  ),
  server: Nullable(text("Resolver asked, address#port; null where it could not be asked")),
  transport: Nullable(word(["udp", "tcp", "dot", "doh"], "How it was asked; null for another probe's resolver")),
  status: status(),
  ede: list(ExtendedError, "The resolver's own reasons: Extended DNS Errors (RFC 8914)"),
  recheck: Nullable(Recheck),
  answers: answers(),
  cname_chain: texts("Aliases followed"),
  ttl: Nullable(
    integer(
      "Smallest TTL of the answer, seconds left in the resolver's cache; of a denial that of its SOA (RFC 2308); null where there is none",
    ),
  ),
  rtt_ms: Nullable(number("Round trip, milliseconds; null without an answer")),
  authoritative_match: Nullable(
    truth("Whether the answer is one the domain's own servers give; null where that cannot be told"),
  ),
  verdict: word(
    ["match", "subset", "geo", "stale", "differs", "broken", "error", "unknown"],
    "match: as the domain's servers say; subset: some of what they say; geo: what they say to clients of its network; " +
      "stale: an older answer from its cache; differs: fetched anew and yet another one; broken: SERVFAIL, REFUSED or " +
      "another error code; error: nothing came back; unknown: nothing to compare with",
  ),
  cause: Nullable(word(CAUSES, "broken: why it fails, as in failures; null otherwise")),
  error: Nullable(text("Why there are no records: timeout, refused, servfail, ..., or a word of the transport")),
});

const Server = Type.Object({
  ns: text("Name of the server"),
  ip: Nullable(text("Address asked; null where it has none that may be asked")),
  status: status(),
  answers: answers(),
  ttl: Nullable(integer("TTL of the answer, seconds")),
  serial: Nullable(integer("Serial of its zone; null where it did not say")),
  authoritative: truth("It answers with authority (AA); false: lame"),
  rtt_ms: Nullable(number("Round trip, milliseconds")),
  error: Nullable(text("Why there is no answer")),
});

const Authoritative = record(
  {
    zone: text("Zone that holds the name, or the last alias of it"),
    name: text("Name asked there: the one asked for, or where its aliases lead"),
    ns: texts("Names of the zone's servers"),
    answers: answers(),
    status: status(),
    ttl: Nullable(integer("TTL of the answer, seconds")),
    servers: list(Server, "What each of them says"),
    serials: list(
      Type.Object({ ns: text("Name of the server"), serial: integer("Serial of its zone") }),
      "Zone serials; differing ones mean that a server lags behind",
    ),
    consistent: truth("All of them give the same answer and the same serial"),
  },
  "What the domain's own servers say; null where they could not be asked",
);

const Result = Type.Object({
  domain: text("Name asked for"),
  ascii: text("The name in A-label form"),
  type: text("RR type asked for"),
  resolvers: list(ResolverRow, "Public resolvers, then this probe's own, then other probes'"),
  authoritative: Nullable(Authoritative),
  agreement_pct: Nullable(
    number(
      "Resolvers with a current answer among those that answered, percent; SERVFAIL and REFUSED are answers and not " +
        "current; null where nothing tells which answer is current",
    ),
  ),
  consistent: Nullable(truth("Every resolver that answered has a current answer; null where none answered")),
  verdict: word(
    ["propagated", "propagating", "geo", "inconsistent", "broken_at_some", "broken", "unknown"],
    "propagated: the same everywhere; propagating: some, or one of the domain's own servers, still have an older answer; geo: answers differ by place on " +
      "purpose; inconsistent: they differ for no reason that shows; broken_at_some: some resolvers answer with SERVFAIL, " +
      "REFUSED or another error code; broken: all that answered do; unknown: no resolver answered",
  ),
  distinct_answers: list(
    Type.Object({
      answers: answers(),
      status: status(),
      count: count("Resolvers that give it"),
      resolvers: texts("Their ids"),
    }),
    "Different answers, the most common first",
  ),
  failures: list(Failure, "Why resolvers fail, by cause, the most common first; empty where none does"),
  expected_in_s: Nullable(integer("Seconds until the last older answer leaves the caches seen here; null for none")),
  findings: findings(),
  ...OBSERVED_FIELDS,
});
/** Values of the tool's result. */
export type PropagationResult = Static<typeof Result>;

/** What resolvers everywhere say, beside what the domain's own servers say. */
export const propagation = defineTool({
  name: "propagation",
  title: "DNS propagation",
  summary: "What public resolvers and other probes see of a record, beside what the domain's own servers say",
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
