import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, list, record, text, texts, truth, word } from "#shared/tools/shapes.ts";

const QUALIFIERS = ["pass", "fail", "softfail", "neutral"] as const;
const POLICIES = ["none", "quarantine", "reject"] as const;

const SpfTerm = Type.Object({
  domain: text("Domain whose record the term is of"),
  depth: count("Includes and redirects passed on the way there; 0 for the domain's own record"),
  term: text("The term as written"),
  type: word(["all", "include", "a", "mx", "ptr", "ip4", "ip6", "exists", "redirect"], "Mechanism, or redirect"),
  qualifier: Nullable(word(QUALIFIERS, "What a match means; null for redirect")),
  target: Nullable(text("Name it asks about; null for none, or where it depends on the sender")),
  lookups: count("Terms that ask the DNS in it and all below it"),
});

/** SPF without a sender. */
export const Spf = record(
  {
    record: Nullable(text("The SPF record; null where there is none or it could not be looked up")),
    valid: Nullable(truth("Whether it ends without permerror for a sender that matches nothing; null where not known")),
    lookups: Nullable(count("Terms that ask the DNS, includes followed; at most 10 are allowed; null where not known")),
    void_lookups: Nullable(
      count("Look-ups of an IPv4 sender that find nothing; at most 2 are allowed; null where not known"),
    ),
    mechanisms: list(
      SpfTerm,
      "The tree of terms: in the order of evaluation, those of an included record after their include and one deeper; the first 150",
    ),
    all_qualifier: Nullable(word(QUALIFIERS, "What the final all, own or by redirect, means; null without one")),
    passes_all: truth(
      "Whether every sender passes, or every one of IPv4 or of IPv6: by +all, ip4:0.0.0.0/0 or the like, own or included",
    ),
    includes: texts("Domains included at any depth"),
    ip4_count: count("IPv4 addresses that ip4 mechanisms pass, overlaps counted once"),
  },
  "SPF (RFC 7208), judged without a sender",
);

const ReportingTarget = Type.Object({
  destination: text("Mail domain reports are to go to"),
  authorised: Nullable(truth("Whether that domain agrees to get them (RFC 9990 section 4); null where not known")),
});

/** DMARC as receivers find it. */
export const Dmarc = record(
  {
    record: Nullable(text("The record that applies; null where there is none or it could not be looked up")),
    found_at: Nullable(text("Domain whose _dmarc name holds it")),
    org_domain: Nullable(text("Organizational domain by the tree walk (RFC 9989 section 4.10); null where not known")),
    p: Nullable(word(POLICIES, "Policy for the domain; null where the tag is absent or wrong")),
    sp: Nullable(word(POLICIES, "Policy for subdomains; null for that of p")),
    np: Nullable(word(POLICIES, "Policy for subdomains that do not exist; null for that of sp")),
    adkim: Nullable(word(["r", "s"], "Alignment of DKIM: r relaxed, s strict")),
    aspf: Nullable(word(["r", "s"], "Alignment of SPF: r relaxed, s strict")),
    rua: texts("Where aggregate reports go"),
    ruf: texts("Where failure reports go"),
    fo: Nullable(text("When failure reports are wanted")),
    t: Nullable(word(["y", "n"], "y: testing, receivers apply one policy lower")),
    psd: Nullable(word(["y", "n", "u"], "y: a public suffix, n: an organizational domain, u: not said")),
    pct: Nullable(integer("Percentage of RFC 7489, removed by RFC 9989; null where absent")),
    policy_effective: Nullable(
      word(POLICIES, "What receivers are asked to do with mail of this very domain that fails; null for nothing"),
    ),
    external_reporting_authorised: list(ReportingTarget, "Foreign domains that reports are to go to, the first 8"),
  },
  "DMARC (RFC 9989)",
);

const PolicyFile = record(
  {
    url: text("Where it was fetched"),
    text: Nullable(text("The file, cut to 4,000 characters; null where it could not be had")),
    version: Nullable(text("Its version")),
    mx: texts("Host names that mail may go to, *. for one label; the first 50"),
    valid: truth("Whether senders can act by it, the certificate included"),
    error: Nullable(text("Why it could not be had; null where it was")),
  },
  "The policy file; null where DNS announces none",
);

/** MTA-STS, DNS record and policy. */
export const MtaSts = record(
  {
    dns: record(
      {
        record: Nullable(text("TXT record at _mta-sts; null where there is none or it could not be looked up")),
        present: Nullable(truth("Whether the domain announces a policy; null where that could not be looked up")),
        id: Nullable(text("Identifier of the policy's version")),
      },
      "What DNS announces",
    ),
    policy: Nullable(PolicyFile),
    mode: Nullable(word(["enforce", "testing", "none"], "Mode of the policy; null without a valid one")),
    max_age_s: Nullable(count("How long senders may keep it, seconds; null without a valid policy")),
    mx_match: Nullable(truth("Whether all mail hosts are among those of the policy; null where not known")),
  },
  "MTA-STS (RFC 8461)",
);

/** A brand's logo. */
export const Bimi = record(
  {
    record: Nullable(text("TXT record at default._bimi; null where there is none or it could not be looked up")),
    valid: Nullable(truth("Whether the record is well formed; null where there is none")),
    location: Nullable(text("l=: address of the logo; empty where the domain declines to have one")),
    authority: Nullable(text("a=: address of the certificate that vouches for it; null without one")),
    dmarc_ready: Nullable(truth("Whether DMARC is strict enough for a logo to be shown; null where not known")),
  },
  "BIMI: the logo beside a message",
);
