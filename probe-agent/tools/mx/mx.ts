import { ok } from "#shared/contracts/outcome.ts";
import { mx as contract } from "#shared/tools/mx/contract.ts";
import { MTA_STS_ADVICE, TLS_RPT_ADVICE } from "#probe-agent/analysis/mail/policy-advice.ts";
import { adviseOn, boundFindings } from "#probe-agent/analysis/text/findings.ts";
import { createLookUp } from "#probe-agent/sources/dns-look-up.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { lookUpMtaStsRecord, lookUpTlsRpt, describeFailedLookups } from "#probe-agent/tools/mx/announcements.ts";
import { inspectRouting } from "#probe-agent/tools/mx/routing.ts";

/** Checks the mail hosts of a domain with parallel lookups. A failed lookup makes its part unknown, never absent. */
export const mx = implement(contract, async (net, { domain }) => {
  const observedAt = net.now().toISOString();
  const lookUp = createLookUp(net);
  const [{ routing, findings: routed, limitations }, mtaSts, tlsRpt] = await Promise.all([
    inspectRouting(net, lookUp, domain),
    lookUpMtaStsRecord(lookUp, domain),
    lookUpTlsRpt(lookUp, domain),
  ]);
  const context = { domain, hosts: routing.records.map(({ host }) => host), now: net.now() };
  const { findings, limitations: cut } = boundFindings(
    [
      ...routed,
      ...adviseOn(MTA_STS_ADVICE, mtaSts.drafts, context, "mta_sts"),
      ...adviseOn(TLS_RPT_ADVICE, tlsRpt.drafts, context, "tls_rpt"),
    ],
    MAX_FINDINGS,
  );
  const cymru = routing.records.some(({ addresses }) => addresses.some(({ asn }) => asn !== null));
  return ok({
    domain,
    ...routing,
    mta_sts: mtaSts.result,
    tls_rpt: tlsRpt.result,
    findings,
    source: cymru ? ["dns", "cymru"] : ["dns"],
    observed_at: observedAt,
    limitations: [
      ...describeFailedLookups(lookUp),
      ...limitations,
      "The mail hosts were not contacted; use smtp-test to check whether they answer and offer STARTTLS.",
      ...cut,
    ],
  });
});

const MAX_FINDINGS = 60;
