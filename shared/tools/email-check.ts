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
  category: word(["SPF", "DMARC", "DKIM", "MX/TLS"], "What it belongs to"),
  status: word(["pass", "partial", "fail", "na"], "na: does not apply or could not be told, left out of the score"),
  score: points("Points earned; 0 where na"),
  max: points("Points to be had"),
  detail: text("What was found"),
});

const Result = Type.Object({
  domain: text("Domain asked about, A-labels"),
  exists: Nullable(truth("Whether the name exists in DNS; null where that could not be told")),
  score: Nullable(points("Points earned of those that apply, percent; null where nothing could be told")),
  grade: Nullable(letterGrade("By score: 95, 90, 80, 70, 60; null without one")),
  spoofable: Nullable(truth("Whether a stranger's mail in this domain's name gets through; null where not known")),
  spoofable_reason: text("Why"),
  checks: list(Check, "What the score is made of, in fixed order"),
  spf: Spf,
  dmarc: Dmarc,
  dkim: record(
    {
      selectors: list(DkimSelector, "Keys found under well-known selectors; others may exist"),
      wildcard: Nullable(truth("Whether every selector has the same record; null where not known")),
    },
    "DKIM keys found; DNS has no way to list them all",
  ),
  mx: record(ROUTING_FIELDS, "Where mail for the domain goes"),
  mta_sts: MtaSts,
  tls_rpt: TlsRpt,
  bimi: Bimi,
  dane: record(
    {
      status: word(
        ["all", "some", "none", "unknown"],
        "How many mail hosts have TLSA records that validate; none also where the MX records are not signed",
      ),
      hosts_secure: count("Mail hosts with TLSA records that validate"),
      hosts_total: count("Mail hosts looked at"),
      mx_secure: Nullable(
        truth("Whether the MX records validate, without which DANE counts for nothing; null where not asked"),
      ),
    },
    "DANE over all mail hosts (RFC 7672)",
  ),
  findings: findings(
    "What is wrong or worth knowing, worst first, with the record to publish; where is the part of the result, e.g. dmarc or a selector",
  ),
  ...OBSERVED_FIELDS,
});

/** How well a domain's mail is protected, and whether strangers can send in its name. */
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
