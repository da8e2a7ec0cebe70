import { analyseCsp, type CspAnalysis, type CspPolicyReport } from "#probe-agent/analysis/web/csp.ts";
import { describeCspFindings } from "#probe-agent/analysis/web/csp/described-findings.ts";
import { deliveredPolicies } from "#probe-agent/analysis/web/csp/delivery.ts";
import { cspFinding, orderFindings, type CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { leading, fairShares, jsonBytes, leadingText } from "#probe-agent/analysis/text/json-size.ts";
import type { ReadPage } from "#probe-agent/analysis/html/pages/reading.ts";
import { plain } from "#probe-agent/analysis/text/plain-data.ts";
import type { EffectivePolicy } from "#probe-agent/analysis/web/csp/effective.ts";
import { headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** Maximum size of each list of addresses and groups, and of the findings, in octets of JSON. */
const REPORTING_BYTES = 8000;
const FINDINGS_BYTES = 40_000;

/** The parts of an analysis whose size depends on the site, truncated to fit a result. */
interface BoundedCsp {
  readonly policies: CspPolicyReport[];
  readonly effective: EffectivePolicy;
  readonly bypassHosts: string[];
  /** Whether something was left out. */
  readonly cut: boolean;
}

/** Maximum size of each part, in octets of JSON. Together they are well below a result's 256 KB. */
const POLICIES_BYTES = 120_000;
const EFFECTIVE_BYTES = 40_000;
const HOSTS_BYTES = 5000;

/** A group of the Reporting API and the URL that its reports are sent to. */
interface ReportingEndpoint {
  readonly name: string;
  readonly url: string;
}

/** Maximum length of each header, in characters, and maximum number of endpoints. */
const MAX_CHARACTERS = 16_384;
const MAX_ENDPOINTS = 50;
const MEMBER = /(?:^|,)[ \t]*([a-z*][a-z0-9_.*-]{0,200})="([^"\\]{0,2048})"/g;

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

/** Truncates the parts of an analysis whose size depends on the site. */
export function boundCsp(analysis: CspAnalysis): BoundedCsp {
  const shares = fairShares(analysis.policies.map(jsonBytes), POLICIES_BYTES);
  const policies = analysis.policies.map((policy, index) => boundPolicy(policy, shares[index] ?? 0));
  const effective = boundEffective(analysis.effective);
  const bypassHosts = leading(analysis.bypass_hosts, HOSTS_BYTES);
  const cut =
    bypassHosts.length < analysis.bypass_hosts.length ||
    jsonBytes(policies) < jsonBytes(analysis.policies) ||
    jsonBytes(effective) < jsonBytes(analysis.effective);
  return { policies, effective, bypassHosts, cut };
}

function boundPolicy(policy: CspPolicyReport, maxBytes: number): CspPolicyReport {
  if (jsonBytes(policy) <= maxBytes) return policy;
  const half = Math.floor(maxBytes / 2);
  const named = leading(Object.entries(policy.directives), half);
  // A single directive can be larger than the whole limit.
  const rest = Object.entries(policy.directives)[named.length];
  const left = half - jsonBytes(named);
  const partly =
    rest === undefined || left < 1000 ? [] : [[rest[0].slice(0, 200), leading(rest[1], left - 700)] as const];
  return { ...policy, raw: leadingText(policy.raw, half), directives: Object.fromEntries([...named, ...partly]) };
}

function boundEffective(effective: EffectivePolicy): EffectivePolicy {
  const lists = Object.entries(effective).filter((entry): entry is [string, readonly string[]] =>
    Array.isArray(entry[1]),
  );
  const shares = fairShares(
    lists.map(([, values]) => jsonBytes(values)),
    EFFECTIVE_BYTES,
  );
  const cut = Object.fromEntries(lists.map(([name, values], index) => [name, leading(values, shares[index] ?? 0)]));
  return { ...effective, ...cut };
}

/** Parses the endpoints of Reporting-Endpoints (a dictionary of strings) and of the older Report-To (JSON objects). */
export function reportingEndpoints(headers: readonly HeaderPair[]): ReportingEndpoint[] {
  const endpoints = headerValues(headers, "reporting-endpoints").join(", ").slice(0, MAX_CHARACTERS);
  const named = [...endpoints.matchAll(MEMBER)].map(([, name = "", url = ""]) => ({ name, url }));
  return [...named, ...readReportTo(headerValues(headers, "report-to").join(", "))].slice(0, MAX_ENDPOINTS);
}

function readReportTo(value: string): ReportingEndpoint[] {
  if (value === "" || value.length > MAX_CHARACTERS) return [];
  let groups: unknown;
  try {
    groups = JSON.parse(`[${value}]`);
  } catch {
    return [];
  }
  return (groups as readonly unknown[]).flatMap((group) => {
    const { group: name = "default", endpoints } = (group ?? {}) as { group?: unknown; endpoints?: unknown };
    if (typeof name !== "string" || !Array.isArray(endpoints)) return [];
    return (endpoints as readonly unknown[]).flatMap((endpoint) => {
      const { url } = (endpoint ?? {}) as { url?: unknown };
      return typeof url === "string" ? [{ name: name.slice(0, 200), url: url.slice(0, 2048) }] : [];
    });
  });
}

/** Returns a finding for each report-to group that no header defines: browsers send nothing (CSP3 section 6.5.3). */
export function undefinedGroups(reportTo: readonly string[], endpoints: readonly ReportingEndpoint[]): CspFinding[] {
  const known = new Set(endpoints.map(({ name }) => name));
  return reportTo
    .filter((group) => !known.has(group))
    .map((value) => cspFinding("undefined_reporting_group", "medium", "report-to", value));
}
