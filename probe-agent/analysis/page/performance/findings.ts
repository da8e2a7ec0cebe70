import type { Finding, Severity } from "#shared/findings.ts";
import type { PerformanceCheck } from "#probe-agent/analysis/page/performance/checks.ts";

/** What the findings name, beside the checks. */
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
  /** Origins that serve render-blocking resources and are in no preconnect or dns-prefetch. */
  readonly preconnectMissing: readonly string[];
  /** Resources that were answered with an error. */
  readonly broken: readonly { readonly url: string; readonly status: number }[];
}

interface Named {
  readonly url: string;
}

interface Advice {
  /** Severity where the check fails; where it warns, the finding is info. */
  readonly severity: Severity;
  readonly how: (subject: PerformanceSubject) => string;
  /** What the message names beside the detail of the check. */
  readonly named?: (subject: PerformanceSubject) => string;
}

const MAX_NAMED = 3;
const MAX_URL = 120;
const KIB = 1024;

/** By the id of the check. A slow page costs visitors; none of these keeps them out. */
export const PERFORMANCE_ADVICE: Readonly<Record<string, Advice>> = {
  ttfb: {
    severity: "warning",
    how: () =>
      "Cache the page at the server or in a CDN near visitors, remove redirects before it, and answer within 800 ms.",
  },
  server_response: {
    severity: "warning",
    how: () =>
      "Measure the server's work for this page (database, templates, calls to other services) and cache the slow part.",
  },
  redirects: {
    severity: "warning",
    how: ({ finalUrl }) => `Link to ${finalUrl.slice(0, MAX_URL)}, and redirect older addresses to it in one step.`,
  },
  compression: {
    severity: "warning",
    how: () =>
      "Turn on Brotli or gzip for text types. In nginx: gzip on; gzip_types text/css text/javascript application/json image/svg+xml;",
    named: ({ resources }) => listed("Uncompressed", resources.without_compression),
  },
  page_weight: {
    severity: "warning",
    how: () =>
      'Resize and recompress images, remove scripts and fonts that the page does not use, and add loading="lazy" to images below the first screen.',
    named: ({ resources }) => heaviest(resources.bytes),
  },
  render_blocking: {
    severity: "warning",
    how: () =>
      "Add defer to script elements of the head, and keep only the styles of the first screen in style sheets of the head.",
    named: ({ resources }) => listed("For example", resources.render_blocking),
  },
  caching: {
    severity: "warning",
    how: () =>
      "Send Cache-Control: public, max-age=31536000, immutable with files whose names change with their content.",
    named: ({ resources }) => listed("Kept for less", resources.without_cache),
  },
  http_version: {
    severity: "warning",
    how: () => "Turn on HTTP/2 on the TLS port of the server. In nginx: http2 on;",
  },
  dom_size: {
    severity: "warning",
    how: () => "Load long lists in parts, and remove elements that only wrap others, until fewer than 818 are left.",
  },
  image_dimensions: {
    severity: "warning",
    how: () => 'Give every img element its size, e.g. <img src="photo.jpg" width="640" height="360">.',
  },
  image_formats: {
    severity: "info",
    how: () =>
      'Offer AVIF or WebP beside the old format, e.g. <picture><source srcset="photo.avif" type="image/avif"><img src="photo.jpg"></picture>.',
  },
};

/** One finding for each check that does not pass, and for what the checks do not count. An error page has one alone. */
export function performanceFindings(subject: PerformanceSubject): Finding[] {
  const { code, checks, preconnectMissing: missing, broken } = subject;
  if (code >= 400) return [errorPage(code)];
  return [
    ...checks.flatMap((check) => (check.status === "warn" || check.status === "fail" ? [found(check, subject)] : [])),
    ...(missing.length === 0 ? [] : [missingPreconnect(missing)]),
    ...(broken.length === 0 ? [] : [brokenResources(broken)]),
  ];
}

function found({ id, status, detail, reference }: PerformanceCheck, subject: PerformanceSubject): Finding {
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
    message: `The page answers with HTTP status ${code}, so its speed is not scored.`,
    how: "Make the address answer with status 200, or test one that does.",
    reference: "https://www.rfc-editor.org/rfc/rfc9110#section-15",
    where: null,
  };
}

function missingPreconnect(origins: readonly string[]): Finding {
  const lines = origins.slice(0, MAX_NAMED).map((origin) => `<link rel="preconnect" href="${origin}">`);
  return {
    id: "preconnect-missing",
    severity: "info",
    message: `Resources that block the first paint come from ${origins.length === 1 ? "another origin" : `${origins.length} other origins`} to which no early connection is opened: ${origins.slice(0, MAX_NAMED).join(", ")}.`,
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
    message: `${broken.length} ${broken.length === 1 ? "resource" : "resources"} of the page answered with an error: ${named.join(", ")}.`,
    how: "Publish the missing files, or remove the elements that name them.",
    reference: "https://www.rfc-editor.org/rfc/rfc9110#section-15.5",
    where: broken[0]?.url ?? null,
  };
}

function listed(lead: string, named: readonly Named[]): string {
  if (named.length === 0) return "";
  const first = named.slice(0, MAX_NAMED).map(({ url }) => short(url));
  return `${lead}: ${first.join(", ")}${named.length > MAX_NAMED ? " and others" : ""}.`;
}

function heaviest(bytes: Readonly<Record<string, number>>): string {
  const [type, size] = Object.entries(bytes).reduce((one, other) => (other[1] > one[1] ? other : one), ["", 0]);
  return size === 0 ? "" : `Most of it is of type ${type}: ${Math.round(size / KIB)} KiB.`;
}

function short(url: string): string {
  return url.length > MAX_URL ? `${url.slice(0, MAX_URL)}…` : url;
}
