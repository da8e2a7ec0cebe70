import { readBimi, type BimiRemark } from "#probe-agent/analysis/mail/domain/bimi.ts";
import type { LookUp } from "#probe-agent/sources/dns-look-up.ts";
import { textsBelow } from "#probe-agent/tools/mx/announcements.ts";
import type { RoutingResult } from "#probe-agent/tools/mx/routing.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { emailCheck } from "#shared/tools/email-check.ts";

type Result = ResultOf<typeof emailCheck>;

/** Reads the BIMI record and checks whether the DMARC policy is strict enough for it (BIMI draft section 7.1). */
export async function inspectBimi(
  lookUp: LookUp,
  domain: string,
  dmarc: Promise<Result["dmarc"]>,
): Promise<{ readonly result: Result["bimi"]; readonly remarks: readonly BimiRemark[] }> {
  const texts = await textsBelow(lookUp, "default._bimi", domain);
  const { policy_effective: policy, org_domain: org, sp, pct } = await dmarc;
  const ready =
    org === null ? null : (policy === "quarantine" || policy === "reject") && sp !== "none" && (pct ?? 100) === 100;
  if (texts === null) {
    const unknown = { record: null, valid: null, location: null, authority: null, dmarc_ready: ready };
    return { result: unknown, remarks: [] };
  }
  const { issues, ...bimi } = readBimi(texts);
  const message =
    "Receivers show no logo: the DMARC policy must be quarantine or reject for all mail, including subdomains.";
  const isIdle = bimi.record !== null && bimi.location !== "" && ready === false;
  return {
    result: { ...bimi, dmarc_ready: ready },
    remarks: [...issues, ...(isIdle ? [{ id: "bimi-dmarc-not-enforced", message } as const] : [])],
  };
}

/**
 * Summarizes DANE over all mail hosts. DANE protects a domain only if every host has it and the MX records are signed
 * (RFC 7672 section 2.2.1).
 */
export function summariseDane(
  { records, null_mx: nullMx }: Pick<RoutingResult, "records" | "null_mx">,
  mxSecure: boolean | null,
): Result["dane"] {
  const hosts = records.filter(({ host }) => host !== ".");
  const secure = hosts.filter(({ dane }) => dane.status === "secure" && dane.records.some(({ usable }) => usable));
  const unsure =
    nullMx === null || hosts.some(({ dane }) => dane.status === "unknown") || (secure.length > 0 && mxSecure === null);
  const all = hosts.length > 0 && secure.length === hosts.length;
  const status = unsure ? "unknown" : secure.length === 0 || mxSecure === false ? "none" : all ? "all" : "some";
  return { status, hosts_secure: secure.length, hosts_total: hosts.length, mx_secure: mxSecure };
}
