import { isOfState, type ListQuery } from "#control-plane/surfaces/dashboard/monitors/list-query.ts";
import type { ListedMonitor, ListedState } from "#control-plane/monitors/overview.ts";

/** The order of states: what needs somebody first. */
const URGENCY: Readonly<Record<ListedState, number>> = {
  down: 0,
  degraded: 1,
  unknown: 2,
  up: 4,
  paused: 5,
};

/** Where those come that maintenance covers, unless they are paused. */
const MUTED_URGENCY = 3;

const urgencyOf = ({ state, isMuted }: ListedMonitor): number =>
  isMuted ? Math.max(MUTED_URGENCY, URGENCY[state]) : URGENCY[state];

/** The monitors that a query shows. */
export interface Selection {
  readonly rows: readonly ListedMonitor[];
  /** Number of monitors that match. */
  readonly matching: number;
  /** Number of all monitors, of those in each state, and of those that are muted, whatever their states are. */
  readonly total: number;
  readonly counts: Readonly<Record<ListedState | "muted", number>>;
  /** Number of those that are down and not muted. */
  readonly alarming: number;
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
  const words = query.text.toLowerCase().split(/\s+/);
  const matching = monitors.filter(
    (monitor) =>
      isOfState(monitor, query.state) &&
      (query.kind === null || monitor.checkType === query.kind) &&
      (query.tag === null || monitor.tags.includes(query.tag)) &&
      hasWords(monitor, words),
  );
  const counts = { down: 0, degraded: 0, unknown: 0, up: 0, muted: 0, paused: 0 };
  for (const { state, isMuted } of monitors) {
    counts[state] += 1;
    if (isMuted) counts.muted += 1;
  }
  return {
    rows: matching.toSorted(ORDERS[query.sort]).filter(({ id }, place) => place < query.rows || kept.has(id)),
    matching: matching.length,
    total: monitors.length,
    counts,
    alarming: monitors.filter(({ state, isMuted }) => state === "down" && !isMuted).length,
    tags: [...new Set(monitors.flatMap(({ tags }) => tags))].toSorted(compareTexts),
  };
}

/** Reports whether the name, the target or a tag of a monitor has each of these words, in lower case. */
function hasWords({ name, url, tags }: ListedMonitor, words: readonly string[]): boolean {
  const texts = [name, url, ...tags].map((text) => text.toLowerCase());
  return words.every((word) => texts.some((text) => text.includes(word)));
}

type Order = (one: ListedMonitor, other: ListedMonitor) => number;

const byName: Order = (one, other) => compareTexts(one.name, other.name) || one.id - other.id;

const ORDERS: Readonly<Record<ListQuery["sort"], Order>> = {
  name: byName,
  newest: (one, other) => other.id - one.id,
  state: (one, other) => urgencyOf(one) - urgencyOf(other) || byName(one, other),
};

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function compareTexts(one: string, other: string): number {
  return collator.compare(one, other);
}
