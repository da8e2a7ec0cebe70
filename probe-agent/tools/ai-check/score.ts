import { letterGrade, type LetterGrade } from "#probe-agent/analysis/text/letter-grade.ts";

/** One part of readiness: the share that is met, and a sentence that says what was found. */
export interface AiPart {
  /** 0 to 1. null if unknown or if another part reports the same fault; the part then does not count. */
  readonly share: number | null;
  readonly detail: string;
}

/** Maximum points of each part, in the order of results. The sum is 100. */
const POINTS = {
  robots: 10,
  crawlers: 20,
  static_text: 20,
  structured_data: 10,
  llms_txt: 10,
  sitemap: 5,
  semantic_html: 10,
  description: 5,
  preference: 5,
  no_blanket_ban: 5,
} as const;

/** Name of a part. */
export type AiCheckId = keyof typeof POINTS;
/** Share and detail of every part. */
export type AiParts = Readonly<Record<AiCheckId, AiPart>>;

/** Points, status and detail of one part of the score. */
export interface AiCheck {
  readonly id: AiCheckId;
  readonly score: number;
  readonly max: number;
  readonly status: "pass" | "partial" | "fail" | "na";
  readonly detail: string;
}

/** Returns the checks, the score as a percentage of the points of the applicable parts, and the letter grade. */
export function scoreAi(parts: AiParts): { score: number; grade: LetterGrade; checks: readonly AiCheck[] } {
  const checks = (Object.keys(POINTS) as AiCheckId[]).map((id) => scorePart(id, POINTS[id], parts[id]));
  const applicable = checks.filter(({ status }) => status !== "na");
  const most = applicable.reduce((sum, { max }) => sum + max, 0);
  const earned = applicable.reduce((sum, check) => sum + check.score, 0);
  const score = most === 0 ? 0 : Math.round((100 * earned) / most);
  return { score, grade: letterGrade(score), checks };
}

function scorePart(id: AiCheckId, max: number, { share, detail }: AiPart): AiCheck {
  if (share === null) return { id, score: 0, max, status: "na", detail };
  const score = Math.round(max * Math.min(1, Math.max(0, share)));
  return { id, score, max, status: score === max ? "pass" : score === 0 ? "fail" : "partial", detail };
}
