/** Minimum length of a literal. Shorter literals occur in most texts, so a search for them saves nothing. */
const LEAST_LENGTH = 3;
/** Maximum number of alternatives. An expression with more of them is run without a search first. */
const MAX_ALTERNATIVES = 8;

/**
 * Returns texts in lower case, at least one of which occurs in every match of an expression with the flag i. Returns
 * null if there are none for certain. A search for them costs a fraction of the expression, because an engine that
 * ignores case tries the expression at each character.
 */
export function requiredLiterals(source: string): readonly string[] | null {
  const literals: string[] = [];
  for (const alternative of splitAlternatives(source)) {
    const literal = longestRun(alternative);
    if (literal.length < LEAST_LENGTH || literals.length === MAX_ALTERNATIVES) return null;
    literals.push(literal);
  }
  return literals;
}

/** One unit of an expression's top level, e.g. a character, an escape or a group. */
interface Unit {
  /** The only character that the unit matches. null if it can match something else, e.g. if it is a group. */
  readonly character: string | null;
  readonly text: string;
}

const QUANTIFIER = /^(?:[*?+]|\{\d+(?:,\d*)?\})$/;

function splitAlternatives(source: string): Unit[][] {
  const alternatives: Unit[][] = [[]];
  for (const unit of parseUnits(source)) {
    if (unit.text === "|") alternatives.push([]);
    else alternatives.at(-1)?.push(unit);
  }
  return alternatives;
}

function longestRun(units: readonly Unit[]): string {
  let longest = "";
  let run = "";
  const end = (): void => {
    if (run.length > longest.length) longest = run;
    run = "";
  };
  for (const [at, { character, text }] of units.entries()) {
    const next = units[at + 1]?.text ?? "";
    if (character === null || QUANTIFIER.test(text)) end();
    else if (QUANTIFIER.test(next)) {
      // The character occurs at least once, so it belongs to the run. What follows is not next to its first occurrence.
      if (next === "+") run += character;
      end();
    } else run += character;
  }
  end();
  return longest.toLowerCase();
}

/** Splits an expression into the units of its top level: characters, escapes, classes, groups and quantifiers. */
function parseUnits(source: string): Unit[] {
  const tokens = source.match(/\\[^]|\[(?:\\[^]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[^]/g) ?? [];
  const units: Unit[] = [];
  let depth = 0;
  for (const token of tokens) {
    if (token === "(") depth += 1;
    if (depth === 0) units.push({ character: parseCharacter(token), text: token });
    if (token === ")") {
      depth -= 1;
      if (depth === 0) units.push({ character: null, text: "()" });
    }
  }
  return units;
}

function parseCharacter(token: string): string | null {
  if (token.length === 1) return /[\^$.|*+?]/.test(token) || token > "~" ? null : token;
  // An escaped letter or digit is a class, an assertion, a reference or a character code.
  return /^\\[^a-z\d]$/i.test(token) ? token.slice(1) : null;
}
