import { Type, type Static } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Domain, Nullable } from "#shared/tools/fields.ts";
import { DkimSelector } from "#shared/tools/mail/dkim-key.ts";
import { ROUTING_FIELDS, TlsRpt } from "#shared/tools/mail/fields.ts";
import { Bimi, Dmarc, MtaSts, Spf } from "#shared/tools/mail/policies.ts";
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
} from "#shared/tools/shapes.ts";

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
