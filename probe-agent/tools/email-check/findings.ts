import type { Finding, Severity } from "#shared/contracts/findings.ts";
import {
  DMARC_ADVICE,
  type DmarcContext,
  type DmarcFindingId,
  publishDmarc,
} from "#probe-agent/tools/email-check/dmarc-advice.ts";
import type { BimiDraft } from "#probe-agent/analysis/mail/bimi.ts";
import type { MtaStsDraft } from "#probe-agent/analysis/mail/mta-sts.ts";
import {
  BIMI_ADVICE,
  MTA_STS_ADVICE,
  TLS_RPT_ADVICE,
  type PolicyContext,
  publishStsRecord,
  publishTlsRpt,
  serveStsPolicy,
} from "#probe-agent/analysis/mail/policy-advice.ts";
import type { TlsRptDraft } from "#probe-agent/analysis/mail/tls-rpt.ts";
import type { MailCheck, MailFacts } from "#probe-agent/tools/email-check/score.ts";
import { adviseOn, type FindingDraft, finding, type AdviceTable } from "#probe-agent/analysis/text/findings.ts";
import { SPF_ADVICE, type SpfContext, publishEnd, publishSpf } from "#probe-agent/analysis/mail/spf/advice.ts";
import type { SpfDraft, SpfFindingId } from "#probe-agent/analysis/mail/spf/draft.ts";
import { listFirst } from "#shared/text/list.ts";

/** Findings on the records of a domain's mail configuration. */
export interface MailDrafts {
  readonly spf: readonly SpfDraft[];
  readonly dmarc: readonly FindingDraft<DmarcFindingId>[];
  readonly mtaSts: readonly MtaStsDraft[];
  readonly tlsRpt: readonly TlsRptDraft[];
  readonly bimi: readonly BimiDraft[];
}

/** Maximum number of findings of one result. */
export const MAIL_FINDINGS_MAX = 80;

/** Findings that repeat the finding of a check: spf_all, spf_lookups, dmarc_subdomains or dmarc_reports. */
const COVERED_BY_CHECKS: ReadonlySet<SpfFindingId | DmarcFindingId> = new Set<SpfFindingId | DmarcFindingId>([
  "spf-passes-everyone",
  "spf-neutral-all",
  "spf-without-all",
  "spf-too-many-lookups",
  "dmarc-weaker-subdomains",
  "dmarc-without-rua",
]);

/** Removes the findings on reverse names, which the finding of the check reverse_names repeats. */
export function withoutReverseNames(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ id }) => id !== "no-reverse-name" && id !== "reverse-name-mismatch");
}

/** Makes all findings on the policies of a domain: first those of failed checks, then those of the records. */
export function mailFindings(
  facts: MailFacts,
  checks: readonly MailCheck[],
  drafts: MailDrafts,
  context: PolicyContext,
): Finding[] {
  const { domain } = context;
  const spf: SpfContext = {
    domain,
    record: facts.spf.record,
    provider: facts.mx.provider,
    nullMx: facts.mx.null_mx === true,
  };
  const { record, found_at: foundAt } = facts.dmarc;
  const dmarc: DmarcContext = { domain, record, foundAt: foundAt ?? domain };
  return [
    ...findingsOfChecks(checks, facts, { ...context, spf, dmarc }),
    ...adviseOn(SPF_ADVICE, drafts.spf.filter(isNotCovered), spf, "spf"),
    ...adviseOn(DMARC_ADVICE, drafts.dmarc.filter(isNotCovered), dmarc, "dmarc"),
    ...adviseOn(MTA_STS_ADVICE, drafts.mtaSts, context, "mta_sts"),
    ...adviseOn(TLS_RPT_ADVICE, drafts.tlsRpt, context, "tls_rpt"),
    ...adviseOn(BIMI_ADVICE, drafts.bimi, context, "bimi"),
  ];
}

function isNotCovered({ id }: FindingDraft<SpfFindingId> | FindingDraft<DmarcFindingId>): boolean {
  return !COVERED_BY_CHECKS.has(id);
}

/** Facts about a domain that the advice uses. */
type CheckContext = PolicyContext & {
  readonly spf: SpfContext;
  readonly dmarc: DmarcContext;
};
type AdvisedDomain = CheckContext & { readonly facts: MailFacts };

/** Severity and advice of one check that is not passed. */
type CheckAdvice = AdviceTable<string, AdvisedDomain>[string] & {
  /** Overrides the severity if the facts decide it. */
  readonly severityOf?: (facts: MailFacts) => Severity;
  /** Whether the check depends on another check that failed. Then the finding of the other check is enough. */
  readonly follows?: (facts: MailFacts) => boolean;
  /** Replaces the check's detail as the message; null keeps the detail. */
  readonly message?: (facts: MailFacts) => string | null;
};

const hasNoSpf = ({ spf }: MailFacts): boolean => spf.state === "absent";
const hasNoDmarc = ({ dmarc }: MailFacts): boolean => dmarc.policy_effective === null;

/** Severity and advice of each check that is not passed, by its id. */
const CHECK_ADVICE: Readonly<Record<string, CheckAdvice>> = {
  spf_valid: {
    severity: "critical",
    severityOf: (facts) => (hasNoSpf(facts) ? "warning" : "critical"),
    how: ({ spf, facts }) =>
      hasNoSpf(facts)
        ? publishSpf(spf)
        : `Correct the SPF record at ${spf.domain} as described in the other SPF findings.`,
    reference: "https://www.rfc-editor.org/rfc/rfc7208#section-4.5",
    message: (facts) => (hasNoSpf(facts) ? null : "The SPF record is invalid: receivers return permerror."),
  },
  spf_all: {
    severity: "warning",
    severityOf: ({ spf }) => (spf.passes_all ? "critical" : "warning"),
    how: ({ spf }) => publishEnd(spf),
    reference: "https://www.rfc-editor.org/rfc/rfc7208#section-5.1",
    follows: hasNoSpf,
    message: ({ spf: { passes_all: everyone, all_qualifier: all } }) => {
      if (everyone) return "The SPF record passes every sender on the internet.";
      const end = all === null ? "ends without all" : `ends with an all that returns ${all}`;
      return `The SPF record ${end}: other senders are not refused.`;
    },
  },
  spf_lookups: {
    severity: "critical",
    how: ({ spf }) =>
      `Reduce the record to 10 or fewer terms with a DNS lookup: remove includes of services that no longer send for ${spf.domain}, replace a and mx with ip4: and ip6: terms, or move a service to a subdomain.`,
    reference: "https://www.rfc-editor.org/rfc/rfc7208#section-4.6.4",
    follows: (facts) => facts.spf.lookups === null,
  },
  dmarc_present: {
    severity: "critical",
    how: ({ dmarc }) => publishDmarc(dmarc, {}),
    reference: "https://www.rfc-editor.org/rfc/rfc9989#section-4.7",
    message: () => "No DMARC record applies: anyone can send mail in the domain's name.",
  },
  dmarc_policy: {
    severity: "warning",
    severityOf: ({ dmarc }) => (dmarc.policy_effective === "none" ? "warning" : "info"),
    how: ({ dmarc, facts }) =>
      publishDmarc(dmarc, {
        t: null,
        ...(dmarc.foundAt === dmarc.domain ? {} : { sp: null }),
        p: facts.dmarc.policy_effective === "none" ? "quarantine" : "reject",
      }),
    reference: "https://www.rfc-editor.org/rfc/rfc9989#section-4.7",
    follows: hasNoDmarc,
    message: ({ dmarc }) =>
      dmarc.policy_effective === "none"
        ? "The DMARC policy in effect is none: mail that fails is delivered."
        : "The DMARC policy in effect is quarantine: mail that fails goes to spam folders and is not refused.",
  },
  dmarc_subdomains: {
    severity: "warning",
    how: ({ dmarc }) => publishDmarc(dmarc, { sp: null, np: null }),
    reference: "https://www.rfc-editor.org/rfc/rfc9989#section-4.7",
    follows: hasNoDmarc,
    message: ({ policies }) =>
      policies === null
        ? null
        : `The DMARC policy is ${policies.own} for the domain, ${policies.sub} for its subdomains and ${policies.absent} for names that do not exist.`,
  },
  dmarc_reports: {
    severity: "info",
    how: ({ dmarc }) => publishDmarc(dmarc, { rua: `mailto:dmarc-reports@${dmarc.foundAt}` }),
    reference: "https://www.rfc-editor.org/rfc/rfc9989#section-4.7",
    follows: hasNoDmarc,
    message: () => "No usable address receives DMARC reports, so the domain's owner cannot see who sends in its name.",
  },
  dkim_key: {
    severity: "warning",
    how: ({ domain }) =>
      `Make an RSA key of 2048 bits (openssl genrsa -out dkim-private.pem 2048) and publish it at <selector>._domainkey.${domain}: "v=DKIM1; k=rsa; p=<base64 of the public key>", with p from: openssl pkey -in dkim-private.pem -pubout -outform DER | openssl base64 -A`,
    reference: "https://www.rfc-editor.org/rfc/rfc8301#section-3.2",
    message: ({ selectors }) =>
      `None of the DKIM keys found (${selectors
        .slice(0, 5)
        .map(({ selector }) => selector)
        .join(", ")}) is valid and of 2048 bits or Ed25519.`,
  },
  transport: {
    severity: "warning",
    how: (context) =>
      context.facts.mtaSts.mode === "testing"
        ? `Set "mode: enforce" in the policy when reports show no failures, then publish a new id. ${publishStsRecord(context)}`
        : `${publishStsRecord(context)}. ${serveStsPolicy(context)}`,
    reference: "https://www.rfc-editor.org/rfc/rfc8461",
    message: ({ mtaSts, dane }) =>
      `Neither MTA-STS (mode ${mtaSts.mode ?? "not published"}) nor DANE (${dane.hosts_secure} of ${dane.hosts_total} mail hosts) forces senders to encrypt: an attacker on the network path can read incoming mail.`,
  },
  tls_rpt: {
    severity: "info",
    how: publishTlsRpt,
    reference: "https://www.rfc-editor.org/rfc/rfc8460#section-3",
    message: () => "The domain requests no reports on TLS failures of incoming mail.",
  },
  reverse_names: {
    severity: "warning",
    how: "Ask the operator of each address (the hosting provider) for a PTR record that names its mail host, and publish the address at that name.",
    reference: "https://support.google.com/a/answer/81126",
    message: (facts) =>
      `Reverse names that are missing or do not resolve to their address: ${listReverseFaults(facts)}.`,
  },
};

const MAX_NAMED = 5;
/** Field of the result for each check of the category MX/TLS. */
const PARTS: Readonly<Record<string, string>> = { transport: "mta_sts", tls_rpt: "tls_rpt", reverse_names: "mx" };

function fieldOf(id: string, category: MailCheck["category"]): string {
  return category === "MX/TLS" ? (PARTS[id] ?? "mx") : category.toLowerCase();
}

/** Makes a finding for each check that is not passed, unless another finding has its cause. */
function findingsOfChecks(checks: readonly MailCheck[], facts: MailFacts, context: CheckContext): Finding[] {
  const drafts = checks.flatMap(({ id, category, status, detail }) => {
    const check = CHECK_ADVICE[id];
    const isOpen = status === "fail" || status === "partial";
    if (check === undefined || !isOpen || check.follows?.(facts) === true) return [];
    return [finding(id, fieldOf(id, category), check.message?.(facts) ?? detail, check.severityOf?.(facts))];
  });
  return adviseOn(CHECK_ADVICE, drafts, { ...context, facts });
}

/** Lists the first five addresses whose reverse name is missing or does not resolve to the address. */
function listReverseFaults({ mx }: MailFacts): string {
  const faults = mx.records.flatMap(({ host, addresses }) =>
    addresses
      .filter(({ has_ptr: named, fcrdns }) => named === false || fcrdns === false)
      .map(({ ip, ptr }) => `${ip} of ${host} (${ptr ?? "none"})`),
  );
  return listFirst(faults, MAX_NAMED);
}
