import { requiredLiterals } from "#probe-agent/analysis/page/tech/literal.ts";

/** One pattern of a rule: what to look for and what finding it tells. */
export interface Pattern {
  /** Null: that there is a value at all is enough. */
  readonly regex: RegExp | null;
  /** Texts in lower case of which one is in everything that fits; null: not known. */
  readonly literals: readonly string[] | null;
  /** The version in terms of the expression's groups, "" for none. */
  readonly version: string;
  /** How far a match proves the technology, 0 to 100. */
  readonly confidence: number;
}

/** A name with what goes with it, as in `implies`. */
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
/** A "version" that begins with so large a number is a date or a cache key. */
const TOO_LARGE = 10_000;

/**
 * Reads a pattern with its tags, e.g. `jquery-([\d.]+)\.js\;version:\1\;confidence:50`; letter case never counts. Null
 * where the expression is none.
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

/** Reads a technology's name with its tags, e.g. `PHP\;confidence:50`. */
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
 * The version a match tells: `\1` is the first group, `\1?a:b` is a where that group took part and b where not (b runs to
 * the template's end and may hold another of these). Null where nothing like a version comes out.
 */
export function resolveVersion(template: string, groups: readonly (string | undefined)[]): string | null {
  if (template === "") return null;
  // "Made 3.4." at the end of a sentence: the last dot belongs to the sentence.
  const version = fill(template, groups)
    .trim()
    .replace(/(?<!\.)\.{1,3}$/, "");
  const sane = version !== "" && version.length <= MAX_VERSION && /^[\w.+~:/ -]+$/.test(version);
  return sane && !(Number.parseInt(version, 10) >= TOO_LARGE) ? version : null;
}

function fill(template: string, groups: readonly (string | undefined)[]): string {
  const ternary = /\\(\d{1,2})\?/.exec(template);
  const middle = ternary === null ? -1 : template.indexOf(":", ternary.index);
  const plain = ternary === null || middle === -1 ? template : template.slice(0, ternary.index);
  const head = plain.replaceAll(/\\(\d{1,2})/g, (_, group: string) => groups[Number(group)] ?? "");
  if (ternary === null || middle === -1) return head;
  const [whole, group] = ternary;
  const yes = template.slice(ternary.index + whole.length, middle);
  const no = template.slice(middle + 1);
  return head + fill((groups[Number(group)] ?? "") === "" ? no : yes, groups);
}
