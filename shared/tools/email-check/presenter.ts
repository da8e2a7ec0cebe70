import { existing, fact, table } from "#shared/presentation/build.ts";
import type { Fact, Table, Verdict } from "#shared/presentation/presentation.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { describeDkimKey, dkimKeyTable } from "#shared/tools/dkim/key-table.ts";
import { describeDane, describeTargets, mailHostNames, mailHostTable, whyNoMail } from "#shared/tools/mx/mail-hosts.ts";
import { describeDmarc, describeMtaSts, describeSpf } from "#shared/tools/email-check/policies.ts";
import { yesNo } from "#shared/presentation/values.ts";
import { verdictOf, verdictOfGrade, worst } from "#shared/presentation/verdict.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { emailCheck as contract } from "#shared/tools/email-check/contract.ts";

type EmailCheck = ResultOf<typeof contract>;

const MOST_NAMED = 3;

const FORGED = { none: "is delivered", quarantine: "goes to spam folders", reject: "is refused" } as const;

/** email-check: whether others can send in the domain's name, then its policies, what costs points, and its records. */
export const emailCheck = definePresenter(contract, (data) => ({
  verdict: worst([verdictOf(data.findings), data.grade === null ? "warning" : "good"]),
  headline: headlineOf(data),
  facts: existing(
    fact("Grade", data.grade === null ? null : `${data.grade} (${data.score ?? 0} of 100)`, {
      tone: data.grade === null ? null : verdictOfGrade(data.grade),
    }),
    fact("Can be forged", yesNo(data.spoofable) ?? "not known", { tone: toneOfSpoofing(data.spoofable) }),
    policyFact("DMARC", isUnknown(data, "dmarc_present") ? null : describeDmarc(data.dmarc, data.domain)),
    policyFact("SPF", isUnknown(data, "spf_valid") && data.spf.record === null ? null : describeSpf(data.spf)),
    dkimFact(data.dkim.selectors),
    fact("Mail hosts", describeHosts(data)),
    fact("Provider", data.mx.provider),
    policyFact("MTA-STS", describeMtaSts(data.mta_sts)),
    fact("DANE", describeDane(data.mx)),
    fact("DMARC reports to", data.dmarc.record === null ? null : describeTargets(data.dmarc.rua)),
    fact("TLS reports to", data.tls_rpt.valid === true ? describeTargets(data.tls_rpt.rua) : null),
    fact(
      "Logo (BIMI)",
      data.bimi.record === null ? null : data.bimi.valid === true ? data.bimi.location || "declined" : "invalid",
    ),
    fact("DMARC record", data.dmarc.record),
    fact("SPF record", data.spf.record),
  ),
  tables: existing(
    lossTable(data.checks),
    data.spf.includes.length === 0 ? null : spfTable(data.spf),
    dkimKeyTable(data.dkim.selectors),
    mailHostTable(data.mx),
  ),
}));

function headlineOf(data: EmailCheck): string {
  const { domain, grade, spoofable, dmarc, findings } = data;
  if (data.exists === false) return `${domain} does not exist`;
  if (grade === null) return `The mail records of ${domain} cannot be looked up`;
  const why = whyNoMail(findings);
  const but = why === null ? "" : `; mail to it does not arrive: ${why}`;
  if (spoofable === true)
    return `Anyone can send mail as ${domain} (grade ${grade}): ${decapitalize(data.spoofable_reason)}`;
  const policy = dmarc.policy_effective;
  if (spoofable === null || policy === null)
    return `${domain}: grade ${grade}; whether others can send as it is not known${but}`;
  return `${domain}: grade ${grade}, forged mail ${FORGED[policy]}${but}`;
}

/** Begins a sentence in lower case, but not a name like SPF, and drops its final dot. */
function decapitalize(sentence: string): string {
  const text = sentence.replace(/\.$/, "");
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

function isUnknown({ checks }: EmailCheck, id: string): boolean {
  return checks.some((check) => check.id === id && check.status === "na");
}

function toneOfSpoofing(spoofable: boolean | null): Verdict | null {
  if (spoofable === null) return null;
  return spoofable ? "bad" : "good";
}

/** Makes the fact of a policy; null means that its lookup failed. */
function policyFact(label: string, policy: readonly [text: string, tone: Verdict | null] | null): Fact | null {
  const [text, tone] = policy ?? ["not known", null];
  return fact(label, text, { tone });
}

function dkimFact(selectors: EmailCheck["dkim"]["selectors"]): Fact | null {
  const usable = selectors.filter(({ valid }) => valid);
  const keys = usable.map(({ selector, key }) => `${selector} (${describeDkimKey(key) ?? "unknown kind"})`);
  if (keys.length > 0) return fact("DKIM", listFirst(keys, MOST_NAMED));
  return selectors.length === 0
    ? fact("DKIM", "no key found under well-known names")
    : fact("DKIM", "no usable key", { tone: "bad" });
}

function describeHosts({ mx }: EmailCheck): string | null {
  const names = mailHostNames(mx);
  if (names.length > 0) return listFirst(names, MOST_NAMED);
  return mx.null_mx === true ? "none: accepts no mail" : mx.null_mx === null ? "not known" : "none";
}

/** Lists the checks that cost points, those that cost the most first: they are to be mended first. */
function lossTable(checks: EmailCheck["checks"]): Table | null {
  const open = checks.filter(({ status }) => status === "fail" || status === "partial");
  return table(
    "What costs points",
    ["Part", "#Lost", "Reason"],
    open
      .toSorted((a, b) => b.max - b.score - (a.max - a.score))
      .map(({ category, status, score, max, detail }) => ({
        cells: [category, `${max - score} of ${max}`, detail],
        tone: status === "fail" ? "bad" : "warning",
      })),
  );
}

function spfTable({ mechanisms }: EmailCheck["spf"]): Table | null {
  return table(
    "SPF with what it includes",
    ["Term", "Record of", "#Lookups"],
    mechanisms.map(({ term, domain, lookups }) => [term, domain, lookups === 0 ? null : lookups]),
  );
}
