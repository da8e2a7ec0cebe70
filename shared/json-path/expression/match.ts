import type { Effort } from "#shared/json-path/effort.ts";
import {
  contains,
  type CharacterSet,
  ANY,
  parseClass,
  parseEscape,
  setOf,
} from "#shared/json-path/expression/characters.ts";
import { createReader, ExpressionError, type Reader } from "#shared/json-path/expression/reader.ts";

/** Maximum length of an expression, in characters. A longer one matches nothing. */
const MAX_EXPRESSION = 1_000;

/** One step of a program. Numbers are positions of steps. */
type Step =
  | { readonly kind: "character"; readonly set: CharacterSet; readonly next: number }
  /** Continues at each of these. */
  | { readonly kind: "fork"; readonly next: readonly number[] }
  | { readonly kind: "end" };

/** The steps of an expression. */
interface Program {
  readonly steps: readonly Step[];
  readonly first: number;
}

/** Maximum number of steps. Counted repetitions are written out. */
const MAX_STEPS = 2_000;

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

/** Compiles an expression to a program (Thompson's construction); null if it has too many steps. */
function compile(expression: Expression): Program | null {
  const steps: Step[] = [{ kind: "end" }];
  const first = build(expression, 0, steps);
  return first === null ? null : { steps, first };
}

/** Adds the steps of an expression that continue at `next`. Returns the position of the first one. */
function build(expression: Expression, next: number, steps: Step[]): number | null {
  switch (expression.kind) {
    case "set":
      return add({ kind: "character", set: expression.set, next }, steps);
    case "sequence":
      return expression.parts.reduceRight<number | null>(
        (after, part) => (after === null ? null : build(part, after, steps)),
        next,
      );
    case "choice": {
      const starts = expression.parts.map((part) => build(part, next, steps));
      const built = starts.filter((start) => start !== null);
      return built.length < starts.length ? null : add({ kind: "fork", next: built }, steps);
    }
    case "repeat":
      return buildRepeat(expression, next, steps);
  }
}

function buildRepeat(
  { part, least, most }: Extract<Expression, { kind: "repeat" }>,
  next: number,
  steps: Step[],
): number | null {
  let start: number | null = most === null ? buildLoop(part, next, steps) : next;
  const optional = most === null ? 0 : most - least;
  for (let count = 0; start !== null && count < optional; count += 1) {
    const taken = build(part, start, steps);
    start = taken === null ? null : add({ kind: "fork", next: [taken, next] }, steps);
  }
  for (let count = 0; start !== null && count < least; count += 1) {
    start = build(part, start, steps);
  }
  return start;
}

function buildLoop(part: Expression, next: number, steps: Step[]): number | null {
  const fork: { kind: "fork"; next: number[] } = { kind: "fork", next: [next] };
  const at = add(fork, steps);
  const body = at === null ? null : build(part, at, steps);
  if (body !== null) fork.next.unshift(body);
  return body === null ? null : at;
}

function add(step: Step, steps: Step[]): number | null {
  if (steps.length >= MAX_STEPS) return null;
  steps.push(step);
  return steps.length - 1;
}

/** A parsed regular expression of RFC 9485 (I-Regexp). */
type Expression =
  | { readonly kind: "set"; readonly set: CharacterSet }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Expression[] }
  /** null: any number of times. */
  | { readonly kind: "repeat"; readonly part: Expression; readonly least: number; readonly most: number | null };

const MAX_DEPTH = 30;
const SPECIAL = new Set("()*+.?[\\]{|}");

/** Parses an expression; null if it is not valid. */
function parseExpression(text: string): Expression | null {
  const reader = createReader(text);
  try {
    const expression = parseChoice(reader, 0);
    return reader.peek() === undefined ? expression : null;
  } catch (error) {
    if (error instanceof ExpressionError) return null;
    throw error;
  }
}

function parseChoice(reader: Reader, depth: number): Expression {
  if (depth > MAX_DEPTH) throw new ExpressionError();
  const parts: Expression[] = [];
  do parts.push(parseSequence(reader, depth));
  while (reader.skip("|"));
  return { kind: "choice", parts };
}

function parseSequence(reader: Reader, depth: number): Expression {
  const parts: Expression[] = [];
  for (let next = reader.peek(); next !== undefined && next !== "|" && next !== ")"; next = reader.peek()) {
    parts.push(parseQuantifier(reader, parseAtom(reader, depth)));
  }
  return { kind: "sequence", parts };
}

function parseAtom(reader: Reader, depth: number): Expression {
  const character = reader.take();
  if (character === "(") {
    const inner = parseChoice(reader, depth + 1);
    if (!reader.skip(")")) throw new ExpressionError();
    return inner;
  }
  if (character === ".") return { kind: "set", set: ANY };
  if (character === "[") return { kind: "set", set: parseClass(reader) };
  if (character === "\\") return { kind: "set", set: parseEscape(reader) };
  if (SPECIAL.has(character)) throw new ExpressionError();
  return { kind: "set", set: setOf(character) };
}

function parseQuantifier(reader: Reader, part: Expression): Expression {
  if (reader.skip("*")) return { kind: "repeat", part, least: 0, most: null };
  if (reader.skip("+")) return { kind: "repeat", part, least: 1, most: null };
  if (reader.skip("?")) return { kind: "repeat", part, least: 0, most: 1 };
  if (!reader.skip("{")) return part;
  const least = parseCount(reader);
  const most = !reader.skip(",") ? least : reader.peek() === "}" ? null : parseCount(reader);
  if (!reader.skip("}") || (most !== null && most < least)) throw new ExpressionError();
  return { kind: "repeat", part, least, most };
}

const MAX_COUNT_DIGITS = 5;

function parseCount(reader: Reader): number {
  let digits = "";
  for (let next = reader.peek(); next !== undefined && next >= "0" && next <= "9"; next = reader.peek()) {
    digits += reader.take();
    if (digits.length > MAX_COUNT_DIGITS) throw new ExpressionError();
  }
  if (digits === "") throw new ExpressionError();
  return Number(digits);
}
