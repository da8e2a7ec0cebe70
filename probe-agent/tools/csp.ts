import { ok } from "#shared/outcome.ts";
import { csp as contract } from "#shared/tools/csp.ts";
import { analyseCsp } from "#probe-agent/analysis/csp.ts";
import { boundCsp } from "#probe-agent/analysis/csp/bounded.ts";
import { deliveredPolicies } from "#probe-agent/analysis/csp/delivery.ts";
import { orderFindings } from "#probe-agent/analysis/csp/finding.ts";
import { reportingEndpoints, undefinedGroups } from "#probe-agent/analysis/csp/reporting.ts";
import { leading } from "#probe-agent/analysis/fitting.ts";
import { plain } from "#probe-agent/analysis/plain.ts";
import { seePage } from "#probe-agent/sources/page.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Octets of JSON for each list of addresses and groups. */
const REPORTING_BYTES = 8000;

/** The policies of a page's headers and meta elements, taken together. */
export const csp = implement(contract, async (net, { url }) => {
  const seen = await seePage(net, url);
  if (seen.status !== "ok") return seen;
  const { head, page, snapshot, observedAt, limitations } = seen.data;
  const { headers } = snapshot.final;
  const delivery = deliveredPolicies(headers, page);
  const analysis = analyseCsp(delivery.texts);
  const endpoints = reportingEndpoints(headers);
  const { report_uri: reportUri, report_to: reportTo } = analysis.reporting;
  const findings = orderFindings([...delivery.findings, ...undefinedGroups(reportTo, endpoints), ...analysis.findings]);
  const bounded = boundCsp(analysis, findings);
  return ok({
    ...head,
    grade: analysis.grade,
    score: analysis.score,
    adjustments: [...analysis.adjustments],
    enforced: analysis.enforced,
    strict_csp: analysis.strict_csp,
    trusted_types: analysis.trusted_types,
    policies: plain(bounded.policies),
    effective: plain(bounded.effective),
    findings: bounded.findings,
    bypass_hosts: bounded.bypassHosts,
    reporting: {
      report_uri: listed(reportUri),
      report_to: listed(reportTo),
      endpoints: leading(endpoints, REPORTING_BYTES),
    },
    source: ["page"],
    observed_at: observedAt,
    limitations: [
      ...limitations,
      ...(bounded.cut ? ["The policies are larger than a result: lists of them are cut."] : []),
      ...(analysis.enforced || analysis.policies.length === 0 ? [] : ["Policies that only report stop nothing."]),
    ],
  });
});

function listed(values: readonly string[]): string[] {
  return leading(values, REPORTING_BYTES).map((value) => value.toWellFormed());
}
