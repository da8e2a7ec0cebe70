import { readMtaStsRecord, type MtaStsDraft } from "#probe-agent/analysis/mail/mta-sts.ts";
import { readTlsRpt, type TlsRptDraft } from "#probe-agent/analysis/mail/tls-rpt.ts";
import { textsOf, type LookUp } from "#probe-agent/sources/dns-look-up.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { mx } from "#shared/tools/mx/contract.ts";

type Result = ResultOf<typeof mx>;

/** Returns the name of a label below a domain, without a final dot. */
export function nameBelow(label: string, domain: string): string {
  return domain === "." ? label : `${label}.${domain}`;
}

/** Looks up the TXT texts of a name below the domain. Returns null if the lookup fails. */
export async function textsBelow(lookUp: LookUp, label: string, domain: string): Promise<string[] | null> {
  const found = await lookUp(nameBelow(label, domain), "TXT");
  return found.state === "unknown" ? null : textsOf(found);
}

/** Looks up and checks the MTA-STS record. Fields are null if the lookup fails. */
export async function lookUpMtaStsRecord(
  lookUp: LookUp,
  domain: string,
): Promise<{ readonly result: Result["mta_sts"]; readonly drafts: readonly MtaStsDraft[] }> {
  const texts = await textsBelow(lookUp, "_mta-sts", domain);
  if (texts === null) return { result: { record: null, present: null, id: null }, drafts: [] };
  const { issues, ...result } = readMtaStsRecord(texts);
  return { result, drafts: issues };
}

/** Looks up and checks the TLSRPT record. Fields are null if the lookup fails. */
export async function lookUpTlsRpt(
  lookUp: LookUp,
  domain: string,
): Promise<{ readonly result: Result["tls_rpt"]; readonly drafts: readonly TlsRptDraft[] }> {
  const texts = await textsBelow(lookUp, "_smtp._tls", domain);
  if (texts === null) return { result: { record: null, valid: null, rua: [] }, drafts: [] };
  const { rua, issues, ...found } = readTlsRpt(texts);
  return { result: { ...found, rua: [...rua] }, drafts: issues };
}

/** Returns limitations for the lookups that failed. */
export function describeFailedLookups(lookUp: LookUp): string[] {
  const all = lookUp.unanswered;
  const listed = all.slice(0, 20).map((question) => `DNS lookup failed: ${question.slice(0, 300)}.`);
  return all.length > listed.length ? [...listed, `${all.length - listed.length} more DNS lookups failed.`] : listed;
}
