import { analyseCsp } from "#probe-agent/analysis/csp.ts";
import { boundCsp } from "#probe-agent/analysis/web/csp/bounded.ts";
import { describeCspFindings } from "#probe-agent/analysis/web/csp/described-findings.ts";
import { deliveredPolicies } from "#probe-agent/analysis/web/csp/delivery.ts";
import { orderFindings } from "#probe-agent/analysis/web/csp/finding.ts";
import { reportingEndpoints, undefinedGroups } from "#probe-agent/analysis/web/csp/reporting.ts";
import { fitFindings } from "#probe-agent/analysis/text/fitted-findings.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";
import type { ReadPage } from "#probe-agent/analysis/html/pages/reading.ts";
import { plain } from "#probe-agent/analysis/text/plain-data.ts";

/** Maximum size of each list of addresses and groups, and of the findings, in octets of JSON. */
const REPORTING_BYTES = 8000;
const FINDINGS_BYTES = 40_000;

/** Analyses the policies of a page's headers and meta elements together, and fits the report into a result. */
export function cspReport({ headers, page }: ReadPage) {
  const delivery = deliveredPolicies(headers, page);
  const analysis = analyseCsp(delivery.texts);
  const endpoints = reportingEndpoints(headers);
  const { report_uri: reportUri, report_to: reportTo } = analysis.reporting;
  const found = orderFindings([...delivery.findings, ...undefinedGroups(reportTo, endpoints), ...analysis.findings]);
  const { findings, limitations } = fitFindings(describeCspFindings(found, analysis), FINDINGS_BYTES);
  const bounded = boundCsp(analysis);
  return {
    fields: {
      grade: analysis.grade,
      score: analysis.score,
      score_steps: analysis.adjustments.map(({ id, points, message }) => ({
        id: id.replaceAll("_", "-"),
        points,
        message: `${message}.`,
      })),
      enforced: analysis.enforced,
      strict_csp: analysis.strict_csp,
      trusted_types: analysis.trusted_types,
      policies: plain(bounded.policies),
      effective: plain(bounded.effective),
      findings,
      bypass_hosts: bounded.bypassHosts,
      reporting: {
        report_uri: fitList(reportUri),
        report_to: fitList(reportTo),
        endpoints: leading(endpoints, REPORTING_BYTES),
      },
    },
    limitations: [
      ...(bounded.cut ? ["The policies are too large for a result. Their lists are truncated."] : []),
      ...limitations,
    ],
  };
}

function fitList(values: readonly string[]): string[] {
  return leading(values, REPORTING_BYTES).map((value) => value.toWellFormed());
}
