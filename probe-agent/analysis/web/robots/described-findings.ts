import { listFirst } from "#shared/text/list.ts";
import type { Finding, Severity } from "#shared/findings.ts";
import { BODY_BREAKS, type BodyBreak } from "#shared/tools/http/body.ts";
import type { RobotsFault, RobotsFaultId } from "#probe-agent/analysis/web/robots/faults.ts";
import type { robotsReport } from "#probe-agent/analysis/web/robots/rules.ts";

const RFC9309 = "https://www.rfc-editor.org/rfc/rfc9309";

/** Severity and advice for lines that do not have the intended effect. */
const ROBOTS_LINES: Readonly<Record<RobotsFaultId, { readonly severity: Severity; readonly how: string }>> = {
  "rule-before-user-agent": { severity: "warning", how: "Put a line User-agent: * before the rule." },
  "pattern-matches-nothing": { severity: "warning", how: "Start the pattern with /." },
  "dollar-within-pattern": { severity: "info", how: "Put $ at the end of the pattern, or write a dollar sign as %24." },
  "user-agent-empty": { severity: "warning", how: "Write the name of a crawler, or * for all crawlers." },
  "crawl-delay-not-a-number": { severity: "info", how: "Write the delay in seconds, e.g. Crawl-delay: 10." },
  "sitemap-empty": { severity: "info", how: "Write the absolute URL of the sitemap, or remove the line." },
  "sitemap-not-absolute": {
    severity: "warning",
    how: "Write the absolute URL of the sitemap, e.g. Sitemap: https://HOST/sitemap.xml.",
  },
  "user-agent-not-a-token": {
    severity: "info",
    how: "Use the product token that the crawler's operator documents.",
  },
};

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

const NOT_TEXT = "Serve robots.txt as plain text, or respond with 404 if the site has none.";

/** Returns the findings about a robots.txt; `where` is the line. */
export function describeRobotsFindings(delivery: RobotsDelivery, report: ReturnType<typeof robotsReport>): Finding[] {
  return [...deliveryFindings(delivery, report), ...contentFindings(report), ...report.faults.map(faultFinding)];
}

function deliveryFindings(
  { code, contentType, truncated, broken, url, origin }: RobotsDelivery,
  report: Report,
): Finding[] {
  const { availability, foreign } = report;
  const isText = /^text\/plain\b/i.test(contentType ?? "");
  const host = new URL(url).host;
  const size = "#section-2.5";
  return [
    ...when(
      code === 429,
      "critical",
      "crawlers-refused",
      "The server responds with 429. Google then does not crawl the site.",
      {
        how: "Exempt /robots.txt from the rate limit.",
        section: "#section-2.3.1",
      },
    ),
    ...when(
      availability === "disallow_all",
      "critical",
      "robots-unavailable",
      `The server responds with ${code}. Crawlers then treat the whole site as disallowed.`,
      { how: "Respond with 200 and the rules, or with 404 if there are none.", section: "#section-2.3.1.4" },
    ),
    ...when(
      availability === "parsed" && foreign === null && !isText,
      "info",
      "not-text-plain",
      `The Content-Type of the file is ${contentType?.slice(0, 100) ?? "missing"}, not text/plain.`,
      { how: "Send the header Content-Type: text/plain; charset=utf-8", section: "#section-2.3" },
    ),
    ...when(
      broken !== null,
      "warning",
      "cut-short",
      `The file was cut short: ${broken === null ? "" : BODY_BREAKS[broken]}. The rules after that point are unknown.`,
      {
        how: "Find out whether the server or a proxy in front of it closes the connection, and correct it.",
        section: null,
      },
    ),
    ...when(truncated, "warning", "too-large", "The file is larger than 500 KiB. Crawlers may ignore the rest.", {
      how: "Shorten the file below 500 KiB, e.g. with * in patterns.",
      section: size,
    }),
    ...when(
      host !== new URL(origin).host,
      "info",
      "other-host",
      `A redirect leads to the file on another host, ${host}.`,
      {
        how: "Serve /robots.txt on the host itself: some crawlers do not follow redirects.",
        section: "#section-2.3.1.2",
      },
    ),
  ];
}

type Report = ReturnType<typeof robotsReport>;

function contentFindings({ foreign, saysNothing, errors, lenient }: Report): Finding[] {
  if (foreign === "UTF-16") {
    const message = "The file is encoded in UTF-16. Crawlers read UTF-8 and find no rules.";
    return when(true, "warning", "not-utf-8", message, { how: "Save the file as UTF-8.", section: "#section-2.3" });
  }
  if (foreign !== null) {
    const message = `The server sends ${foreign} instead of a robots.txt. Crawlers find no rules in it.`;
    return when(true, "warning", "not-robots-txt", message, { how: NOT_TEXT, section: "#section-2.3" });
  }
  return [
    ...when(
      saysNothing,
      "warning",
      "no-rules",
      "The file contains no rules. The server may send an error page as plain text.",
      { how: NOT_TEXT, section: "#section-2.2" },
    ),
    ...when(
      errors.total > 0,
      "info",
      "lines-not-rules",
      `${errors.total} lines are neither rules nor comments: ${linesOf(errors)}.`,
      { how: "Write each line as key: value, and comments after #.", section: "#section-2.2" },
    ),
    ...when(
      lenient.total > 0,
      "info",
      "misspelt-lines",
      `${lenient.total} lines have a misspelt key or no colon. Only lenient crawlers apply them: ${linesOf(lenient)}.`,
      { how: "Correct the key, and put a colon after it.", section: "#section-2.2" },
    ),
  ];
}

function faultFinding({ line, id, message }: RobotsFault): Finding {
  const { severity, how } = ROBOTS_LINES[id];
  return {
    id,
    severity,
    message: `Line ${line}: ${message}.`,
    how,
    reference: `${RFC9309}#section-2.2`,
    where: `line ${line}`,
  };
}

function linesOf({ total, lines }: { readonly total: number; readonly lines: readonly number[] }): string {
  return `line ${listFirst(lines, lines.length, total)}`;
}

function when(
  applies: boolean,
  severity: Severity,
  id: string,
  message: string,
  { how, section }: { readonly how: string; readonly section: string | null },
): Finding[] {
  if (!applies) return [];
  return [{ id, severity, message, how, reference: section === null ? null : `${RFC9309}${section}`, where: null }];
}
