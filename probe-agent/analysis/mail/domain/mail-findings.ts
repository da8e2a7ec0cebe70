import type { Finding } from "#shared/contracts/findings.ts";
import { DMARC_ADVICE, type DmarcContext, type DmarcFindingId } from "#probe-agent/analysis/mail/dmarc/advice.ts";
import type { BimiDraft } from "#probe-agent/analysis/mail/domain/bimi.ts";
import { findingsOfChecks } from "#probe-agent/analysis/mail/domain/check-findings.ts";
import type { MtaStsDraft } from "#probe-agent/analysis/mail/domain/mta-sts.ts";
import {
  BIMI_ADVICE,
  MTA_STS_ADVICE,
  TLS_RPT_ADVICE,
  type PolicyContext,
} from "#probe-agent/analysis/mail/domain/policy-advice.ts";
import type { TlsRptDraft } from "#probe-agent/analysis/mail/domain/tls-rpt.ts";
import type { MailCheck, MailFacts } from "#probe-agent/analysis/mail/domain/score.ts";
import { adviseOn, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { SPF_ADVICE, type SpfContext } from "#probe-agent/analysis/mail/spf/advice.ts";
import type { SpfDraft, SpfFindingId } from "#probe-agent/analysis/mail/spf/draft.ts";

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
