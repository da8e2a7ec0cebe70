import type { Finding, Severity } from "#shared/findings.ts";
import { BODY_BREAKS, type BodyBreak } from "#shared/tools/http/body.ts";
import type { RobotsFault, RobotsFaultId } from "#probe-agent/analysis/web/robots/faults.ts";
import type { robotsReport } from "#probe-agent/analysis/web/robots/rules.ts";

const RFC9309 = "https://www.rfc-editor.org/rfc/rfc9309";

/** Severity and advice for lines without the effect that was meant. */
const ROBOTS_LINES: Readonly<Record<RobotsFaultId, { readonly severity: Severity; readonly how: string }>> = {
  "rule-before-user-agent": { severity: "warning", how: "Put a line User-agent: * before the rule." },
  "pattern-matches-nothing": { severity: "warning", how: "Begin the pattern with /." },
  "dollar-within-pattern": { severity: "info", how: "Put $ at the end of the pattern, or write a dollar sign as %24." },
  "user-agent-empty": { severity: "warning", how: "Name a crawler, or * for all." },
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

/** How the file came, beside its content. */
export interface RobotsDelivery {
  readonly code: number;
  readonly contentType: string | null;
  /** Cut at 500 KiB. */
  readonly truncated: boolean;
  /** Why the body ended before its end; null: it did not. */
  readonly broken: BodyBreak | null;
  /** URL of the file, after redirects, and origin it was asked for at. */
  readonly url: string;
  readonly origin: string;
}

const NOT_TEXT = "Serve robots.txt as plain text, or answer 404 if the site has none.";

/** What an owner of the file should look at; where: the line. */
export function describeRobotsFindings(delivery: RobotsDelivery, report: ReturnType<typeof robotsReport>): Finding[] {
  return [...ofDelivery(delivery, report), ...ofContent(report), ...report.faults.map(ofLine)];
}

function ofDelivery({ code, contentType, truncated, broken, url, origin }: RobotsDelivery, report: Report): Finding[] {
  const { availability, foreign } = report;
  const isText = /^text\/plain\b/i.test(contentType ?? "");
  const host = new URL(url).host;
  const size = "#section-2.5";
  return [
    ...when(code === 429, "critical", "crawlers-refused", "The server answers 429; Google then crawls nothing.", {
      how: "Exempt /robots.txt from the rate limit.",
      section: "#section-2.3.1",
    }),
    ...when(
      availability === "disallow_all",
      "critical",
      "robots-unavailable",
      `The server answers ${code}; crawlers take that as a ban on the whole site.`,
      { how: "Answer 200 with the rules, or 404 if there are none.", section: "#section-2.3.1.4" },
    ),
    ...when(
      availability === "parsed" && foreign === null && !isText,
      "info",
      "not-text-plain",
      `The file is served as ${contentType?.slice(0, 100) ?? "no type"} in place of text/plain.`,
      { how: "Send the header Content-Type: text/plain; charset=utf-8", section: "#section-2.3" },
    ),
    ...when(
      broken !== null,
      "warning",
      "cut-short",
      `The file was cut short: ${broken === null ? "" : BODY_BREAKS[broken]}. Rules further down are not known.`,
      { how: "Correct what closes the connection: the server, or a proxy before it.", section: null },
    ),
    ...when(truncated, "warning", "too-large", "The file is larger than 500 KiB; crawlers may ignore what is beyond.", {
      how: "Shorten the file below 500 KiB, e.g. with * in patterns.",
      section: size,
    }),
    ...when(
      host !== new URL(origin).host,
      "info",
      "other-host",
      `The file is fetched from another host, ${host}, by a redirect.`,
      { how: "Serve /robots.txt on the host itself: some crawlers follow no redirects.", section: "#section-2.3.1.2" },
    ),
  ];
}

type Report = ReturnType<typeof robotsReport>;

function ofContent({ foreign, saysNothing, errors, lenient }: Report): Finding[] {
  if (foreign === "UTF-16") {
    const message = "The file is encoded in UTF-16; crawlers read UTF-8 and find no rules.";
    return when(true, "warning", "not-utf-8", message, { how: "Save the file as UTF-8.", section: "#section-2.3" });
  }
  if (foreign !== null) {
    const message = `The server sends ${foreign} in place of robots.txt; crawlers find no rules in it.`;
    return when(true, "warning", "not-robots-txt", message, { how: NOT_TEXT, section: "#section-2.3" });
  }
  return [
    ...when(
      saysNothing,
      "warning",
      "no-rules",
      "No line of the file is a rule; the server may send an error page as plain text.",
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
      `${lenient.total} lines have a misspelt key or no colon; only lenient crawlers apply them: ${linesOf(lenient)}.`,
      { how: "Correct the key, and put a colon after it.", section: "#section-2.2" },
    ),
  ];
}

function ofLine({ line, id, message }: RobotsFault): Finding {
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
  const more = total - lines.length;
  return `line ${lines.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
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
