import { adviseOn, finding, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import {
  MAX_NAMED,
  MAX_URL,
  PERFORMANCE_ADVICE,
  type AdvisedPage,
  type PerformanceCheckId,
} from "#probe-agent/tools/performance/advice.ts";
import type { PerformanceCheck } from "#probe-agent/tools/performance/checks.ts";
import { headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** Checks of a page and the facts that findings name. */
export interface PerformanceSubject extends AdvisedPage {
  /** HTTP status of the page. */
  readonly code: number;
  readonly checks: readonly PerformanceCheck[];
  readonly resources: {
    readonly bytes: Readonly<Record<string, number>>;
    readonly render_blocking: readonly Named[];
    readonly without_compression: readonly Named[];
    readonly without_cache: readonly Named[];
  };
  /** Resources with an error status. */
  readonly broken: readonly { readonly url: string; readonly status: number }[];
}

interface Named {
  readonly url: string;
}

const KIB = 1024;

type Draft = FindingDraft<keyof typeof PERFORMANCE_ADVICE>;

/** Returns the sentence that a message adds to the detail of the check, or "" if there is none. */
const NAMED: Readonly<Partial<Record<PerformanceCheckId, (subject: PerformanceSubject) => string>>> = {
  compression: ({ resources }) => listFirst("Uncompressed", resources.without_compression),
  page_weight: ({ resources }) => describeHeaviest(resources.bytes),
  render_blocking: ({ resources }) => listFirst("For example", resources.render_blocking),
  caching: ({ resources }) => listFirst("Cached for less than a week", resources.without_cache),
};

/**
 * Returns a finding for each check that does not pass, as info if it only warns, for missing preconnect hints and for
 * broken resources. For an error page, returns only the finding that says so.
 */
export function performanceFindings(subject: PerformanceSubject): Finding[] {
  const { code, checks, preconnectMissing, broken } = subject;
  const drafts =
    code >= 400
      ? [errorPage(code)]
      : [
          ...checks.flatMap((check) => describeCheck(check, subject)),
          ...missingPreconnect(preconnectMissing),
          ...brokenResources(broken),
        ];
  return adviseOn(PERFORMANCE_ADVICE, drafts, subject);
}

function describeCheck({ id, status, detail }: PerformanceCheck, subject: PerformanceSubject): Draft[] {
  if (status !== "warn" && status !== "fail") return [];
  const named = NAMED[id]?.(subject) ?? "";
  const message = named === "" ? detail : `${detail} ${named}`;
  return [finding(id, null, message, status === "fail" ? undefined : "info")];
}

function errorPage(code: number): Draft {
  const message = `The page is served with HTTP status ${code}, so its speed is not scored.`;
  return finding("error-page", null, message, code >= 500 ? "critical" : "warning");
}

function missingPreconnect(origins: readonly string[]): Draft[] {
  const [first] = origins;
  if (first === undefined) return [];
  const message = `Resources that block the first paint come from ${origins.length === 1 ? "another origin" : `${origins.length} other origins`} without a preconnect hint: ${origins.slice(0, MAX_NAMED).join(", ")}.`;
  return [finding("preconnect-missing", first, message)];
}

function brokenResources(broken: PerformanceSubject["broken"]): Draft[] {
  const [first] = broken;
  if (first === undefined) return [];
  const named = broken.slice(0, MAX_NAMED).map(({ url, status }) => `${short(url)} (status ${status})`);
  const message = `${broken.length} ${broken.length === 1 ? "resource" : "resources"} of the page ${broken.length === 1 ? "has" : "have"} an error status: ${named.join(", ")}.`;
  return [finding("resource-errors", first.url, message)];
}

function listFirst(lead: string, named: readonly Named[]): string {
  if (named.length === 0) return "";
  const first = named.slice(0, MAX_NAMED).map(({ url }) => short(url));
  return `${lead}: ${first.join(", ")}${named.length > MAX_NAMED ? " and others" : ""}.`;
}

function describeHeaviest(bytes: Readonly<Record<string, number>>): string {
  const [type, size] = Object.entries(bytes).reduce((one, other) => (other[1] > one[1] ? other : one), ["", 0]);
  return size === 0 ? "" : `Most of it is of type ${type}: ${Math.round(size / KIB)} KiB.`;
}

function short(url: string): string {
  return url.length > MAX_URL ? `${url.slice(0, MAX_URL)}…` : url;
}

/** Reuse of a connection for further requests, and the reason. `reusable` is null if the server does not say. */
interface ConnectionReuse {
  readonly reusable: boolean | null;
  readonly why: string;
}

/**
 * Reports by HTTP version and headers whether a connection can be reused (RFC 9112 section 9.3, RFC 9113 section 9.1).
 * Vantage's own requests over HTTP/1 ask to close the connection, so `close` in the response does not show how the
 * server treats browsers.
 */
export function connectionReuse(httpVersion: string, headers: readonly HeaderPair[]): ConnectionReuse {
  if (httpVersion === "2") return { reusable: true, why: "HTTP/2 uses one connection for all requests" };
  const options = headerValues(headers, "connection").flatMap((value) => value.toLowerCase().split(","));
  const kept =
    options.some((option) => option.trim() === "keep-alive") || headerValues(headers, "keep-alive").length > 0;
  if (kept) return { reusable: true, why: "the server sends keep-alive" };
  if (httpVersion === "1.0")
    return { reusable: false, why: "HTTP/1.0 closes the connection unless the server sends keep-alive" };
  return {
    reusable: null,
    why: `the server does not say; HTTP/${httpVersion} keeps connections open unless the server closes them`,
  };
}
