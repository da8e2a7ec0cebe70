import type { CheckRow, MonitorRow, Verdict } from "#test/fleet/monitors/records.ts";

/** A check that said something, with how long the one before it still counted when this one was recorded. */
interface Heard {
  readonly verdict: "up" | "down";
  readonly at: number;
  /** Whether it continues the row of equal verdicts before it. */
  readonly continues: boolean;
}

const HOUR_MS = 3_600_000;
const MOST_CHANGES = 4;

/**
 * What is known about a monitor, computed from the whole list of its checks each time. It follows the rules as users
 * read them and shares no code with the product.
 */
export class NaiveMonitor {
  status: Verdict = "unknown";
  private readonly monitor: MonitorRow;
  private heard = new Map<string, Heard[]>();
  private turns: number[] = [];
  private lastKnown: "up" | "down" | null = null;

  constructor(monitor: MonitorRow) {
    this.monitor = monitor;
  }

  /** Forgets everything: the monitor was paused, resumed, or has a new target. */
  restart(): void {
    this.heard = new Map();
    this.turns = [];
    this.status = "unknown";
    this.lastKnown = null;
  }

  /** Hears a check that was recorded at `now`. */
  hear({ location, status, checkedAt }: CheckRow, now: number): void {
    if (status === "unknown") return;
    const list = this.heard.get(location) ?? [];
    const before = list.at(-1);
    if (before !== undefined && checkedAt < before.at) return;
    const continues = before !== undefined && before.verdict === status && this.counts(before, now);
    list.push({ verdict: status, at: checkedAt, continues });
    this.heard.set(location, list);
  }

  /** Takes a status. Returns whether a notice is due, because an outage begins or ends. */
  take(status: Verdict, now: number): boolean {
    this.status = status;
    if (status === "unknown") return false;
    const isNotice = status === "down" ? this.lastKnown !== "down" : this.lastKnown === "down";
    if (this.lastKnown !== null && this.lastKnown !== status) this.turns.push(now);
    this.lastKnown = status;
    return isNotice;
  }

  /** Returns the status that the checks so far give at `now`. */
  decide(now: number): Verdict {
    const { locations, retries, recovery, quorum } = this.monitor;
    const fresh = this.fresh(now);
    if (fresh.length < Math.min(2, locations.length)) return "unknown";
    const isFlapping = this.turns.filter((at) => now - at < HOUR_MS).length > MOST_CHANGES;
    const alone = locations.length === 1 ? retries + 1 : quorum === 1 ? 2 : 1;
    const failures = Math.max(alone, isFlapping ? 3 : 1);
    const successes = this.lastKnown === "down" ? recovery : 1;
    const down = fresh.filter((list) => list.at(-1)?.verdict === "down" && rowLength(list) >= failures).length;
    const up = fresh.filter((list) => list.at(-1)?.verdict === "up" && rowLength(list) >= successes).length;
    if (quorum === "majority" ? 2 * down > fresh.length : down >= Math.min(quorum, fresh.length)) return "down";
    return 2 * up > fresh.length ? "up" : this.status;
  }

  /** Reports whether enough locations say down at `now`, confirmed or not. */
  hasQuorum(now: number): boolean {
    const fresh = this.fresh(now);
    const down = fresh.filter((list) => list.at(-1)?.verdict === "down").length;
    const { quorum } = this.monitor;
    return quorum === "majority" ? 2 * down > fresh.length : down >= Math.min(quorum, fresh.length);
  }

  /** Reports whether a check of this verdict began at a time. */
  began(verdict: "up" | "down", at: number): boolean {
    for (const list of this.heard.values())
      if (list.some((one) => one.verdict === verdict && one.at === at)) return true;
    return false;
  }

  private fresh(now: number): Heard[][] {
    return [...this.heard.values()].filter((list) => {
      const newest = list.at(-1);
      return newest !== undefined && this.counts(newest, now);
    });
  }

  private counts({ at }: Heard, now: number): boolean {
    return now - at <= 2 * this.monitor.intervalMs + this.monitor.timeoutMs;
  }
}

/** Returns the number of equal verdicts at the end of a list. */
function rowLength(list: readonly Heard[]): number {
  let length = 0;
  for (const { continues } of list.toReversed()) {
    length += 1;
    if (!continues) break;
  }
  return length;
}
