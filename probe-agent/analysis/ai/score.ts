import { letterGrade, type LetterGrade } from "#probe-agent/analysis/grade.ts";

/** What readiness is made of (tools.md 4.6); null: could not be told, and does not count. */
export interface AiFacts {
  readonly robotsReadable: boolean | null;
  /** Share of search and assistant crawlers that may fetch the root, 0 to 1; those that train are policy, not scored. */
  readonly welcomeShare: number | null;
  /** Words in the HTML as it comes, and text as a share of its characters. */
  readonly text: { readonly words: number; readonly ratio: number } | null;
  readonly structuredData: boolean | null;
  readonly llmsTxt: boolean | null;
  readonly sitemap: boolean | null;
  /** Four marks of semantic HTML that hold: main, article or section headings, one h1, ordered headings. */
  readonly semanticMarks: number | null;
  readonly description: boolean | null;
  readonly preferenceStated: boolean | null;
  readonly noBlanketBan: boolean | null;
}

/** One part of the score. */
export interface AiCheck {
  readonly id: string;
  readonly score: number;
  readonly max: number;
  readonly status: "pass" | "partial" | "fail" | "na";
  readonly detail: string;
}

/** Text that an agent can work with: so many words, or so large a share of the page. */
const ENOUGH_WORDS = 250;
const ENOUGH_RATIO = 0.1;

/** The parts, their sum over what applies as 0 to 100, and its letter. */
export function scoreAi(facts: AiFacts): { score: number; grade: LetterGrade; checks: readonly AiCheck[] } {
  const { text } = facts;
  const checks = [
    part("robots", 10, yes(facts.robotsReadable), "robots.txt can be had and read."),
    part("crawlers", 20, facts.welcomeShare, "Crawlers of AI search and assistants may fetch the site."),
    part("static_text", 20, text === null ? null : textShare(text), "The content is there without scripts."),
    part("structured_data", 10, yes(facts.structuredData), "The page describes itself in structured data."),
    part("llms_txt", 10, yes(facts.llmsTxt), "A valid llms.txt points to the content."),
    part("sitemap", 5, yes(facts.sitemap), "A sitemap lists the pages."),
    part(
      "semantic_html",
      10,
      facts.semanticMarks === null ? null : facts.semanticMarks / 4,
      "Elements say what is what.",
    ),
    part("description", 5, yes(facts.description), "The page has a description."),
    part("preference", 5, yes(facts.preferenceStated), "The owner's wishes on AI use are stated."),
    part("no_blanket_ban", 5, yes(facts.noBlanketBan), "No noai or nosnippet for everyone."),
  ];
  const applicable = checks.filter(({ status }) => status !== "na");
  const most = applicable.reduce((sum, { max }) => sum + max, 0);
  const earned = applicable.reduce((sum, check) => sum + check.score, 0);
  const score = most === 0 ? 0 : Math.round((100 * earned) / most);
  return { score, grade: letterGrade(score), checks };
}

function textShare({ words, ratio }: { readonly words: number; readonly ratio: number }): number {
  if (words >= ENOUGH_WORDS || (words >= ENOUGH_WORDS / 5 && ratio >= ENOUGH_RATIO)) return 1;
  return words / ENOUGH_WORDS;
}

function yes(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}

function part(id: string, max: number, share: number | null, detail: string): AiCheck {
  if (share === null) return { id, score: 0, max, status: "na", detail };
  const score = Math.round(max * Math.min(1, Math.max(0, share)));
  return { id, score, max, status: score === max ? "pass" : score === 0 ? "fail" : "partial", detail };
}
