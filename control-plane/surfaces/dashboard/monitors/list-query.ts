import { CHECK_TYPES, type CheckType } from "#control-plane/outages/kinds/kinds.ts";
import type { ListedMonitor } from "#control-plane/monitors/overview.ts";

/** States by which the list filters; failing: down or degraded; muted: whatever its state is. */
export const STATES = ["failing", "down", "degraded", "unknown", "up", "muted", "paused"] as const;
/** How the list is sorted; state: what fails first. */
export const SORTS = ["state", "name", "newest"] as const;

/** Number of rows of a list at first. */
const FIRST_ROWS = 100;
/** Number of rows that are added at a time. */
export const MORE_ROWS = 100;
const MOST_ROWS = 10_000;
const LONGEST_TEXT = 200;

/** What the address of the list says. */
export interface ListQuery {
  /** Words, in any case, each of which the name, the target or a tag has; empty: all. */
  readonly text: string;
  readonly state: (typeof STATES)[number] | null;
  readonly kind: CheckType | null;
  /** null: all. */
  readonly tag: string | null;
  readonly sort: (typeof SORTS)[number];
  /** Number of rows to show. */
  readonly rows: number;
}

/** Reads the query of the list's address. A value that is not valid counts as absent: an old address still works. */
export function readListQuery(query: Readonly<Record<string, unknown>>): ListQuery {
  const text = (name: string): string => {
    const value = query[name];
    return typeof value === "string" ? value.trim().slice(0, LONGEST_TEXT) : "";
  };
  const among = <T extends string>(name: string, values: readonly T[]): T | null =>
    values.find((value) => value === query[name]) ?? null;
  const rows = /^\d{1,5}$/.test(text("rows")) ? Number(text("rows")) : FIRST_ROWS;
  return {
    text: text("q"),
    // What older addresses call it.
    state: query["state"] === "maintenance" ? "muted" : among("state", STATES),
    kind: among("kind", CHECK_TYPES),
    tag: text("tag") === "" ? null : text("tag"),
    sort: among("sort", SORTS) ?? "state",
    rows: Math.min(Math.max(rows, FIRST_ROWS), MOST_ROWS),
  };
}

/** Most rows that a refresh keeps beside the first ones. */
const MOST_KEPT = 200;

/** Reads the ids of rows that an open list still shows, "m-12,m-15", from the header of its refresh. */
export function readKeptRows(header: string | readonly string[] | undefined): ReadonlySet<number> {
  const ids = String(header ?? "").matchAll(/m-(\d{1,15})/g);
  return new Set(Array.from(ids.take(MOST_KEPT), ([, id]) => Number(id)));
}

/** Writes the address of a list. What is as usual is left out. */
export function writeListPath({ text, state, kind, tag, sort, rows }: ListQuery): string {
  const given: [string, string | null][] = [
    ["q", text === "" ? null : text],
    ["state", state],
    ["kind", kind],
    ["tag", tag],
    ["sort", sort === "state" ? null : sort],
    ["rows", rows === FIRST_ROWS ? null : String(rows)],
  ];
  const query = new URLSearchParams(
    given.flatMap(([name, value]) => (value === null ? [] : [[name, value] as [string, string]])),
  );
  return query.size === 0 ? "/app/monitors" : `/app/monitors?${query.toString()}`;
}

/** Reports whether a query shows less than all monitors. */
export function isFiltered({ text, state, kind, tag }: ListQuery): boolean {
  return text !== "" || state !== null || kind !== null || tag !== null;
}

/** Reports whether a monitor matches the filter of a list by its state, or by its mute, which is beside its state. */
export function isOfState(
  { state, isMuted }: Pick<ListedMonitor, "state" | "isMuted">,
  wanted: ListQuery["state"],
): boolean {
  if (wanted === null) return true;
  if (wanted === "muted") return isMuted;
  return wanted === "failing" ? state === "down" || state === "degraded" : state === wanted;
}
