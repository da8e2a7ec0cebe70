import type { CspFinding } from "#probe-agent/analysis/web/csp/finding.ts";
import { headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** A group of the Reporting API and the URL that its reports are sent to. */
interface ReportingEndpoint {
  readonly name: string;
  readonly url: string;
}

/** Maximum length of each header, in characters, and maximum number of endpoints. */
const MAX_CHARACTERS = 16_384;
const MAX_ENDPOINTS = 50;
const MEMBER = /(?:^|,)[ \t]*([a-z*][a-z0-9_.*-]{0,200})="([^"\\]{0,2048})"/g;

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
    .map((value) => ({
      directive: "report-to",
      value,
      severity: "medium",
      type: "undefined_reporting_group",
      message: "No valid Reporting-Endpoints or Report-To header defines this group: nothing is reported",
    }));
}
