import type { AiPart, AiParts } from "#probe-agent/tools/ai-check/score.ts";
import type { SemanticHtml } from "#probe-agent/tools/ai-check/semantics.ts";

/** Facts from which readiness is graded. null means unknown. */
export interface AiFacts {
  /** HTTP status of robots.txt. */
  readonly robotsStatus: number | null;
  readonly robotsReadable: boolean | null;
  /**
   * Number of known crawlers of AI search and assistants, and how many of them robots.txt allows to fetch the root.
   * Training crawlers are not counted, because blocking them is the owner's policy.
   */
  readonly crawlers: { readonly known: number; readonly allowed: number };
  /** Number of words in the HTML before scripts run, and text as a share of its characters. */
  readonly text: { readonly words: number; readonly ratio: number } | null;
  readonly structuredData: boolean | null;
  readonly llmsTxt: {
    readonly exists: boolean;
    readonly valid: boolean;
    /** Whether an HTML page is served in place of the file. */
    readonly isPage: boolean;
    /** Departures from the proposal, as clauses that name the line. */
    readonly errors: readonly string[];
  } | null;
  readonly sitemap: boolean | null;
  readonly semantic: SemanticHtml | null;
  readonly description: boolean | null;
  readonly preferenceStated: boolean;
  /** Directives for every crawler that forbid AI use or snippets, e.g. noai. */
  readonly bans: readonly string[];
}

/**
 * Text that is enough for an AI agent: ENOUGH_WORDS words, or a fifth of them if text is at least ENOUGH_RATIO of the
 * page's characters.
 */
const ENOUGH_WORDS = 250;
const ENOUGH_RATIO = 0.1;
/** Maximum number of llms.txt errors that a sentence names. */
const MAX_ERRORS = 3;
const NO_HTML = "The response is not HTML.";

/** Grades each part of readiness. The detail says what was found, whether the part passes or fails. */
export function gradeParts(facts: AiFacts): AiParts {
  return {
    robots: robotsPart(facts),
    crawlers: crawlersPart(facts),
    static_text: textPart(facts),
    structured_data: either(facts.structuredData, NO_HTML, [
      "The page has structured data.",
      "The page has no structured data.",
    ]),
    llms_txt: llmsPart(facts),
    sitemap: either(facts.sitemap, "The sitemap could not be fetched.", [
      "There is a sitemap.",
      "robots.txt names no sitemap, and /sitemap.xml is not a sitemap.",
    ]),
    semantic_html: semanticPart(facts),
    description: either(facts.description, NO_HTML, [
      "The page has a description.",
      "The page has neither a meta description nor og:description.",
    ]),
    preference: preferencePart(facts),
    no_blanket_ban: either(facts.bans.length === 0, "", [
      "No directive forbids AI use or snippets to every crawler.",
      `The page has directives for every crawler that forbid AI use or snippets: ${facts.bans.join(", ")}.`,
    ]),
  };
}

function either(value: boolean | null, unknown: string, [yes, no]: readonly [string, string]): AiPart {
  return value === null ? { share: null, detail: unknown } : { share: Number(value), detail: value ? yes : no };
}

function robotsPart({ robotsStatus: status, robotsReadable: readable }: AiFacts): AiPart {
  if (status === null || readable === null) return { share: null, detail: "robots.txt could not be fetched." };
  if (!readable) {
    const why = isServerError(status) ? "so crawlers treat every URL as disallowed" : "and none of its lines is a rule";
    return { share: 0, detail: `robots.txt is served with status ${status}, ${why}.` };
  }
  return status === 200
    ? { share: 1, detail: "robots.txt is readable." }
    : { share: 1, detail: `There is no robots.txt (status ${status}), so every URL is allowed.` };
}

function isServerError(status: number | null): boolean {
  return status !== null && status >= 500;
}

function crawlersPart({ robotsStatus, robotsReadable, crawlers: { known, allowed } }: AiFacts): AiPart {
  if (robotsReadable === null || known === 0) return { share: null, detail: "robots.txt could not be fetched." };
  // The part "robots" already reports this fault.
  if (isServerError(robotsStatus)) {
    return { share: null, detail: "robots.txt is served with an error, so its rules for crawlers are unknown." };
  }
  const detail = `robots.txt allows ${allowed} of ${known} crawlers of AI search and assistants to fetch the site.`;
  return { share: allowed / known, detail };
}

function textPart({ text }: AiFacts): AiPart {
  if (text === null) return { share: null, detail: NO_HTML };
  const { words, ratio } = text;
  const enough = words >= ENOUGH_WORDS || (words >= ENOUGH_WORDS / 5 && ratio >= ENOUGH_RATIO);
  const detail = `The HTML contains ${words} ${words === 1 ? "word" : "words"} before any script runs.`;
  return { share: enough ? 1 : words / ENOUGH_WORDS, detail };
}

function llmsPart({ llmsTxt }: AiFacts): AiPart {
  if (llmsTxt === null) return { share: null, detail: "/llms.txt could not be fetched or read." };
  if (llmsTxt.isPage) return { share: 0, detail: "There is no /llms.txt: an HTML page is served in its place." };
  if (!llmsTxt.exists) return { share: 0, detail: "There is no /llms.txt." };
  if (llmsTxt.valid) return { share: 1, detail: "There is a valid /llms.txt." };
  const { errors } = llmsTxt;
  const shown = errors.slice(0, MAX_ERRORS).join("; ");
  const more = errors.length > MAX_ERRORS ? ` (and ${errors.length - MAX_ERRORS} more)` : "";
  return { share: 0, detail: `llms.txt does not follow the proposal: ${shown}${more}.` };
}

function semanticPart({ semantic }: AiFacts): AiPart {
  if (semantic === null) return { share: null, detail: NO_HTML };
  const { main, article, h1, headings_ordered: ordered } = semantic;
  const marks: readonly (readonly [boolean, string])[] = [
    [main, "a main element"],
    [article, "an article element"],
    [h1 === 1, h1 === 0 ? "an h1 heading" : `a single h1 heading (there are ${h1})`],
    // Without an h1, the headings cannot begin with one. Both are one fault.
    ...(h1 === 0 ? [] : [[ordered, "headings that begin with h1 and skip no level"] as const]),
  ];
  const lacking = marks.filter(([present]) => !present).map(([, name]) => name);
  const detail =
    lacking.length === 0 ? "The page marks its parts with semantic elements." : `The page lacks ${lacking.join(", ")}.`;
  return { share: 1 - lacking.length / marks.length, detail };
}

function preferencePart({ preferenceStated: stated, robotsStatus, robotsReadable }: AiFacts): AiPart {
  if (stated) return { share: 1, detail: "Preferences on AI use are stated." };
  // An unreadable robots.txt could state preferences.
  if (robotsReadable === null || isServerError(robotsStatus)) {
    return { share: null, detail: "robots.txt, which can state preferences on AI use, could not be read." };
  }
  return { share: 0, detail: "No Content-Signal, Content-Usage or TDM reservation states preferences on AI use." };
}
