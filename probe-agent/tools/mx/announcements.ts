import { readMtaStsRecord, type MtaStsRemark } from "#probe-agent/analysis/mail/domain/mta-sts.ts";
import { readTlsRpt, type TlsRptRemark } from "#probe-agent/analysis/mail/domain/tls-rpt.ts";
import { textsOf, type LookUp } from "#probe-agent/sources/dns-look-up.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { mx } from "#shared/tools/mx.ts";

type Result = ResultOf<typeof mx>;

/** A name below the domain; the root's own children have no dot behind them. */
export function below(label: string, domain: string): string {
  return domain === "." ? label : `${label}.${domain}`;
}

/** TXT texts of a name below the domain; null where nobody could tell. */
export async function textsBelow(lookUp: LookUp, label: string, domain: string): Promise<string[] | null> {
  const found = await lookUp(below(label, domain), "TXT");
  return found.state === "unknown" ? null : textsOf(found);
}

/** What DNS announces of MTA-STS, and what is wrong with it. */
export async function lookUpMtaStsRecord(
  lookUp: LookUp,
  domain: string,
): Promise<{ readonly result: Result["mta_sts"]; readonly remarks: readonly MtaStsRemark[] }> {
  const texts = await textsBelow(lookUp, "_mta-sts", domain);
  if (texts === null) return { result: { record: null, present: null, id: null }, remarks: [] };
  const { issues, ...result } = readMtaStsRecord(texts);
  return { result, remarks: issues };
}

/** What DNS asks for in reports on TLS, and what is wrong with it. */
export async function lookUpTlsRpt(
  lookUp: LookUp,
  domain: string,
): Promise<{ readonly result: Result["tls_rpt"]; readonly remarks: readonly TlsRptRemark[] }> {
  const texts = await textsBelow(lookUp, "_smtp._tls", domain);
  if (texts === null) return { result: { record: null, valid: null, rua: [] }, remarks: [] };
  const { rua, issues, ...found } = readTlsRpt(texts);
  return { result: { ...found, rua: [...rua] }, remarks: issues };
}

/** Sentences for the questions nobody answered. */
export function silences(lookUp: LookUp): string[] {
  const all = lookUp.unanswered;
  const shown = all.slice(0, 20).map((question) => `Not known, the DNS did not answer: ${question.slice(0, 300)}.`);
  return all.length > shown.length
    ? [...shown, `${all.length - shown.length} more questions were not answered.`]
    : shown;
}
