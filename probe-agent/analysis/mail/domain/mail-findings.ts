import type { Finding } from "#shared/findings.ts";
import { DMARC_GUIDE, type DmarcContext, type DmarcFindingId } from "#probe-agent/analysis/mail/dmarc/findings.ts";
import type { BimiRemark } from "#probe-agent/analysis/mail/domain/bimi.ts";
import { findingsOfChecks } from "#probe-agent/analysis/mail/domain/check-findings.ts";
import type { MtaStsRemark } from "#probe-agent/analysis/mail/domain/mta-sts.ts";
import {
  BIMI_GUIDE,
  MTA_STS_GUIDE,
  TLS_RPT_GUIDE,
  type PolicyContext,
} from "#probe-agent/analysis/mail/domain/policy-guide.ts";
import type { TlsRptRemark } from "#probe-agent/analysis/mail/domain/tls-rpt.ts";
import type { MailCheck, MailFacts } from "#probe-agent/analysis/mail/domain/score.ts";
import { adviseOn, type Remark } from "#probe-agent/analysis/mail/remarks.ts";
import { SPF_GUIDE, type SpfContext } from "#probe-agent/analysis/mail/spf/findings.ts";
import type { SpfRemark, SpfRemarkId } from "#probe-agent/analysis/mail/spf/remark.ts";

/** Remarks on the records of a domain's mail configuration. */
export interface MailRemarks {
  readonly spf: readonly SpfRemark[];
  readonly dmarc: readonly Remark<DmarcFindingId>[];
  readonly mtaSts: readonly MtaStsRemark[];
  readonly tlsRpt: readonly TlsRptRemark[];
  readonly bimi: readonly BimiRemark[];
}

/** Maximum number of findings of one result. */
export const MAIL_FINDINGS_MAX = 80;

/** Remarks that repeat the finding of a check: spf_all, spf_lookups, dmarc_subdomains or dmarc_reports. */
const COVERED_BY_CHECKS: ReadonlySet<SpfRemarkId | DmarcFindingId> = new Set<SpfRemarkId | DmarcFindingId>([
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
  remarks: MailRemarks,
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
    ...adviseOn(SPF_GUIDE, remarks.spf.filter(isNotCovered), spf, "spf"),
    ...adviseOn(DMARC_GUIDE, remarks.dmarc.filter(isNotCovered), dmarc, "dmarc"),
    ...adviseOn(MTA_STS_GUIDE, remarks.mtaSts, context, "mta_sts"),
    ...adviseOn(TLS_RPT_GUIDE, remarks.tlsRpt, context, "tls_rpt"),
    ...adviseOn(BIMI_GUIDE, remarks.bimi, context, "bimi"),
  ];
}

function isNotCovered({ id }: Remark<SpfRemarkId> | Remark<DmarcFindingId>): boolean {
  return !COVERED_BY_CHECKS.has(id);
}
