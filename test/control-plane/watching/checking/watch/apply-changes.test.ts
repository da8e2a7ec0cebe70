import { afterAll, expect, it } from "vitest";
import type { AppliedChange, MonitorChange } from "#control-plane/watching/checking/watch/apply-changes.ts";
import {
  openChangesWorld,
  type ChangesWorld,
  type Row,
} from "#test/control-plane/watching/checking/watch/changes-world.ts";
import {
  goDown,
  goUp,
  lookAgain,
  startUp,
  timeOf,
  type Watched,
} from "#test/control-plane/watching/checking/watch/many-changes.ts";

const MONITORS = 300;
/** Statements for all changes that begin and end outages. */
const MOST_STATEMENTS = 12;

const [single, together] = await Promise.all([openChangesWorld(MONITORS), openChangesWorld(MONITORS)]);
afterAll(async () => {
  await Promise.all([single.close(), together.close()]);
});

/** Monitors of a world in an order that is not that of their ids. */
function startAll({ monitors, accounts }: ChangesWorld): readonly Watched[] {
  const all = monitors.map((id, index) => startUp(index, id, accounts[index % accounts.length] ?? 0));
  return all.toSorted((a, b) => ((a.index * 7) % MONITORS) - ((b.index * 7) % MONITORS));
}

/** Continues with what was applied. */
function proceed(watched: readonly Watched[], applied: readonly AppliedChange[]): readonly Watched[] {
  return watched.map((one, index) => ({ ...one, state: applied[index]?.state ?? one.state }));
}

/** What was applied, without the ids of incidents. */
function withoutIds(applied: readonly AppliedChange[]): readonly unknown[] {
  return applied.map(({ state, rechecks }) => ({ rechecks, ...state, incidentId: state.incidentId !== null }));
}

function minutesAfterStart({ occurred_at: at, started_at: since }: Row): number {
  return Math.floor((Number(at) - Number(since)) / 60_000);
}

it("many changes in one transaction are what they are one by one, in a bounded number of statements", async () => {
  const writtenAt = (hours: number) => new Date(timeOf(MONITORS + 60 * hours));
  const rounds: readonly [(watched: Watched) => MonitorChange, Date][] = [
    [goDown, writtenAt(0)],
    [lookAgain, writtenAt(1)],
    [goUp, writtenAt(3)],
  ];
  let alone = startAll(single);
  let all = startAll(together);
  const statements: number[] = [];
  for (const [change, at] of rounds) {
    const one: AppliedChange[] = [];
    for (const watched of alone) one.push(...(await single.apply([change(watched)], at)).applied);
    const many = await together.apply(all.map(change), at);
    expect(withoutIds(many.applied)).toEqual(withoutIds(one));
    expect(await together.read()).toEqual(await single.read());
    alone = proceed(alone, one);
    all = proceed(all, many.applied);
    statements.push(many.statements);
  }
  const [downs = Infinity, , ups = Infinity] = statements;
  expect(downs).toBeLessThanOrEqual(MOST_STATEMENTS);
  expect(ups).toBeLessThanOrEqual(MOST_STATEMENTS);

  // Otherwise the changes are too tame to show anything.
  const {
    incidents = [],
    entries = [],
    events = [],
    deliveries = [],
    statuses = [],
    hours = [],
  } = await together.read();
  expect(incidents).toHaveLength(MONITORS);
  expect(statuses).toHaveLength(2 * MONITORS);
  expect(new Set(entries.map(({ kind }) => kind))).toEqual(
    new Set([
      "opened",
      "confirmed",
      "location_failed",
      "suppressed",
      "released",
      "reminder",
      "flapping",
      "recovered",
      "resolved",
    ]),
  );
  // Some outages are suppressed when they are confirmed, and some when they are looked at again.
  expect(new Set(entries.filter(({ kind }) => kind === "suppressed").map(minutesAfterStart))).toEqual(new Set([0, 30]));
  expect(new Set(events.map(({ type }) => type))).toEqual(
    new Set(["monitor.down", "monitor.up", "reminder", "flapping"]),
  );
  expect(events.length).toBeLessThan(2 * MONITORS);
  expect(deliveries.length).toBeGreaterThan(MONITORS / 2);
  expect(hours.length).toBeGreaterThan(50);
});

it("no changes send no statement", async () => {
  expect(await together.apply([], new Date(timeOf(0)))).toEqual({ applied: [], statements: 0 });
});

it("two changes of one monitor are refused", async () => {
  const [watched] = startAll(together);
  if (watched === undefined) throw new Error("no monitor");
  const change = goDown(watched);
  await expect(together.apply([change, change], new Date(timeOf(0)))).rejects.toThrow("two changes of one monitor");
});
