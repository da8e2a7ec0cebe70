import { analyseCsp, type CspAnalysis, type CspPolicyReport } from "#probe-agent/analysis/web/csp.ts";
import { deliveredPolicies } from "#probe-agent/analysis/web/csp/delivery.ts";
import {
  cspFinding,
  orderFindings,
  type CspFinding,
  type CspFindingType,
} from "#probe-agent/analysis/web/csp/finding.ts";
import { fitFindings, adviseOn, finding } from "#probe-agent/analysis/text/findings.ts";
import { leading, fairShares, jsonBytes, leadingText } from "#probe-agent/analysis/text/json-size.ts";
import { definePageAnalysis, type ReadPage } from "#probe-agent/analysis/html/read-page.ts";
import { plain } from "#probe-agent/analysis/text/plain-data.ts";
import type { EffectivePolicy } from "#probe-agent/analysis/web/csp/effective.ts";
import { headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import type { Finding, Severity } from "#shared/contracts/findings.ts";
import { CSP_ADVICE, HEADER } from "#probe-agent/analysis/web/csp/advice.ts";
import { bypassHost } from "#probe-agent/analysis/web/csp/bypass-hosts.ts";
import { DEPRECATED_DIRECTIVES } from "#probe-agent/analysis/web/csp/vocabulary.ts";

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

/** Content security policy of a page. */
export const cspAnalysis = definePageAnalysis("csp", cspReport);

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

/** Directives that have their own page in MDN's reference. */
const DOCUMENTED = new Set([
  "base-uri",
  "child-src",
  "connect-src",
  "default-src",
  "font-src",
  "form-action",
  "frame-ancestors",
  "frame-src",
  "img-src",
  "manifest-src",
  "media-src",
  "object-src",
  "report-to",
  "report-uri",
  "require-trusted-types-for",
  "sandbox",
  "script-src",
  "script-src-attr",
  "script-src-elem",
  "style-src",
  "style-src-attr",
  "style-src-elem",
  "worker-src",
]);

/** What a missing directive allows. */
const UNRESTRICTED: Readonly<Record<string, string>> = {
  "script-src": "scripts load from any host",
  "object-src": "object and embed elements load from any host",
  "base-uri": "an injected base element redirects all relative script URLs",
  "form-action": "an injected form can send its data to any host",
  "frame-ancestors": "any site can frame the page",
};

/** Message of each kind of finding. */
const CSP_MESSAGES: Readonly<Record<CspFindingType, (directive: string, value: string) => string>> = {
  policy_missing: () => "The page has no Content-Security-Policy: injected scripts run without restriction.",
  policy_not_enforced: () => "All policies of the page are report-only: browsers report violations and block nothing.",
  missing_semicolon: (directive, value) =>
    `${directive} lists ${value} as a source, but ${value} is a directive without a semicolon before it.`,
  unknown_directive: (directive) =>
    directive.endsWith(":")
      ? `${directive} ends in a colon, so browsers ignore it.`
      : `${directive} is not a directive, so browsers ignore it.`,
  invalid_keyword: (directive, value) =>
    value.startsWith("'")
      ? `${directive} contains ${value}, which is not a keyword, so browsers ignore it.`
      : `${directive} contains ${value} without single quotes, so browsers read it as a host.`,
  duplicate_directive: (directive) => `The policy contains ${directive} more than once; browsers use only the first.`,
  ignored_in_meta: (directive) => `A meta element sets ${directive}; browsers ignore it there.`,
  meta_after_script: () =>
    "A meta element sets a policy after a script; the policy does not restrict what precedes it.",
  meta_outside_head: () => "A meta element outside the head sets a policy; browsers ignore it.",
  report_only_in_meta: () => "A meta element sets a report-only policy; browsers ignore it.",
  undefined_reporting_group: (_, value) =>
    `report-to names the group ${value}, which no header defines: violations are not reported.`,
  nonce_charset: (directive, value) => `The nonce ${value} in ${directive} is not base64.`,
  nonce_length: (directive, value) =>
    `The nonce ${value} in ${directive} has fewer than 8 characters and can be guessed.`,
  missing_directives: (directive) =>
    `The policy has no ${directive}: ${UNRESTRICTED[directive] ?? "nothing restricts it"}.`,
  script_unsafe_inline: (directive) =>
    `${directive} contains 'unsafe-inline': injected scripts and event handlers run.`,
  script_unsafe_hashes: (directive) =>
    `${directive} contains 'unsafe-hashes': event handlers with a listed hash run, injected ones too.`,
  script_unsafe_eval: (directive) =>
    `${directive} contains 'unsafe-eval': text passed to eval() or new Function() runs.`,
  plain_url_schemes: (directive, value) => `${directive} contains ${value}, which allows every host.`,
  plain_wildcard: (directive, value) => `${directive} contains ${value}, which allows every host.`,
  script_allowlist_bypass: (directive, value) =>
    value === "'self'"
      ? `${directive} allows 'self': any script file, JSONP endpoint or upload on this host can run.`
      : `${directive} allows ${value}. No bypass is known for this host if it serves neither JSONP nor AngularJS.`,
  object_allowlist_bypass: (_, value) =>
    `object-src allows ${value}; browsers no longer run plugins, so nothing needs it.`,
  ip_source: (directive, value) =>
    value.includes("127.0.0.1")
      ? `${directive} allows ${value}, the visitor's own machine.`
      : `${directive} contains ${value}; browsers ignore IP addresses as sources.`,
  deprecated_directive: (directive) =>
    `${directive} is obsolete: ${DEPRECATED_DIRECTIVES[directive] ?? "no browser reads it"}.`,
  src_http: (directive, value) =>
    directive === "report-uri"
      ? `Reports go to ${value} without encryption.`
      : `${directive} allows ${value}, which is not encrypted: anyone on the network can change what loads.`,
  style_unsafe_inline: (directive) =>
    `${directive} contains 'unsafe-inline': injected styles can change the page and leak data.`,
  strict_dynamic: (directive) => `${directive} allows scripts by host; such lists can often be bypassed.`,
  strict_dynamic_not_standalone: (directive) =>
    `${directive} contains 'strict-dynamic' without a nonce or hash: browsers block every script.`,
  unsafe_inline_fallback: (directive) =>
    `Browsers that do not know nonces block the inline scripts that ${directive} allows.`,
  allowlist_fallback: (directive) =>
    `Browsers that do not know 'strict-dynamic' block the scripts that ${directive} allows.`,
  ignored: (directive, value) =>
    `Browsers ignore ${value} in ${directive} because of a nonce, a hash or 'strict-dynamic'.`,
  require_trusted_types_for_scripts: () =>
    "The policy does not require Trusted Types, which prevent DOM-based script injection.",
  reporting_destination_missing: () => "The policy has no report-uri and no report-to: violations are not reported.",
  report_to_only: () =>
    "The policy has report-to but no report-uri; browsers without the Reporting API send no reports.",
  truncated: () => "The policy text is longer than this check reads; the rest was not examined.",
};

/** Converts observations to findings. `found` contains those of the analysis, of the delivery and of the reporting. */
function describeCspFindings(found: readonly CspFinding[], analysis: CspAnalysis): Finding[] {
  return [...absentPolicy(analysis), ...found, ...unrestricted(found, analysis)].flatMap(describe);
}

function describe(one: CspFinding): Finding[] {
  const { type, directive } = one;
  const value = one.value ?? "";
  const known = type === "script_allowlist_bypass" && one.severity === "high" ? bypassHost(value, true) : null;
  const message =
    known === null
      ? CSP_MESSAGES[type](directive, value)
      : `${directive} allows ${value}: ${known.host} serves ${known.serves}, which lets an injection bypass the policy.`;
  const where = directive === "" ? null : one.value === null ? directive : `${directive} ${value}`;
  const severity: Severity | undefined =
    known !== null ? "warning" : type === "missing_directives" && one.severity === "info" ? "info" : undefined;
  const reference = DOCUMENTED.has(directive) ? `${HEADER}/${directive}` : HEADER;
  return adviseOn(CSP_ADVICE, [{ ...finding(type, where, message, severity), reference }], { directive, value });
}

function absentPolicy({ policies, enforced }: CspAnalysis): CspFinding[] {
  if (enforced) return [];
  return [cspFinding(policies.length > 0 ? "policy_not_enforced" : "policy_missing", "high", "")];
}

/**
 * Returns findings about absent directives without a fallback that cost points. CSP Evaluator does not report them.
 * They are info, base-uri too: without nonces, the host list must still allow the URLs that a base element redirects.
 */
function unrestricted(found: readonly CspFinding[], { policies, effective }: CspAnalysis): CspFinding[] {
  if (policies.length === 0) return [];
  const named = new Set(found.filter(({ type }) => type === "missing_directives").map(({ directive }) => directive));
  const absent = [
    ["base-uri", effective.base_uri],
    ["form-action", effective.form_action],
    ["frame-ancestors", effective.frame_ancestors],
  ] as const;
  return absent
    .filter(([directive, sources]) => sources === null && !named.has(directive))
    .map(([directive]) => cspFinding("missing_directives", "info", directive));
}
