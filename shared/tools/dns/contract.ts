import { Type, type Static } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Domain, Flag, Limitations, Nullable, WordList } from "#shared/tools/fields.ts";
import { findings, elapsed } from "#shared/tools/shapes.ts";

function seconds(description: string) {
  return Type.Integer({ minimum: 0, description: `${description}, seconds` });
}

const SOA_FIELDS = {
  mname: text("SOA: primary name server"),
  rname: text("SOA: mailbox of the responsible person, with a dot for @"),
  serial: Type.Integer({ minimum: 0, description: "SOA: version of the zone" }),
  refresh: seconds("SOA: how often secondaries ask for changes"),
  retry: seconds("SOA: how soon they ask again after a failure"),
  expire: seconds("SOA: how long they serve the zone without contact"),
  minimum: seconds("SOA: how long the absence of a record may be cached"),
};

const COMMON = {
  name: text("Owner name, without final dot"),
  ttl: seconds("How long the record may be cached, as reported by the resolver"),
  type: text("Record type"),
  data: text("Record data in zone-file form: names end in a dot, text is quoted, \\DDD is an octet in decimal"),
};

/** One record: common fields and the fields of its type; names have no final dot. */
const DnsRow = Type.Object({
  ...COMMON,
  address: Type.Optional(text("A, AAAA: IP address")),
  nsdname: Type.Optional(text("NS: name server")),
  cname: Type.Optional(text("CNAME: target of the alias")),
  preference: Type.Optional(Type.Integer({ minimum: 0, description: "MX: lower is tried first" })),
  exchange: Type.Optional(text("MX: mail server; . accepts no mail (RFC 7505)")),
  strings: Type.Optional(
    Type.Array(Type.String(), { description: "TXT: strings as sent, one character per octet (Latin-1)" }),
  ),
  text: Type.Optional(text("TXT: strings joined, decoded as UTF-8 if valid")),
  mname: Type.Optional(SOA_FIELDS.mname),
  rname: Type.Optional(SOA_FIELDS.rname),
  serial: Type.Optional(SOA_FIELDS.serial),
  refresh: Type.Optional(SOA_FIELDS.refresh),
  retry: Type.Optional(SOA_FIELDS.retry),
  expire: Type.Optional(SOA_FIELDS.expire),
  minimum: Type.Optional(SOA_FIELDS.minimum),
});

/** The SOA record of a negative answer. */
const SoaRow = Type.Object(
  { ...COMMON, ...SOA_FIELDS },
  { description: "SOA record of the zone in a negative answer; null if it was not sent" },
);

/** Header flags of an answer. */
const DnsFlags = Type.Object(
  {
    aa: Type.Boolean({ description: "Authoritative answer" }),
    tc: Type.Boolean({ description: "Truncated; true only if the server did not answer over TCP" }),
    rd: Type.Boolean({ description: "Recursion was desired" }),
    ra: Type.Boolean({ description: "The server offers recursion" }),
    ad: Type.Boolean({ description: "The resolver has validated the data (DNSSEC)" }),
    cd: Type.Boolean({ description: "Checking was disabled" }),
  },
  { description: "Header flags of the answer; on TIMEOUT only rd is true" },
);

const TYPES = ["A", "AAAA", "MX", "NS", "TXT", "CNAME", "SOA"] as const;

function text(description: string) {
  return Type.String({ description });
}

function number(description: string) {
  return Type.Integer({ minimum: 0, description });
}

function dataOf(type: string) {
  return Type.Optional(
    Type.Array(Type.String(), { description: `Data of the ${type} records; absent if not requested` }),
  );
}

const ExtendedError = Type.Object({
  code: Type.Integer({ description: "Extended DNS Error code (RFC 8914)" }),
  name: Nullable(text("IANA's name of the code; null for an unregistered code")),
  text: text("Text from the resolver, often empty"),
});

const Nsid = Type.Object(
  {
    text: Nullable(text("As text; null if it is not printable ASCII")),
    hex: text("As octets, hexadecimal"),
  },
  { description: "Identifier of the server that answered (NSID, RFC 5001); null if it sent none" },
);

const TypeResult = Type.Object({
  type: text("Requested record type"),
  status: text(
    "NOERROR (with or without records), NXDOMAIN, SERVFAIL, REFUSED, TIMEOUT (no answer); rarely another RCODE by its IANA name",
  ),
  records: Type.Array(DnsRow, { description: "Records of the type; with aliases, those of the last alias" }),
  cname_chain: Type.Array(Type.String(), { description: "Targets of the aliases (CNAME) from the name, in order" }),
  authority_soa: Nullable(SoaRow),
  transport: Type.Union([Type.Literal("udp"), Type.Literal("tcp"), Type.Literal("dot"), Type.Literal("doh")], {
    description: "Transport of the answer: udp, tcp (after a truncated UDP answer), dot or doh",
  }),
  flags: DnsFlags,
  ede: Type.Array(ExtendedError, { description: "Extended DNS Errors: the resolver's reasons" }),
  rtt_ms: Nullable(
    Type.Number({ description: "Round trip of the query that was answered, milliseconds; null on TIMEOUT" }),
  ),
  connect_ms: Nullable(
    Type.Number({
      description:
        "The part of rtt_ms for connecting, including the 1 s until a lost SYN is sent again; 0 over udp, null on TIMEOUT",
    }),
  ),
  unreachable: Nullable(
    text(
      "On TIMEOUT: why the server could not be reached (refused, unreachable, closed, certificate); null if it did not answer",
    ),
  ),
  counts: Type.Object(
    {
      answer: number("In the answer section"),
      authority: number("In the authority section"),
      additional: number("In the additional section, without EDNS"),
    },
    { description: "Records of the answer by section, including those not shown" },
  ),
  server: text("Resolver that answered, or was queried last: address#port"),
  nsid: Nullable(Nsid),
});

const Status = Type.Union(
  [Type.Literal("secure"), Type.Literal("insecure"), Type.Literal("bogus"), Type.Literal("indeterminate")],
  { description: "secure: validated; insecure: not signed; bogus: fails validation; indeterminate: not known" },
);

const ChainZone = Type.Object({
  zone: text("Name of the zone, . for the root"),
  ds: Type.Array(
    Type.Object({
      key_tag: number("Key tag of the DNSKEY"),
      algorithm: number("Algorithm number (IANA)"),
      digest_type: number("1 SHA-1, 2 SHA-256, 4 SHA-384"),
      digest: text("Digest, hexadecimal"),
    }),
    { description: "DS records in the parent zone, or of the trust anchor; the first 16" },
  ),
  dnskeys: Type.Array(
    Type.Object({
      key_tag: number("Key tag"),
      algorithm: number("Algorithm number (IANA)"),
      flags: number("257: key-signing key, 256: zone-signing key, 128 more if revoked"),
      bits: Nullable(number("Size of the modulus or curve, bits; null if the key is unreadable")),
    }),
    { description: "Keys of the zone; the first 16" },
  ),
  rrsig: Nullable(
    Type.Object(
      {
        signer: text("Zone that signs"),
        algorithm: number("Algorithm number (IANA)"),
        inception: text("Valid from, ISO 8601 UTC"),
        expiration: text("Valid until, ISO 8601 UTC"),
        key_tag: number("Key tag of the key that signs"),
      },
      { description: "A valid signature over the zone's keys; null if there is none" },
    ),
  ),
  status: Status,
  reason: Nullable(text("Why the status is not secure")),
});

const Dnssec = Type.Object(
  {
    status: Status,
    validated_by: Nullable(
      Type.Union([Type.Literal("local"), Type.Literal("resolver_ad")], {
        description:
          "Origin of the verdict: local (validated by the probe), resolver_ad (by the resolver); null for none",
      }),
    ),
    denial: Nullable(
      Type.Union([Type.Literal("nsec"), Type.Literal("nsec3")], {
        description: "How the zone proves that a name or type does not exist; null if no such proof was seen",
      }),
    ),
    reasons: Type.Array(Type.String(), {
      description:
        "Reasons for the status, one sentence each, with the record types first; then disagreements of the resolver",
    }),
    resolver_ad: Nullable(
      Type.Boolean({
        description: "Whether every answer of the resolver had the AD bit; null if it gave none",
      }),
    ),
    chain: Type.Array(ChainZone, {
      description:
        "Chain of trust by the probe's validation, from the trust anchor down, followed by the zones of aliases",
    }),
    algorithms: Type.Array(Type.String(), { description: "Signing algorithms used for the verdict, by mnemonic" }),
    expires_at: Nullable(
      text("Expiry of the first signature used for the verdict, ISO 8601 UTC; null without signatures"),
    ),
  },
  { description: "DNSSEC verdict; null unless requested by dnssec" },
);

const Result = Type.Object({
  domain: text("Requested name, with international labels in Unicode"),
  ascii: text("The name in A-label form, lower case"),
  registrable_domain: Nullable(text("The registrable part (public suffix and one label); null for a public suffix")),
  results: Type.Array(TypeResult, { description: "One entry per type, in the requested order" }),
  records: Type.Object(Object.fromEntries(TYPES.map((type) => [type, dataOf(type)])) as Groups, {
    description: "Record data by type, in zone-file form; empty if the name has none of the type",
  }),
  dnssec: Nullable(Dnssec),
  server: Nullable(
    Type.Object(
      {
        ip: text("Its address"),
        resolve_ms: Type.Number({ description: "Lookup of its name, milliseconds; 0 for an address" }),
      },
      { description: "The server queried instead of the probe's own resolvers; null if those were queried" },
    ),
  ),
  elapsed_ms: elapsed(),
  findings: findings(),
  observed_at: text("When the lookup began, ISO 8601 UTC"),
  limitations: Limitations(),
});

/** A server to query instead of the agent's own resolvers; the agent checks it against the egress rules. */
export const SERVER_INPUT = Type.Object({
  host: Type.String({ description: "Server to query: name or address" }),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: "Default: the transport's own" })),
  path: Type.Optional(Type.String({ description: "doh: path of the service, default /dns-query" })),
  transport: Type.Union([Type.Literal("udp"), Type.Literal("tcp"), Type.Literal("dot"), Type.Literal("doh")]),
});

type Groups = { readonly [T in (typeof TYPES)[number]]: ReturnType<typeof dataOf> };

/** Looks up DNS records of a name by type, at the agent's resolver. */
export const dns = defineTool({
  name: "dns",
  title: "DNS lookup",
  summary: "DNS records of a name by type, with aliases, flags and, on request, its DNSSEC status",
  scope: "dns",
  toolset: "dns",
  target: { param: "domain", kind: "domain", connects: false },
  example: { domain: "example.com", types: "A,MX" },
  params: Type.Object({
    domain: Domain({ description: "Name to look up; internationalised names in Unicode or A-labels" }),
    types: withDefault(
      WordList(TYPES, {
        description: `Comma-separated record types from ${TYPES.join(", ")}; default all`,
        maxItems: TYPES.length,
      }),
      TYPES,
    ),
    dnssec: withDefault(Flag({ description: "Also determine the DNSSEC status" }), false),
  }),
  result: Result,
  input: SERVER_INPUT,
  deadlineMs: () => 10_000,
  open: { q: "domain", extra: ["types"] },
  across: {
    agreeOn: ({ results }: Static<typeof Result>) =>
      results.map(({ type, status, records }) => [type, status, records.map(({ data }) => data).toSorted()]),
    measure: ({ results }: Static<typeof Result>) => ({ rtt_ms: median(results.map((result) => result.rtt_ms)) }),
  },
});

function median(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).toSorted((one, other) => one - other);
  return known[Math.floor((known.length - 1) / 2)] ?? null;
}
