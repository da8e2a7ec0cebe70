import { runInNewContext } from "node:vm";
import type { Expression } from "#test/laws/expressions/parse.ts";
import { recheck, type Attack } from "#test/support/recheck.ts";

/** Length of the attack, in characters, for expressions with long bounds, and the time allowed for it, in milliseconds. */
const ATTACK_CHARACTERS = 65_536;
const ATTACK_MS = 2_000;
const LONGEST_KEPT = 3;

/**
 * Why an expression may take more than linear time; null where it does not.
 *
 * 1. With long bounds cut to three (`x{0,200}` becomes `x{0,3}`), recheck must prove it linear. A bound changes the
 *    factor and not the degree; with the bounds as written the automata have too many states, and recheck falls back on
 *    guesses that call every long bound polynomial.
 * 2. Where bounds were cut, recheck looks for an attack on the expression as written. The text it finds, 64 KB of it,
 *    must be matched within two seconds, so that no factor is large.
 */
export async function faultOf({ source, flags }: Pick<Expression, "source" | "flags">): Promise<string | null> {
  const cut = withShortBounds(source);
  const verdict = await recheck(cut, flags, { patient: true });
  if (verdict.status === "vulnerable") return `${verdict.complexity}, e.g. for ${JSON.stringify(verdict.attack)}`;
  if (verdict.status === "unknown") return `not decided (${verdict.reason})`;
  if (cut === source) return null;
  const asWritten = await recheck(source, flags);
  if (asWritten.status !== "vulnerable") return null;
  return standsUp(new RegExp(source, flags), pumped(asWritten.attack))
    ? null
    : `over ${ATTACK_MS} ms for ${JSON.stringify(asWritten.attack)} of 64 KB`;
}

/** Cuts the bounds of repetitions; escapes and classes are left alone. */
export function withShortBounds(source: string): string {
  const tokens = /\\[^]|\[(?:\\[^]|[^\]\\])*\]|\{(?<least>\d+)(?<comma>,(?<most>\d*))?\}/g;
  return source.replaceAll(tokens, (token, ...args) => {
    const { least, comma, most } = args.at(-1) as Readonly<Record<string, string | undefined>>;
    if (least === undefined) return token;
    if (comma === undefined) return `{${Math.min(Number(least), LONGEST_KEPT)}}`;
    const from = Math.min(Number(least), LONGEST_KEPT - 1);
    return most === undefined || most === ""
      ? `{${from},}`
      : `{${from},${Math.max(from, Math.min(Number(most), LONGEST_KEPT))}}`;
  });
}

function pumped({ pumps, suffix }: Attack): string {
  const fixed = pumps.reduce((sum, { prefix }) => sum + prefix.length, suffix.length);
  const share = Math.max(0, ATTACK_CHARACTERS - fixed) / pumps.length;
  const parts = pumps.map(({ prefix, pump }) => prefix + pump.repeat(Math.ceil(share / Math.max(1, pump.length))));
  return parts.join("") + suffix;
}

/** Whether the expression is done with the text in time. Only a context of its own can be interrupted. */
function standsUp(expression: RegExp, text: string): boolean {
  try {
    runInNewContext("expression.test(text)", { expression, text }, { timeout: ATTACK_MS });
    return true;
  } catch {
    return false;
  }
}
