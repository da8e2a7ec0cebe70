import { Type, type Static } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Domain, Nullable } from "#shared/tools/fields.ts";
import { DkimSelector } from "#shared/tools/dkim/selector.ts";
import { ROUTING_FIELDS, TlsRpt } from "#shared/tools/mail-fields.ts";
import {
  count,
  findings,
  letterGrade,
  list,
  OBSERVED_FIELDS,
  points,
  record,
  text,
  truth,
  word,
  integer,
  texts,
} from "#shared/tools/shapes.ts";

const QUALIFIERS = ["pass", "fail", "softfail", "neutral"] as const;
const POLICIES = ["none", "quarantine", "reject"] as const;

const SpfTerm = Type.Object({
  domain: text("Domain whose record contains the term"),
  depth: count("Number of includes and redirects that lead to the record; 0 for the domain's own record"),
  term: text("The term, verbatim"),
  type: word(["all", "include", "a", "mx", "ptr", "ip4", "ip6", "exists", "redirect"], "Mechanism, or redirect"),
  qualifier: Nullable(word(QUALIFIERS, "Result of a match; null for redirect")),
  target: Nullable(text("Name that the term looks up; null if it has none or the name depends on the sender")),
  lookups: count("Number of terms with a DNS lookup: this one and all below it"),
});

/** SPF policy, independent of a sender. */
const Spf = record(
  {
    record: Nullable(text("The SPF record; null if there is none or the lookup failed")),
    valid: Nullable(
      truth("Whether the evaluation ends without permerror for a sender that no term matches; null if unknown"),
    ),
    lookups: Nullable(count("Number of terms with a DNS lookup, includes followed; 10 are allowed; null if unknown")),
    void_lookups: Nullable(
      count("Number of DNS lookups of an IPv4 sender that return no records; 2 are allowed; null if unknown"),
    ),
    mechanisms: list(
      SpfTerm,
      "The tree of terms in the order of evaluation. The terms of an included record follow their include, one deeper. The first 150",
    ),
    all_qualifier: Nullable(
      word(QUALIFIERS, "Result of the final all of the record or of its redirect; null without a final all"),
    ),
    passes_all: truth(
      "Whether every sender passes, or every IPv4 or every IPv6 sender: by +all, ip4:0.0.0.0/0 and the like, own or included",
    ),
    includes: texts("Domains included at any depth"),
    ip4_count: count("Number of IPv4 addresses that ip4 mechanisms pass; overlapping blocks count once"),
  },
  "SPF policy (RFC 7208), evaluated without a sender",
);

const ReportingTarget = Type.Object({
  destination: text("Mail domain that is to receive reports"),
  authorised: Nullable(truth("Whether that domain accepts these reports (RFC 9990 section 4); null if unknown")),
});

/** DMARC policy as receivers find it. */
const Dmarc = record(
  {
    record: Nullable(text("The record that applies; null if there is none or the lookup failed")),
    found_at: Nullable(text("Domain whose _dmarc name has the record")),
    org_domain: Nullable(text("Organizational domain by the tree walk (RFC 9989 section 4.10); null if unknown")),
    p: Nullable(word(POLICIES, "Policy for the domain; null if the tag is absent or invalid")),
    sp: Nullable(word(POLICIES, "Policy for subdomains; null means the policy of p")),
    np: Nullable(word(POLICIES, "Policy for subdomains that do not exist; null means the policy of sp")),
    adkim: Nullable(word(["r", "s"], "Alignment of DKIM: r relaxed, s strict")),
    aspf: Nullable(word(["r", "s"], "Alignment of SPF: r relaxed, s strict")),
    rua: texts("Addresses that receive aggregate reports"),
    ruf: texts("Addresses that receive failure reports"),
    fo: Nullable(text("Conditions for failure reports")),
    t: Nullable(word(["y", "n"], "y: test mode, receivers apply the next weaker policy")),
    psd: Nullable(word(["y", "n", "u"], "y: a public suffix, n: an organizational domain, u: undeclared")),
    pct: Nullable(integer("Percentage of RFC 7489, removed by RFC 9989; null if absent")),
    policy_effective: Nullable(
      word(POLICIES, "Policy that receivers apply to mail of this domain that fails; null if no record applies"),
    ),
    external_reporting_authorised: list(
      ReportingTarget,
      "Domains of other organizations that are to receive reports, the first 8",
    ),
  },
  "DMARC (RFC 9989)",
);

const PolicyFile = record(
  {
    url: text("URL of the file"),
    text: Nullable(text("The file, cut to 4,000 characters; null if it could not be fetched")),
    version: Nullable(text("Version of the policy")),
    mx: texts("Mail hosts that the policy allows; *. matches one label; the first 50"),
    valid: truth("Whether senders can use the policy; requires a valid certificate"),
    error: Nullable(text("Why the file could not be fetched or read; null on success")),
  },
  "The policy file; null if DNS announces no policy",
);

/** MTA-STS: DNS record and policy. */
const MtaSts = record(
  {
    dns: record(
      {
        record: Nullable(text("TXT record at _mta-sts; null if there is none or the lookup failed")),
        present: Nullable(truth("Whether the domain announces a policy; null if the lookup failed")),
        id: Nullable(text("Identifier of the policy's version")),
      },
      "Announcement in DNS",
    ),
    policy: Nullable(PolicyFile),
    mode: Nullable(word(["enforce", "testing", "none"], "Mode of the policy; null without a valid one")),
    max_age_s: Nullable(count("Lifetime of the policy in seconds; null without a valid policy")),
    mx_match: Nullable(truth("Whether the policy names all mail hosts; null if unknown")),
  },
  "MTA-STS (RFC 8461)",
);

/** BIMI record, which gives the logo of a brand. */
const Bimi = record(
  {
    record: Nullable(text("TXT record at default._bimi; null if there is none or the lookup failed")),
    valid: Nullable(truth("Whether the record is well formed; null without a record")),
    location: Nullable(text("l=: address of the logo; empty if the domain declines to have one")),
    authority: Nullable(text("a=: address of the certificate for the logo; null without one")),
    dmarc_ready: Nullable(truth("Whether the DMARC policy is strict enough for BIMI; null if unknown")),
  },
  "BIMI: the logo that mail programs show with a message",
);

const Check = Type.Object({
  id: text("Stable name, e.g. dmarc_policy"),
  category: word(["SPF", "DMARC", "DKIM", "MX/TLS"], "Category"),
  status: word(["pass", "partial", "fail", "na"], "na: does not apply or is unknown, left out of the score"),
  score: points("Points earned; 0 for na"),
  max: points("Maximum points"),
  detail: text("Observation that decided"),
});

const Result = Type.Object({
  domain: text("Requested domain in A-labels"),
  exists: Nullable(truth("Whether the name exists in DNS; null if unknown")),
  score: Nullable(points("Percentage of the points of all checks that apply; null if nothing is known")),
  grade: Nullable(letterGrade("By score: 95, 90, 80, 70, 60; null without a score")),
  spoofable: Nullable(truth("Whether mail that others send in this domain's name is delivered; null if unknown")),
  spoofable_reason: text("Reason for spoofable"),
  checks: list(Check, "The checks that make up the score, in fixed order"),
  spf: Spf,
  dmarc: Dmarc,
  dkim: record(
    {
      selectors: list(DkimSelector, "Keys found under well-known selectors; others may exist"),
      wildcard: Nullable(truth("Whether every selector has the same record (a wildcard); null if unknown")),
    },
    "DKIM keys found; DNS has no way to list them all",
  ),
  mx: record(ROUTING_FIELDS, "Mail hosts of the domain"),
  mta_sts: MtaSts,
  tls_rpt: TlsRpt,
  bimi: Bimi,
  dane: record(
    {
      status: word(
        ["all", "some", "none", "unknown"],
        "How many mail hosts have TLSA records with valid DNSSEC signatures; none also if the MX records are not signed",
      ),
      hosts_secure: count("Number of mail hosts with TLSA records with valid DNSSEC signatures"),
      hosts_total: count("Number of mail hosts"),
      mx_secure: Nullable(
        truth("Whether the DNSSEC signatures of the MX records are valid, as DANE requires; null if not checked"),
      ),
    },
    "DANE over all mail hosts (RFC 7672)",
  ),
  findings: findings(
    "Faults and remarks, most severe first, with the record to publish; where is the part of the result, e.g. dmarc or a selector",
  ),
  ...OBSERVED_FIELDS,
});

/** Contract of email-check, which checks a domain's mail authentication and whether others can send in its name. */
export const emailCheck = defineTool({
  name: "email-check",
  title: "Email authentication",
  summary: "SPF, DKIM, DMARC, MTA-STS, TLS reports, DANE and BIMI of a domain, a score, and whether it can be spoofed",
  scope: "dns",
  toolset: "mail",
  target: { param: "domain", kind: "domain", connects: false },
  example: { domain: "example.com" },
  params: Type.Object({ domain: Domain({ description: "Mail domain, the part after the @" }) }),
  result: Result,
  deadlineMs: () => 30_000,
  across: {
    agreeOn: ({ grade, spf, dmarc }: Static<typeof Result>) => [grade, spf.record, dmarc.record],
    measure: () => ({}),
  },
});
