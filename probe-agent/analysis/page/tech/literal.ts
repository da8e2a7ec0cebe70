/** Shorter runs occur in most texts and save nothing. */
const LEAST_LENGTH = 3;
/** Alternatives looked for; an expression with more of them is run without a look first. */
const MAX_ALTERNATIVES = 8;

/**
 * Texts in lower case of which one occurs in everything that an expression with the flag i fits; null where none is
 * certain. A look for them costs a fraction of the expression: an engine runs ignoring case over each character.
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

/** One unit of an expression's top level. */
interface Unit {
  /** The character it matches; null where it may fit something else, a group for one. */
  readonly character: string | null;
  readonly text: string;
}

const QUANTIFIER = /^(?:[*?+]|\{\d+(?:,\d*)?\})$/;

function splitAlternatives(source: string): Unit[][] {
  const alternatives: Unit[][] = [[]];
  for (const unit of unitsOf(source)) {
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
      // Once at least: it belongs to the run, but what follows does not touch it.
      if (next === "+") run += character;
      end();
    } else run += character;
  }
  end();
  return longest.toLowerCase();
}

/** Characters, escapes, classes, groups and quantifiers of the top level; a group is one unit. */
function unitsOf(source: string): Unit[] {
  const tokens = source.match(/\\[^]|\[(?:\\[^]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[^]/g) ?? [];
  const units: Unit[] = [];
  let depth = 0;
  for (const token of tokens) {
    if (token === "(") depth += 1;
    if (depth === 0) units.push({ character: characterOf(token), text: token });
    if (token === ")") {
      depth -= 1;
      if (depth === 0) units.push({ character: null, text: "()" });
    }
  }
  return units;
}

function characterOf(token: string): string | null {
  if (token.length === 1) return /[\^$.|*+?]/.test(token) || token > "~" ? null : token;
  // An escaped letter or digit is a class, an assertion, a reference or a character code.
  return /^\\[^a-z\d]$/i.test(token) ? token.slice(1) : null;
}
