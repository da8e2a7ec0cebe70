/** Number of words in a text. */
interface WordCount {
  readonly words: number;
  /** false if text without spaces was too long to split, so there are more words than counted. */
  readonly complete: boolean;
}

/** Scripts without spaces between words. */
const SPACELESS =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const RUN = new RegExp(`[${SPACELESS}]+|(?:(?![${SPACELESS}])[\\p{L}\\p{N}\\p{M}'’_-])+`, "gu");
const BEGINS_SPACELESS = new RegExp(`^[${SPACELESS}]`, "u");
/**
 * Maximum number of characters split by the dictionaries of Intl.Segmenter, which are slow: in total, and in one call.
 */
const SEGMENTED = 100_000;
const AT_ONCE = 5000;

/** Counts words: runs of letters and digits. Splits scripts without spaces by Intl.Segmenter's dictionaries. */
export function countWords(text: string): WordCount {
  let words = 0;
  let left = SEGMENTED;
  let complete = true;
  for (const [run] of text.matchAll(RUN)) {
    if (!BEGINS_SPACELESS.test(run)) {
      words += /[\p{L}\p{N}]/u.test(run) ? 1 : 0;
      continue;
    }
    const part = run.slice(0, left);
    complete &&= part.length === run.length;
    left -= part.length;
    for (let at = 0; at < part.length; at += AT_ONCE) words += segments(part.slice(at, at + AT_ONCE));
  }
  return { words, complete };
}

const segmenter = new Intl.Segmenter("en", { granularity: "word" });

function segments(text: string): number {
  let count = 0;
  for (const { isWordLike } of segmenter.segment(text)) count += isWordLike === true ? 1 : 0;
  return count;
}
