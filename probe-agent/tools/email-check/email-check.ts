import { ok } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { emailCheck as contract } from "#shared/tools/email-check/contract.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";
import {
  MAIL_FINDINGS_MAX,
  mailFindings,
  withoutReverseNames,
  type MailDrafts,
} from "#probe-agent/tools/email-check/findings.ts";
import { boundFindings } from "#probe-agent/analysis/text/findings.ts";
import { assessSpoofing, scoreMail, type MailFacts } from "#probe-agent/tools/email-check/score.ts";
import { reportSpf, type SpfReport } from "#probe-agent/tools/email-check/spf-report.ts";
import { walkSpf } from "#probe-agent/tools/email-check/spf-tree.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { createLookUp, type LookUp } from "#probe-agent/sources/dns-look-up.ts";
import { spfResolver } from "#probe-agent/sources/spf-resolver.ts";
import { discoverSelectors, discoveryLimits, selectorFindings, selectorRow } from "#probe-agent/tools/dkim/dkim.ts";
import { inspectDmarc, inspectMtaSts } from "#probe-agent/tools/email-check/policies.ts";
import { implement, type Implementation, type Untimed } from "#probe-agent/tools/implement.ts";
import { lookUpTlsRpt, describeFailedLookups, textsBelow } from "#probe-agent/tools/mx/announcements.ts";
import { areExchangersSecure } from "#probe-agent/tools/mx/dane.ts";
import { inspectRouting, type RoutingResult } from "#probe-agent/tools/mx/routing.ts";
import { readBimi, type BimiDraft } from "#probe-agent/analysis/mail/bimi.ts";

type Result = Untimed<ResultOf<typeof contract>>;

const RESERVE_MS = 500;

/** Makes the email-check tool, which fetches MTA-STS policies from the port `https`. Its parts run in parallel. */
export function emailCheckOn(ports: {
  readonly https: number;
}): Implementation<typeof contract.params.properties, typeof contract.result.properties> {
  return implement(contract, async (net, { domain }) => {
    const observedAt = net.now().toISOString();
    const lookUp = createLookUp(net);
    const parts = await gather(net, lookUp, domain, ports.https);
    const { spf, dmarc, dkim, dkimLimits, routed, mtaSts, tlsRpt, bimi, dane, exists } = parts;
    const { routing } = routed;
    const facts: MailFacts = {
      spf,
      dmarc: dmarc.result,
      dmarcUncertain: dmarc.uncertain,
      policies: dmarc.policies,
      selectors: dkim.selectors,
      mx: routing,
      mtaSts,
      tlsRpt,
      dane,
    };
    const { spoofable, reason } = assessSpoofing(facts);
    const score = scoreMail(facts);
    const drafts: MailDrafts = { ...parts.drafts, spf: [...spf.errors, ...spf.warnings] };
    const context = { domain, hosts: routing.records.map(({ host }) => host), now: net.now() };
    const policyFindings = mailFindings(facts, score.checks, drafts, context);
    const { findings, limitations } = boundFindings([...policyFindings, ...parts.findings], MAIL_FINDINGS_MAX);
    const { state: _state, unknowns: _unknowns, errors: _errors, warnings: _warnings, ...spfFields } = spf;
    return ok<Result>({
      domain,
      exists,
      ...score,
      spoofable,
      spoofable_reason: reason,
      spf: {
        ...spfFields,
        mechanisms: [...spf.mechanisms],
        includes: [...spf.includes],
      },
      dmarc: dmarc.result,
      dkim,
      mx: routing,
      mta_sts: mtaSts,
      tls_rpt: tlsRpt,
      bimi,
      dane,
      findings,
      source: mtaSts.policy === null ? ["dns"] : ["dns", "mta-sts"],
      observed_at: observedAt,
      limitations: [...describeFailedLookups(lookUp), ...routed.limitations, dkimLimits, ...limitations],
    });
  });
}

/** The email-check tool with the standard port of HTTPS. */
export const emailCheck = emailCheckOn({ https: 443 });

/** Checks all parts of a domain's mail configuration in parallel. */
async function gather(net: Net, lookUp: LookUp, domain: string, port: number) {
  const pendingDmarc = inspectDmarc(lookUp, domain);
  // The names of the hosts are known long before their other data. The lookup is made only once.
  const names = lookUp(domain, "MX").then(({ state, records }) =>
    state === "records" ? records.map(({ typed }) => String(typed["exchange"])) : state === "unknown" ? null : [domain],
  );
  const [spf, dmarc, dkim, routed, mtaSts, tlsRpt, bimi] = await Promise.all([
    inspectSpf(lookUp, domain),
    pendingDmarc,
    discoverSelectors(lookUp, domain),
    inspectRouting(net, lookUp, domain),
    inspectMtaSts(net, lookUp, domain, port, names),
    lookUpTlsRpt(lookUp, domain),
    inspectBimi(
      lookUp,
      domain,
      pendingDmarc.then(({ result }) => result),
    ),
  ]);
  const { records } = routed.routing;
  const signed = records.some(({ dane }) => dane.status === "secure");
  const mxSecure = signed
    ? await waitAtMost(net.remainingMs() - RESERVE_MS, areExchangersSecure(net, domain), null)
    : null;
  const { state } = await lookUp(domain, "MX");
  return {
    spf,
    dmarc,
    dkim: { selectors: dkim.found.map(selectorRow), wildcard: dkim.wildcard },
    dkimLimits: discoveryLimits(dkim),
    routed,
    mtaSts: mtaSts.result,
    tlsRpt: tlsRpt.result,
    bimi: bimi.result,
    drafts: {
      dmarc: dmarc.drafts,
      mtaSts: mtaSts.drafts,
      tlsRpt: tlsRpt.drafts,
      bimi: bimi.drafts,
    },
    findings: [
      ...withoutReverseNames(routed.findings),
      ...[...dkim.found, ...dkim.dangling].flatMap((facts) => selectorFindings(facts, domain)),
    ],
    dane: summariseDane(routed.routing, mxSecure),
    exists: state === "unknown" ? null : state !== "absent",
  };
}

async function inspectSpf(lookUp: LookUp, domain: string): Promise<SpfReport> {
  return reportSpf(await walkSpf(domain, spfResolver(lookUp)));
}

/** Reads the BIMI record and checks whether the DMARC policy is strict enough for it (BIMI draft section 7.1). */
async function inspectBimi(
  lookUp: LookUp,
  domain: string,
  dmarc: Promise<Result["dmarc"]>,
): Promise<{ readonly result: Result["bimi"]; readonly drafts: readonly BimiDraft[] }> {
  const texts = await textsBelow(lookUp, "default._bimi", domain);
  const { policy_effective: policy, org_domain: org, sp, pct } = await dmarc;
  const ready =
    org === null ? null : (policy === "quarantine" || policy === "reject") && sp !== "none" && (pct ?? 100) === 100;
  if (texts === null) {
    const unknown = { record: null, valid: null, location: null, authority: null, dmarc_ready: ready };
    return { result: unknown, drafts: [] };
  }
  const { issues, ...bimi } = readBimi(texts);
  const message =
    "Receivers show no logo: the DMARC policy must be quarantine or reject for all mail, including subdomains.";
  const isIdle = bimi.record !== null && bimi.location !== "" && ready === false;
  return {
    result: { ...bimi, dmarc_ready: ready },
    drafts: [...issues, ...(isIdle ? [{ id: "bimi-dmarc-not-enforced", message } as const] : [])],
  };
}

/**
 * Summarizes DANE over all mail hosts. DANE protects a domain only if every host has it and the MX records are signed
 * (RFC 7672 section 2.2.1).
 */
function summariseDane(
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
