/** One pattern of a rule: the expression to match, and the version and confidence of a match. */
export interface Pattern {
  /** null matches any value. */
  readonly regex: RegExp | null;
  /** Texts in lower case, at least one of which occurs in every match. null if unknown. */
  readonly literals: readonly string[] | null;
  /** Template of the version with references to the expression's groups. "" if there is none. */
  readonly version: string;
  /** Confidence that a match proves the technology, 0 to 100. */
  readonly confidence: number;
}

/** A technology's name with its tags, as in `implies`. */
export interface TaggedName {
  readonly name: string;
  readonly confidence: number;
  readonly version: string;
}

interface Tags {
  readonly value: string;
  readonly version: string;
  readonly confidence: number;
}

const MAX_PATTERN = 4096;
const MAX_TEMPLATE = 200;
const MAX_VERSION = 32;
/** A number from this on at the start is a date or a cache key, not a version. */
const TOO_LARGE = 10_000;

/** Minimum length of a literal. Shorter literals occur in most texts, so a search for them saves nothing. */
const LEAST_LENGTH = 3;
/** Maximum number of alternatives. An expression with more of them is run without a search first. */
const MAX_ALTERNATIVES = 8;

/** One unit of an expression's top level, e.g. a character, an escape or a group. */
interface Unit {
  /** The only character that the unit matches. null if it can match something else, e.g. if it is a group. */
  readonly character: string | null;
  readonly text: string;
}

const QUANTIFIER = /^(?:[*?+]|\{\d+(?:,\d*)?\})$/;

/**
 * Parses a pattern with its tags, e.g. `jquery-([\d.]+)\.js\;version:\1\;confidence:50`. The pattern ignores case.
 * Returns null if the expression is invalid or longer than 4096 characters.
 */
export function parsePattern(text: string): Pattern | null {
  if (text.length > MAX_PATTERN) return null;
  const { value, version, confidence } = readTags(text);
  if (value === "") return { regex: null, literals: null, version, confidence };
  try {
    return { regex: new RegExp(value, "i"), literals: requiredLiterals(value), version, confidence };
  } catch {
    return null;
  }
}

/** Parses a technology's name with its tags, e.g. `PHP\;confidence:50`. */
export function parseTaggedName(text: string): TaggedName {
  const { value, version, confidence } = readTags(text);
  return { name: value, version, confidence };
}

function readTags(text: string): Tags {
  const [value = "", ...tags] = text.split("\\;");
  const tag = (name: string): string | undefined =>
    tags.find((one) => one.startsWith(`${name}:`))?.slice(name.length + 1);
  const confidence = Number(tag("confidence") ?? 100);
  return {
    value,
    version: (tag("version") ?? "").slice(0, MAX_TEMPLATE),
    confidence: Number.isFinite(confidence) ? Math.min(100, Math.max(0, Math.round(confidence))) : 100,
  };
}

/**
 * Fills in a version template. `\1` is the first group. `\1?a:b` is `a` if that group matched, else `b`; `b` runs to
 * the template's end and can contain another condition. Returns null if the result is not a plausible version.
 */
export function resolveVersion(template: string, groups: readonly (string | undefined)[]): string | null {
  if (template === "") return null;
  // In "Made 3.4." the last dot ends the sentence.
  const version = fillTemplate(template, groups)
    .trim()
    .replace(/(?<!\.)\.{1,3}$/, "");
  const plausible = version !== "" && version.length <= MAX_VERSION && /^[\w.+~:/ -]+$/.test(version);
  return plausible && !(Number.parseInt(version, 10) >= TOO_LARGE) ? version : null;
}

function fillTemplate(template: string, groups: readonly (string | undefined)[]): string {
  const ternary = /\\(\d{1,2})\?/.exec(template);
  const middle = ternary === null ? -1 : template.indexOf(":", ternary.index);
  const plain = ternary === null || middle === -1 ? template : template.slice(0, ternary.index);
  const head = plain.replaceAll(/\\(\d{1,2})/g, (_, group: string) => groups[Number(group)] ?? "");
  if (ternary === null || middle === -1) return head;
  const [whole, group] = ternary;
  const yes = template.slice(ternary.index + whole.length, middle);
  const no = template.slice(middle + 1);
  return head + fillTemplate((groups[Number(group)] ?? "") === "" ? no : yes, groups);
}

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
