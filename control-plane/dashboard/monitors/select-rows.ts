import { isOfState, type ListQuery } from "#control-plane/dashboard/monitors/list-query.ts";
import type { ListedMonitor, ListedState } from "#control-plane/monitors/overview.ts";

/** The order of states: what needs somebody first. */
const URGENCY: Readonly<Record<ListedState, number>> = {
  down: 0,
  degraded: 1,
  unknown: 2,
  maintenance: 3,
  up: 4,
  paused: 5,
};

/** The monitors that a query shows. */
export interface Selection {
  readonly rows: readonly ListedMonitor[];
  /** Number of monitors that match. */
  readonly matching: number;
  /** Number of all monitors, and of those in each state. */
  readonly total: number;
  readonly counts: Readonly<Record<ListedState, number>>;
  /** Every tag in use, in order. */
  readonly tags: readonly string[];
}

/**
 * Selects, sorts and cuts the monitors of an account for a view. `kept`: ids of monitors that are not cut off if they match.
 * Pure.
 */
export function selectRows(
  monitors: readonly ListedMonitor[],
  query: ListQuery,
  kept: ReadonlySet<number> = new Set(),
): Selection {
  const wanted = query.text.toLowerCase();
  const matching = monitors.filter(
    ({ name, url, tags, state, checkType }) =>
      isOfState(state, query.state) &&
      (query.kind === null || checkType === query.kind) &&
      (query.tag === null || tags.includes(query.tag)) &&
      [name, url, ...tags].some((text) => text.toLowerCase().includes(wanted)),
  );
  const counts = { down: 0, degraded: 0, unknown: 0, up: 0, maintenance: 0, paused: 0 };
  for (const { state } of monitors) counts[state] += 1;
  return {
    rows: matching.toSorted(ORDERS[query.sort]).filter(({ id }, place) => place < query.rows || kept.has(id)),
    matching: matching.length,
    total: monitors.length,
    counts,
    tags: [...new Set(monitors.flatMap(({ tags }) => tags))].toSorted(compareTexts),
  };
}

type Order = (one: ListedMonitor, other: ListedMonitor) => number;

const byName: Order = (one, other) => compareTexts(one.name, other.name) || one.id - other.id;

const ORDERS: Readonly<Record<ListQuery["sort"], Order>> = {
  name: byName,
  newest: (one, other) => other.id - one.id,
  state: (one, other) => URGENCY[one.state] - URGENCY[other.state] || byName(one, other),
};

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function compareTexts(one: string, other: string): number {
  return collator.compare(one, other);
}
