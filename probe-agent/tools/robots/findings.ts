import { adviseOn, finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { listFirst } from "#shared/text/list.ts";
import type { Finding } from "#shared/contracts/findings.ts";
import { BODY_BREAKS, type BodyBreak } from "#shared/tools/http-body.ts";
import type { robotsReport } from "#probe-agent/analysis/web/robots/rules.ts";

const RFC9309 = "https://www.rfc-editor.org/rfc/rfc9309";

const LINES = `${RFC9309}#section-2.2`;
const NOT_TEXT = "Serve robots.txt as plain text, or respond with 404 if the site has none.";

/** Severity and advice for each kind of finding. */
const ROBOTS_ADVICE = {
  "rule-before-user-agent": { severity: "warning", how: "Put a line User-agent: * before the rule.", reference: LINES },
  "pattern-matches-nothing": { severity: "warning", how: "Start the pattern with /.", reference: LINES },
  "dollar-within-pattern": {
    severity: "info",
    how: "Put $ at the end of the pattern, or write a dollar sign as %24.",
    reference: LINES,
  },
  "user-agent-empty": {
    severity: "warning",
    how: "Write the name of a crawler, or * for all crawlers.",
    reference: LINES,
  },
  "crawl-delay-not-a-number": {
    severity: "info",
    how: "Write the delay in seconds, e.g. Crawl-delay: 10.",
    reference: LINES,
  },
  "sitemap-empty": {
    severity: "info",
    how: "Write the absolute URL of the sitemap, or remove the line.",
    reference: LINES,
  },
  "sitemap-not-absolute": {
    severity: "warning",
    how: "Write the absolute URL of the sitemap, e.g. Sitemap: https://HOST/sitemap.xml.",
    reference: LINES,
  },
  "user-agent-not-a-token": {
    severity: "info",
    how: "Use the product token that the crawler's operator documents.",
    reference: LINES,
  },
  "crawlers-refused": {
    severity: "critical",
    how: "Exempt /robots.txt from the rate limit.",
    reference: `${RFC9309}#section-2.3.1`,
  },
  "robots-unavailable": {
    severity: "critical",
    how: "Respond with 200 and the rules, or with 404 if there are none.",
    reference: `${RFC9309}#section-2.3.1.4`,
  },
  "not-text-plain": {
    severity: "info",
    how: "Send the header Content-Type: text/plain; charset=utf-8",
    reference: `${RFC9309}#section-2.3`,
  },
  "cut-short": {
    severity: "warning",
    how: "Find out whether the server or a proxy in front of it closes the connection, and correct it.",
    reference: null,
  },
  "too-large": {
    severity: "warning",
    how: "Shorten the file below 500 KiB, e.g. with * in patterns.",
    reference: `${RFC9309}#section-2.5`,
  },
  "other-host": {
    severity: "info",
    how: "Serve /robots.txt on the host itself: some crawlers do not follow redirects.",
    reference: `${RFC9309}#section-2.3.1.2`,
  },
  "not-utf-8": { severity: "warning", how: "Save the file as UTF-8.", reference: `${RFC9309}#section-2.3` },
  "not-robots-txt": { severity: "warning", how: NOT_TEXT, reference: `${RFC9309}#section-2.3` },
  "no-rules": { severity: "warning", how: NOT_TEXT, reference: LINES },
  "lines-not-rules": {
    severity: "info",
    how: "Write each line as key: value, and comments after #.",
    reference: LINES,
  },
  "misspelt-lines": { severity: "info", how: "Correct the key, and put a colon after it.", reference: LINES },
} as const satisfies AdviceTable<string>;

type Draft = FindingDraft<keyof typeof ROBOTS_ADVICE>;

/** How the file was delivered. */
export interface RobotsDelivery {
  readonly code: number;
  readonly contentType: string | null;
  /** Whether the file is larger than 500 KiB and was truncated there. */
  readonly truncated: boolean;
  /** Why the body was cut short; null if it was not. */
  readonly broken: BodyBreak | null;
  /** URL of the file after redirects, and origin of the first request. */
  readonly url: string;
  readonly origin: string;
}

/** Returns the findings about a robots.txt; `where` is the line. */
export function describeRobotsFindings(delivery: RobotsDelivery, report: ReturnType<typeof robotsReport>): Finding[] {
  const lines = report.faults.map(({ line, id, message }) => finding(id, `line ${line}`, `Line ${line}: ${message}.`));
  return adviseOn(ROBOTS_ADVICE, [...deliveryFindings(delivery, report), ...contentFindings(report), ...lines], null);
}

function deliveryFindings(
  { code, contentType, truncated, broken, url, origin }: RobotsDelivery,
  report: Report,
): Draft[] {
  const { availability, foreign } = report;
  const isText = /^text\/plain\b/i.test(contentType ?? "");
  const host = new URL(url).host;
  return [
    ...when(code === 429, "crawlers-refused", "The server responds with 429. Google then does not crawl the site."),
    ...when(
      availability === "disallow_all",
      "robots-unavailable",
      `The server responds with ${code}. Crawlers then treat the whole site as disallowed.`,
    ),
    ...when(
      availability === "parsed" && foreign === null && !isText,
      "not-text-plain",
      `The Content-Type of the file is ${contentType?.slice(0, 100) ?? "missing"}, not text/plain.`,
    ),
    ...when(
      broken !== null,
      "cut-short",
      `The file was cut short: ${broken === null ? "" : BODY_BREAKS[broken]}. The rules after that point are unknown.`,
    ),
    ...when(truncated, "too-large", "The file is larger than 500 KiB. Crawlers may ignore the rest."),
    ...when(host !== new URL(origin).host, "other-host", `A redirect leads to the file on another host, ${host}.`),
  ];
}

type Report = ReturnType<typeof robotsReport>;

function contentFindings({ foreign, saysNothing, errors, lenient }: Report): Draft[] {
  if (foreign === "UTF-16") {
    const message = "The file is encoded in UTF-16. Crawlers read UTF-8 and find no rules.";
    return when(true, "not-utf-8", message);
  }
  if (foreign !== null) {
    const message = `The server sends ${foreign} instead of a robots.txt. Crawlers find no rules in it.`;
    return when(true, "not-robots-txt", message);
  }
  return [
    ...when(saysNothing, "no-rules", "The file contains no rules. The server may send an error page as plain text."),
    ...when(
      errors.total > 0,
      "lines-not-rules",
      `${errors.total} lines are neither rules nor comments: ${linesOf(errors)}.`,
    ),
    ...when(
      lenient.total > 0,
      "misspelt-lines",
      `${lenient.total} lines have a misspelt key or no colon. Only lenient crawlers apply them: ${linesOf(lenient)}.`,
    ),
  ];
}

function linesOf({ total, lines }: { readonly total: number; readonly lines: readonly number[] }): string {
  return `line ${listFirst(lines, lines.length, total)}`;
}

function when(applies: boolean, id: Draft["id"], message: string): Draft[] {
  return applies ? [finding(id, null, message)] : [];
}
