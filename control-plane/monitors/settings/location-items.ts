import { parseLocations, type LocationItem } from "#shared/internet/locations.ts";
import { refuse, type Read } from "#shared/schema/problem.ts";

const ONE_PROBE = "each item selects one probe: leave out all, nearest, :n and !";

/** Reads the locations of a monitor: items of a location expression that select one probe each. */
export function readLocationItems(given: readonly string[]): Read<readonly string[]> {
  if (given.length === 0) return refuse("locations", "range", "must have at least 1 item");
  const texts = new Map<string, string>();
  for (const [index, text] of given.entries()) {
    const field = `locations.${index}`;
    const item = readLocationItem(text);
    if (typeof item === "string") return refuse(field, "unknown_location", item);
    const key = JSON.stringify(item.terms.map((term) => JSON.stringify(term)).toSorted());
    if (texts.has(key))
      return refuse(field, "duplicate", `selects the same probes as ${JSON.stringify(texts.get(key))}`);
    texts.set(key, item.text);
  }
  return { ok: true, value: [...texts.values()] };
}

/** Parses one item. Returns why it is not one if it is a text. */
export function readLocationItem(text: string): LocationItem | string {
  const parsed = parseLocations([text]);
  if (!parsed.ok) return parsed.message;
  const [item] = parsed.items;
  const isOne = item !== undefined && item.kind === "some" && item.terms.every(({ negated }) => !negated);
  return isOne && !hasCount(item) ? item : ONE_PROBE;
}

/** Reports whether an item has a count, also of one: "probe:" is followed by an id instead. */
function hasCount({ text, count }: LocationItem): boolean {
  return count !== 1 || (/:\d+$/.test(text) && !/probe:\d+$/i.test(text));
}
