import type { Finding, Severity } from "#shared/findings.ts";
import type { PerformanceCheck } from "#probe-agent/analysis/page/performance/checks.ts";

/** Checks of a page and the facts that findings name. */
export interface PerformanceSubject {
  readonly finalUrl: string;
  /** HTTP status of the page. */
  readonly code: number;
  readonly checks: readonly PerformanceCheck[];
  readonly resources: {
    readonly bytes: Readonly<Record<string, number>>;
    readonly render_blocking: readonly Named[];
    readonly without_compression: readonly Named[];
    readonly without_cache: readonly Named[];
  };
  /** Origins of render-blocking resources without a preconnect or dns-prefetch hint. */
  readonly preconnectMissing: readonly string[];
  /** Resources with an error status. */
  readonly broken: readonly { readonly url: string; readonly status: number }[];
}

interface Named {
  readonly url: string;
}

interface Advice {
  /** Severity if the check fails. If it warns, the severity is info. */
  readonly severity: Severity;
  readonly how: (subject: PerformanceSubject) => string;
  /** Returns the sentence that the message adds to the detail of the check, or "" if there is none. */
  readonly named?: (subject: PerformanceSubject) => string;
}

const MAX_NAMED = 3;
const MAX_URL = 120;
const KIB = 1024;

/** Advice by the id of the check. None is critical: a slow page costs visitors, but it is reachable. */
export const PERFORMANCE_ADVICE: Readonly<Record<string, Advice>> = {
  ttfb: {
    severity: "warning",
    how: () =>
      "Cache the page on the server or in a CDN near visitors, and remove redirects before it. The first byte should arrive within 800 ms.",
  },
  server_response: {
    severity: "warning",
    how: () =>
      "Measure the time that the server needs for this page (database, templates, calls to other services), and cache the slow part.",
  },
  redirects: {
    severity: "warning",
    how: ({ finalUrl }) => `Link to ${finalUrl.slice(0, MAX_URL)}, and redirect older addresses to it in one step.`,
  },
  compression: {
    severity: "warning",
    how: () =>
      "Enable Brotli or gzip for text types. In nginx: gzip on; gzip_types text/css text/javascript application/json image/svg+xml;",
    named: ({ resources }) => listFirst("Uncompressed", resources.without_compression),
  },
  page_weight: {
    severity: "warning",
    how: () =>
      'Resize and recompress images, remove scripts and fonts that the page does not use, and add loading="lazy" to images below the first screen.',
    named: ({ resources }) => describeHeaviest(resources.bytes),
  },
  render_blocking: {
    severity: "warning",
    how: () =>
      "Add defer to the script elements of the head. Keep only the styles of the first screen in the style sheets of the head.",
    named: ({ resources }) => listFirst("For example", resources.render_blocking),
  },
  caching: {
    severity: "warning",
    how: () =>
      "Send Cache-Control: public, max-age=31536000, immutable with files whose names change with their content.",
    named: ({ resources }) => listFirst("Cached for less than a week", resources.without_cache),
  },
  http_version: {
    severity: "warning",
    how: () => "Enable HTTP/2 on the TLS port of the server. In nginx: http2 on;",
  },
  dom_size: {
    severity: "warning",
    how: () =>
      "Load long lists in parts, and remove elements that only wrap others. The page should have fewer than 818 elements.",
  },
  image_dimensions: {
    severity: "warning",
    how: () => 'Give every img element its size, e.g. <img src="photo.jpg" width="640" height="360">.',
  },
  image_formats: {
    severity: "info",
    how: () =>
      'Offer AVIF or WebP in addition to the old format, e.g. <picture><source srcset="photo.avif" type="image/avif"><img src="photo.jpg"></picture>.',
  },
};

/**
 * Returns a finding for each check that does not pass, for missing preconnect hints and for broken resources. For an
 * error page, returns only the finding that says so.
 */
export function performanceFindings(subject: PerformanceSubject): Finding[] {
  const { code, checks, preconnectMissing: missing, broken } = subject;
  if (code >= 400) return [errorPage(code)];
  return [
    ...checks.flatMap((check) =>
      check.status === "warn" || check.status === "fail" ? [describeCheck(check, subject)] : [],
    ),
    ...(missing.length === 0 ? [] : [missingPreconnect(missing)]),
    ...(broken.length === 0 ? [] : [brokenResources(broken)]),
  ];
}

function describeCheck({ id, status, detail, reference }: PerformanceCheck, subject: PerformanceSubject): Finding {
  const advice = PERFORMANCE_ADVICE[id];
  const named = advice?.named?.(subject) ?? "";
  return {
    id: id.replaceAll("_", "-"),
    severity: status === "fail" ? (advice?.severity ?? "warning") : "info",
    message: named === "" ? detail : `${detail} ${named}`,
    how: advice?.how(subject) ?? null,
    reference,
    where: null,
  };
}

function errorPage(code: number): Finding {
  return {
    id: "error-page",
    severity: code >= 500 ? "critical" : "warning",
    message: `The page is served with HTTP status ${code}, so its speed is not scored.`,
    how: "Serve the page with status 200, or test a URL that has this status.",
    reference: "https://www.rfc-editor.org/rfc/rfc9110#section-15",
    where: null,
  };
}

function missingPreconnect(origins: readonly string[]): Finding {
  const lines = origins.slice(0, MAX_NAMED).map((origin) => `<link rel="preconnect" href="${origin}">`);
  return {
    id: "preconnect-missing",
    severity: "info",
    message: `Resources that block the first paint come from ${origins.length === 1 ? "another origin" : `${origins.length} other origins`} without a preconnect hint: ${origins.slice(0, MAX_NAMED).join(", ")}.`,
    how: `Add to the start of the head: ${lines.join(" ")}`,
    reference: "https://web.dev/articles/preconnect-and-dns-prefetch",
    where: origins[0] ?? null,
  };
}

function brokenResources(broken: PerformanceSubject["broken"]): Finding {
  const named = broken.slice(0, MAX_NAMED).map(({ url, status }) => `${short(url)} (status ${status})`);
  return {
    id: "resource-errors",
    severity: "warning",
    message: `${broken.length} ${broken.length === 1 ? "resource" : "resources"} of the page ${broken.length === 1 ? "has" : "have"} an error status: ${named.join(", ")}.`,
    how: "Publish the missing files, or remove the elements that reference them.",
    reference: "https://www.rfc-editor.org/rfc/rfc9110#section-15.5",
    where: broken[0]?.url ?? null,
  };
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
