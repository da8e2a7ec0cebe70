import { ok } from "#shared/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { emailCheck as contract } from "#shared/tools/email-check.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import {
  MAIL_FINDINGS_MAX,
  mailFindings,
  withoutReverseNames,
  type MailRemarks,
} from "#probe-agent/analysis/mail/domain/mail-findings.ts";
import { boundFindings } from "#probe-agent/analysis/mail/remarks.ts";
import { judgeSpoofing, scoreMail, type MailFacts } from "#probe-agent/analysis/mail/domain/verdict.ts";
import { reportSpf, type SpfReport } from "#probe-agent/analysis/mail/spf/report.ts";
import { walkSpf } from "#probe-agent/analysis/mail/spf/tree.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { createLookUp, type LookUp } from "#probe-agent/sources/dns-look-up.ts";
import { spfResolver } from "#probe-agent/sources/spf-resolver.ts";
import {
  discoverSelectors,
  discoveryLimits,
  selectorFindings,
  selectorRow,
} from "#probe-agent/tools/dkim/selectors.ts";
import { lookAtDmarc } from "#probe-agent/tools/email-check/dmarc.ts";
import { lookAtMtaSts } from "#probe-agent/tools/email-check/mta-sts.ts";
import { lookAtBimi, summariseDane } from "#probe-agent/tools/email-check/summary.ts";
import { implement, type Implementation, type Untimed } from "#probe-agent/tools/implement.ts";
import { lookUpTlsRpt, silences } from "#probe-agent/tools/mx/announcements.ts";
import { areExchangersSecure } from "#probe-agent/tools/mx/dane.ts";
import { lookAtRouting } from "#probe-agent/tools/mx/routing.ts";

type Result = Untimed<ResultOf<typeof contract>>;

const RESERVE_MS = 500;

/** Email authentication; the policy of MTA-STS is looked for on `https` of its host. All parts run at once. */
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
    const { spoofable, reason } = judgeSpoofing(facts);
    const score = scoreMail(facts);
    const remarks: MailRemarks = { ...parts.remarks, spf: [...spf.errors, ...spf.warnings] };
    const context = { domain, hosts: routing.records.map(({ host }) => host), now: net.now() };
    const judged = mailFindings(facts, score.checks, remarks, context);
    const { findings, limitations } = boundFindings([...judged, ...parts.findings], MAIL_FINDINGS_MAX);
    const { state: _state, unknowns: _unknowns, errors: _errors, warnings: _warnings, ...spfShown } = spf;
    return ok<Result>({
      domain,
      exists,
      ...score,
      spoofable,
      spoofable_reason: reason,
      spf: {
        ...spfShown,
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
      limitations: [...silences(lookUp), ...routed.limitations, dkimLimits, ...limitations],
    });
  });
}

/** Email authentication on the usual port. */
export const emailCheck = emailCheckOn({ https: 443 });

async function gather(net: Net, lookUp: LookUp, domain: string, port: number) {
  const dmarcing = lookAtDmarc(lookUp, domain);
  // The names alone are known long before all else about the hosts, and asked only once.
  const names = lookUp(domain, "MX").then(({ state, records }) =>
    state === "records" ? records.map(({ typed }) => String(typed["exchange"])) : state === "unknown" ? null : [domain],
  );
  const [spf, dmarc, dkim, routed, mtaSts, tlsRpt, bimi] = await Promise.all([
    lookAtSpf(lookUp, domain),
    dmarcing,
    discoverSelectors(lookUp, domain),
    lookAtRouting(net, lookUp, domain),
    lookAtMtaSts(net, lookUp, domain, port, names),
    lookUpTlsRpt(lookUp, domain),
    lookAtBimi(
      lookUp,
      domain,
      dmarcing.then(({ result }) => result),
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
    remarks: {
      dmarc: dmarc.remarks,
      mtaSts: mtaSts.remarks,
      tlsRpt: tlsRpt.remarks,
      bimi: bimi.remarks,
    },
    findings: [
      ...withoutReverseNames(routed.findings),
      ...[...dkim.found, ...dkim.dangling].flatMap((facts) => selectorFindings(facts, domain)),
    ],
    dane: summariseDane(routed.routing, mxSecure),
    exists: state === "unknown" ? null : state !== "absent",
  };
}

async function lookAtSpf(lookUp: LookUp, domain: string): Promise<SpfReport> {
  return reportSpf(await walkSpf(domain, spfResolver(lookUp)));
}
