/** Plain JSON data of a result. */
type Plain = string | number | boolean | null | readonly Plain[] | { readonly [key: string]: Plain };

/** An excerpt of a value. `cut`: whether anything was left out. */
interface Excerpt<T> {
  readonly value: T;
  readonly cut: boolean;
}

const MAX_TEXT = 2000;
const MAX_LIST = 100;
const MAX_DEPTH = 16;

/** Returns the beginning of a value of any size: about `budget` characters, with long texts and lists shortened. */
export function excerpt<T>(value: T, budget: number): Excerpt<T> {
  const state = { left: budget, cut: false };
  const shown = shorten(value as Plain, 0, state) as T;
  return { value: shown, cut: state.cut };
}

/**
 * Returns the first `limit` characters of a text in a form that is safe to store and show. Control characters other
 * than tab, line feed and carriage return become U+FFFD, and so do lone surrogates.
 */
export function storable(text: string, limit: number): string {
  return text
    .slice(0, limit)
    .replaceAll(/[^\P{Cc}\t\n\r]/gu, "\uFFFD")
    .toWellFormed();
}

function shorten(value: Plain, depth: number, state: { left: number; cut: boolean }): Plain {
  state.left -= 8;
  if (typeof value === "string") {
    const limit = Math.max(0, Math.min(MAX_TEXT, state.left));
    state.cut ||= value.length > limit;
    state.left -= Math.min(value.length, limit);
    return storable(value, limit);
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const list = value as readonly Plain[];
    return take(list, depth, state).map((one) => shorten(one, depth + 1, state));
  }
  const entries = take(Object.entries(value as { readonly [key: string]: Plain }), depth, state);
  return Object.fromEntries(
    entries.map(([key, one]) => {
      const name = storable(key, 200);
      state.left -= name.length;
      return [name, shorten(one, depth + 1, state)];
    }),
  );
}

function take<T>(list: readonly T[], depth: number, state: { left: number; cut: boolean }): readonly T[] {
  const room = depth >= MAX_DEPTH || state.left <= 0 ? 0 : MAX_LIST;
  state.cut ||= list.length > room;
  return list.slice(0, room);
}
