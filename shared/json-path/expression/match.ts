import type { Effort } from "#shared/json-path/effort.ts";
import { contains } from "#shared/json-path/expression/characters.ts";
import { parseExpression } from "#shared/json-path/expression/parse.ts";
import { compile, type Program } from "#shared/json-path/expression/program.ts";

/** Maximum length of an expression, in characters. A longer one matches nothing. */
const MAX_EXPRESSION = 1_000;

/**
 * Reports whether an expression of RFC 9485 matches the whole text, or a part of it. false for an invalid expression.
 * The time is linear in the text: all alternatives are followed at once, without a step back.
 */
export function matchesText(expression: string, text: string, scope: "whole" | "part", effort: Effort): boolean {
  if (expression.length > MAX_EXPRESSION) return false;
  effort.spend(expression.length);
  const parsed = parseExpression(expression);
  const program = parsed === null ? null : compile(parsed);
  return program !== null && run(program, text, scope, effort);
}

function run(program: Program, text: string, scope: "whole" | "part", effort: Effort): boolean {
  const { steps, first } = program;
  effort.spend(steps.length);
  let current = new Set<number>();
  enter(program, first, current);
  for (const character of text) {
    if (scope === "part" && current.has(END)) return true;
    const following = new Set<number>();
    for (const at of current) {
      const step = steps[at];
      effort.spend(1);
      if (step?.kind !== "character") continue;
      effort.spend(step.set.ranges.length + step.set.categories.length);
      if (contains(step.set, character)) enter(program, step.next, following);
    }
    if (scope === "part") enter(program, first, following);
    else if (following.size === 0) return false;
    current = following;
  }
  return current.has(END);
}

/** Adds a step and all steps that are reached from it without a character. */
function enter({ steps }: Program, start: number, into: Set<number>): void {
  const pending = [start];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (into.has(at)) continue;
    into.add(at);
    const step = steps[at];
    if (step?.kind === "fork") pending.push(...step.next);
  }
}

/** Position of the end in every program. */
const END = 0;
