import { Type, type Static } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { DnsFlags, DnsRow, SoaRow } from "#shared/dns-rows.ts";
import { Domain, Flag, Limitations, Nullable, WordList } from "#shared/tools/fields.ts";
import { findings, elapsed } from "#shared/tools/shapes.ts";

const TYPES = ["A", "AAAA", "MX", "NS", "TXT", "CNAME", "SOA"] as const;

function text(description: string) {
  return Type.String({ description });
}

function number(description: string) {
  return Type.Integer({ minimum: 0, description });
}

function dataOf(type: string) {
  return Type.Optional(Type.Array(Type.String(), { description: `Data of the ${type} records; absent if not asked` }));
}

const ExtendedError = Type.Object({
  code: Type.Integer({ description: "Extended DNS Error code (RFC 8914)" }),
  name: Nullable(text("What IANA calls the code, null for one it does not know")),
  text: text("The resolver's own words, often empty"),
});

const Nsid = Type.Object(
  {
    text: Nullable(text("As text, where it is printable ASCII")),
    hex: text("As octets, hexadecimal"),
  },
  { description: "What the server that answered calls itself (NSID, RFC 5001); null where it does not say" },
);

const TypeResult = Type.Object({
  type: text("Record type asked for"),
  status: text(
    "NOERROR (with or without records), NXDOMAIN, SERVFAIL, REFUSED, TIMEOUT (no answer); rarely another RCODE by its IANA name",
  ),
  records: Type.Array(DnsRow, { description: "Records of the type, those of the last alias where there are aliases" }),
  cname_chain: Type.Array(Type.String(), { description: "Targets of the aliases (CNAME) from the name, in order" }),
  authority_soa: Nullable(SoaRow),
  transport: Type.Union([Type.Literal("udp"), Type.Literal("tcp"), Type.Literal("dot"), Type.Literal("doh")], {
    description: "How the answer came: udp, tcp (after a cut UDP answer), dot or doh",
  }),
  flags: DnsFlags,
  ede: Type.Array(ExtendedError, { description: "Why, in the resolver's words: Extended DNS Errors" }),
  rtt_ms: Nullable(
    Type.Number({ description: "Round trip of the query that was answered, milliseconds; null on TIMEOUT" }),
  ),
  connect_ms: Nullable(
    Type.Number({
      description:
        "The part of rtt_ms that connecting took, a SYN sent again after 1 s included; 0 over udp, null on TIMEOUT",
    }),
  ),
  unreachable: Nullable(
    text(
      "On TIMEOUT: why there was no way to the server (refused, unreachable, closed, certificate); null for silence",
    ),
  ),
  counts: Type.Object(
    {
      answer: number("In the answer section"),
      authority: number("In the authority section"),
      additional: number("In the additional section, EDNS left out"),
    },
    { description: "Records of the answer by section, also those that are not shown" },
  ),
  server: text("Resolver that answered, or was asked last: address#port"),
  nsid: Nullable(Nsid),
});

const Status = Type.Union(
  [Type.Literal("secure"), Type.Literal("insecure"), Type.Literal("bogus"), Type.Literal("indeterminate")],
  { description: "secure: validated; insecure: not signed; bogus: fails validation; indeterminate: cannot be told" },
);

const ChainZone = Type.Object({
  zone: text("Name of the zone, . for the root"),
  ds: Type.Array(
    Type.Object({
      key_tag: number("Key tag of the key it is of"),
      algorithm: number("Algorithm number (IANA)"),
      digest_type: number("1 SHA-1, 2 SHA-256, 4 SHA-384"),
      digest: text("Digest, hexadecimal"),
    }),
    { description: "DS records the parent has for the zone, or the trust anchor's; the first 16" },
  ),
  dnskeys: Type.Array(
    Type.Object({
      key_tag: number("Key tag"),
      algorithm: number("Algorithm number (IANA)"),
      flags: number("257 key-signing key, 256 zone-signing key, 128 more where revoked"),
      bits: Nullable(number("Size of the modulus or curve, bits; null where the key cannot be read")),
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
      { description: "The signature over the zone's keys that stands; null where none does" },
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
        description: "Whose verdict it is: local (our own validation), resolver_ad (the resolver's); null for none",
      }),
    ),
    denial: Nullable(
      Type.Union([Type.Literal("nsec"), Type.Literal("nsec3")], {
        description: "How the zone proves that something does not exist; null where no such proof was seen",
      }),
    ),
    reasons: Type.Array(Type.String(), {
      description:
        "What led to the status, one sentence each, the types it holds for first; then where the resolver disagrees",
    }),
    resolver_ad: Nullable(
      Type.Boolean({
        description: "Whether the resolver vouches for every answer it gave (AD bit); null where it gave none",
      }),
    ),
    chain: Type.Array(ChainZone, {
      description: "Chain of trust as our own validation saw it, from the trust anchor down, aliases' zones after",
    }),
    algorithms: Type.Array(Type.String(), { description: "Signing algorithms the verdict rests on, by mnemonic" }),
    expires_at: Nullable(text("When the first signature the verdict rests on ends, ISO 8601 UTC; null without any")),
  },
  { description: "DNSSEC verdict; null unless dnssec was asked for" },
);

const Result = Type.Object({
  domain: text("Name looked up, international labels in Unicode"),
  ascii: text("The name in A-label form, lower case"),
  registrable_domain: Nullable(text("The part one registers (public suffix and one label); null for a suffix itself")),
  results: Type.Array(TypeResult, { description: "One entry per type, in the order asked" }),
  records: Type.Object(Object.fromEntries(TYPES.map((type) => [type, dataOf(type)])) as Groups, {
    description: "Record data by type, in zone-file form; empty where the name has none of the type",
  }),
  dnssec: Nullable(Dnssec),
  server: Nullable(
    Type.Object(
      {
        ip: text("Its address"),
        resolve_ms: Type.Number({ description: "Look-up of its name, milliseconds; 0 for an address" }),
      },
      { description: "The server asked in place of the probe's own resolvers; null where those were asked" },
    ),
  ),
  elapsed_ms: elapsed(),
  findings: findings(),
  observed_at: text("When the look-up began, ISO 8601 UTC"),
  limitations: Limitations(),
});

/** A server to ask in place of the agent's own; the agent vets it. */
export const SERVER_INPUT = Type.Object({
  host: Type.String({ description: "Server to ask: name or address" }),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: "Default: the transport's own" })),
  path: Type.Optional(Type.String({ description: "doh: path of the service, default /dns-query" })),
  transport: Type.Union([Type.Literal("udp"), Type.Literal("tcp"), Type.Literal("dot"), Type.Literal("doh")]),
});

type Groups = { readonly [T in (typeof TYPES)[number]]: ReturnType<typeof dataOf> };

/** DNS records of a name by type, as the agent's resolver answers now. */
export const dns = defineTool({
  name: "dns",
  title: "DNS lookup",
  summary: "DNS records of a name by type, with aliases, flags and, on request, its DNSSEC status",
  scope: "dns",
  toolset: "dns",
  target: { param: "domain", kind: "domain", connects: false },
  example: { domain: "example.com", types: "A,MX" },
  params: Type.Object({
    domain: Domain({ description: "Name to look up; internationalised names in either form" }),
    types: withDefault(
      WordList(TYPES, {
        description: `Comma-separated record types from ${TYPES.join(", ")}; default all`,
        maxItems: TYPES.length,
      }),
      TYPES,
    ),
    dnssec: withDefault(Flag({ description: "Determine the DNSSEC status too" }), false),
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
