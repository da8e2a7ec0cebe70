import { requiredLiterals } from "#probe-agent/analysis/page/tech/literal.ts";

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
