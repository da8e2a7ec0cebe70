import type { AiPart, AiParts } from "#probe-agent/analysis/page/ai/score.ts";
import type { SemanticHtml } from "#probe-agent/analysis/page/ai/semantics.ts";

/** What readiness depends on; null: not known. */
export interface AiFacts {
  /** HTTP status of robots.txt. */
  readonly robotsStatus: number | null;
  readonly robotsReadable: boolean | null;
  /** Crawlers of AI search and assistants, and those of them that may fetch the root; those that train are policy. */
  readonly crawlers: { readonly known: number; readonly allowed: number };
  /** Words in the HTML as it comes, and text as a share of its characters. */
  readonly text: { readonly words: number; readonly ratio: number } | null;
  readonly structuredData: boolean | null;
  readonly llmsTxt: {
    readonly exists: boolean;
    readonly valid: boolean;
    /** An HTML page is served in its place. */
    readonly isPage: boolean;
    /** What does not follow the proposal, clauses with their lines. */
    readonly errors: readonly string[];
  } | null;
  readonly sitemap: boolean | null;
  readonly semantic: SemanticHtml | null;
  readonly description: boolean | null;
  readonly preferenceStated: boolean;
  /** Directives for every crawler that forbid AI use or snippets, e.g. noai. */
  readonly bans: readonly string[];
}

/** Text that an agent can work with: so many words, or so large a share of the page. */
const ENOUGH_WORDS = 250;
const ENOUGH_RATIO = 0.1;
/** Errors of llms.txt that a sentence names. */
const MAX_ERRORS = 3;
const NO_HTML = "The answer is no HTML.";

/** What was found of each part. A sentence says what is, whether the part passes or fails. */
export function judgeParts(facts: AiFacts): AiParts {
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
      "robots.txt names no sitemap, and /sitemap.xml is none.",
    ]),
    semantic_html: semanticPart(facts),
    description: either(facts.description, NO_HTML, [
      "The page has a description.",
      "The page has neither a meta description nor og:description.",
    ]),
    preference: preferencePart(facts),
    no_blanket_ban: either(facts.bans.length === 0, "", [
      "No directive forbids AI use or snippets to every crawler.",
      `The page forbids every crawler: ${facts.bans.join(", ")}.`,
    ]),
  };
}

function either(value: boolean | null, unknown: string, [yes, no]: readonly [string, string]): AiPart {
  return value === null ? { share: null, detail: unknown } : { share: Number(value), detail: value ? yes : no };
}

function robotsPart({ robotsStatus: status, robotsReadable: readable }: AiFacts): AiPart {
  if (status === null || readable === null) return { share: null, detail: "robots.txt could not be fetched." };
  if (!readable) {
    const why = fails(status) ? "so crawlers take everything as forbidden" : "and none of its lines is a rule";
    return { share: 0, detail: `robots.txt answers with status ${status}, ${why}.` };
  }
  return status === 200
    ? { share: 1, detail: "robots.txt can be read." }
    : { share: 1, detail: `There is no robots.txt (status ${status}), so everything is allowed.` };
}

function fails(status: number | null): boolean {
  return status !== null && status >= 500;
}

function crawlersPart({ robotsStatus, robotsReadable, crawlers: { known, allowed } }: AiFacts): AiPart {
  if (robotsReadable === null || known === 0) return { share: null, detail: "robots.txt could not be fetched." };
  // The part "robots" has this fault already.
  if (fails(robotsStatus)) return { share: null, detail: "robots.txt fails, so its rules for crawlers are not known." };
  const detail = `${allowed} of ${known} crawlers of AI search and assistants may fetch the site.`;
  return { share: allowed / known, detail };
}

function textPart({ text }: AiFacts): AiPart {
  if (text === null) return { share: null, detail: NO_HTML };
  const { words, ratio } = text;
  const enough = words >= ENOUGH_WORDS || (words >= ENOUGH_WORDS / 5 && ratio >= ENOUGH_RATIO);
  const detail = `The HTML holds ${words} ${words === 1 ? "word" : "words"} before any script runs.`;
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
    // Without an h1, the headings cannot begin with one: that is one fault.
    ...(h1 === 0 ? [] : [[ordered, "headings that begin with h1 and skip no level"] as const]),
  ];
  const lacking = marks.filter(([held]) => !held).map(([, name]) => name);
  const detail =
    lacking.length === 0 ? "Its elements tell the parts of the page apart." : `Lacks ${lacking.join(", ")}.`;
  return { share: 1 - lacking.length / marks.length, detail };
}

function preferencePart({ preferenceStated: stated, robotsStatus, robotsReadable }: AiFacts): AiPart {
  if (stated) return { share: 1, detail: "Preferences on AI use are stated." };
  // What robots.txt may say is not known.
  if (robotsReadable === null || fails(robotsStatus)) {
    return { share: null, detail: "robots.txt, which may state preferences on AI use, could not be read." };
  }
  return { share: 0, detail: "No Content-Signal, Content-Usage or TDM reservation states preferences on AI use." };
}
