/** Size of the screen that is assumed to show the page, in CSS pixels. */
export interface Screen {
  readonly width: number;
  readonly height: number;
}

const MAX_CHARACTERS = 2000;
/** Maximum length of a feature with its value, in characters. */
const MAX_FEATURE = 100;
const PIXELS_PER_EM = 16;
/**
 * Features of an ordinary screen with their matching values. An unlisted feature does not match, as in browsers that do
 * not support it.
 */
const PLAIN: ReadonlyMap<string, readonly string[]> = new Map([
  ["prefers-color-scheme", ["light"]],
  ["prefers-reduced-motion", ["no-preference"]],
  ["prefers-contrast", ["no-preference"]],
  ["forced-colors", ["none"]],
  ["hover", ["hover", ""]],
  ["any-hover", ["hover", ""]],
  ["pointer", ["fine", ""]],
  ["any-pointer", ["fine", ""]],
  ["scripting", ["enabled", ""]],
  ["update", ["fast", ""]],
  ["color", [""]],
]);

/**
 * Reports whether a media query list (Media Queries Level 4) matches a screen, as far as this is known without a
 * browser: widths, heights, orientation and the features of an ordinary screen. 1em is 16px. An empty list matches.
 */
export function matchesMedia(list: string, screen: Screen): boolean {
  const text = list.slice(0, MAX_CHARACTERS).trim().toLowerCase();
  return text === "" || text.split(",").some((query) => matchesQuery(query.trim(), screen));
}

function matchesQuery(query: string, screen: Screen): boolean {
  const [, negation, type, rest = ""] = /^(not\s+|only\s+)?([a-z-]+)?\s*(.*)$/s.exec(query) ?? [];
  const word = type === "and" || type === "or" ? undefined : type;
  const typed = word === undefined || word === "all" || word === "screen";
  const conditions = splitConditions(rest.replace(/^and\b/, ""));
  const matched = conditions?.every((condition) => matchesFeature(condition, screen)) ?? false;
  return negation?.trim() === "not" ? !(typed && matched) : typed && matched;
}

/** Splits "(a) and (b)" into its parts. Returns null for `or`, nested conditions and invalid queries. */
function splitConditions(text: string): string[] | null {
  const parts = text.trim() === "" ? [] : text.split(/\band\b/).map((part) => part.trim());
  const plain = parts.every((part) => /^\([^()]*\)$/.test(part));
  return plain ? parts.map((part) => part.slice(1, -1).trim()) : null;
}

function matchesFeature(feature: string, screen: Screen): boolean {
  if (feature.length > MAX_FEATURE) return false;
  const [name = "", value = ""] = feature.split(":", 2).map((part) => part.trim());
  const bound = /^(min|max)-(?:device-)?(width|height)$/.exec(name);
  if (bound !== null) {
    const length = pixels(value);
    const actual = screen[bound[2] as keyof Screen];
    return length !== null && (bound[1] === "min" ? actual >= length : actual <= length);
  }
  if (name === "orientation") return value === (screen.height >= screen.width ? "portrait" : "landscape");
  const range = /^(?:([^\s<]+)\s*(<=?)\s*)?(width|height)\s*(?:(<=?|>=?|=)\s*(\S+))?$/.exec(feature);
  if (range !== null) return matchesRange(range, screen);
  return PLAIN.get(name)?.includes(value) ?? false;
}

/** Evaluates a range such as (400px <= width < 700px) or (width >= 600px). */
function matchesRange([, low, lowSign, name, sign, high]: RegExpExecArray, screen: Screen): boolean {
  const actual = screen[name as keyof Screen];
  const above = low === undefined || compare(pixels(low), lowSign ?? "", actual);
  const below = high === undefined || sign === undefined || compare(actual, sign, pixels(high));
  return above && below;
}

function compare(one: number | null, sign: string, other: number | null): boolean {
  if (one === null || other === null) return false;
  if (one === other) return sign.includes("=");
  return sign.startsWith("<") ? one < other : sign.startsWith(">") && one > other;
}

/** Parses a length to CSS pixels. Returns null if it is invalid or has a unit other than px, em and rem. */
export function pixels(text: string): number | null {
  const [, number, unit] = /^(\d{1,7}(?:\.\d{1,6})?|\.\d{1,6})(px|em|rem)?$/.exec(text.trim()) ?? [];
  if (number === undefined || (unit === undefined && Number(number) !== 0)) return null;
  return Number(number) * (unit === "em" || unit === "rem" ? PIXELS_PER_EM : 1);
}
