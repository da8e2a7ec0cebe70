import { expect, it } from "vitest";
import { findingsOf, type HeartbeatHistory, type RecordedPing } from "#test/support/heartbeats/history.ts";

const ping = (number: number, receivedAt: number, kind = "success"): RecordedPing => ({
  number,
  rid: `r${number}`,
  kind,
  exitCode: null,
  receivedAt,
});

/** Up, late, up, failed: two outages, the second of which goes on. */
const GOOD: HeartbeatHistory = {
  periodMs: 30_000,
  graceMs: 1_000,
  status: "down",
  changes: [
    { status: "up", at: 0 },
    { status: "down", at: 31_000 },
    { status: "up", at: 40_000 },
    { status: "down", at: 50_000 },
  ],
  incidents: [
    { id: 1, isOpen: false },
    { id: 2, isOpen: true },
  ],
  events: [
    { type: "monitor.down", incidentId: 1 },
    { type: "monitor.up", incidentId: 1 },
    { type: "monitor.down", incidentId: 2 },
  ],
  pings: [ping(1, 0), ping(2, 40_000), ping(3, 50_000, "fail"), ping(4, 51_000, "log")],
  kept: [1, 2, 3, 4],
  answered: ["r1", "r3"],
};

it("a history in which all is right has no findings", () => {
  expect(findingsOf(GOOD)).toEqual([]);
});

it.each<readonly [finding: string, broken: Partial<HeartbeatHistory>]>([
  ["ping 2 has the number 3", { pings: [ping(1, 0), ping(3, 40_000), ping(4, 50_000, "fail")] }],
  ["the pings 1,2,3 are kept, not the newest", { kept: [1, 2, 3] }],
  ["ping r9 was answered and is lost", { answered: ["r9"] }],
  ["ping r2 is recorded 2 times", { pings: [...GOOD.pings, { ...ping(5, 52_000, "log"), rid: "r2" }] }],
  ["two changes to down, one after the other", { changes: [...GOOD.changes, { status: "down", at: 50_000 }] }],
  ["a change to up before the one that it follows", { changes: [...GOOD.changes, { status: "up", at: 40_000 }] }],
  [
    "a change to down at 30999 without a cause",
    { changes: GOOD.changes.map((change) => (change.at === 31_000 ? { ...change, at: 30_999 } : change)) },
  ],
  ["1 incidents of 2 outages", { incidents: [{ id: 2, isOpen: true }] }],
  ["2 incidents are open", { incidents: GOOD.incidents.map((incident) => ({ ...incident, isOpen: true })) }],
  ["0 incidents are open while it is down", { incidents: GOOD.incidents.map(({ id }) => ({ id, isOpen: false })) }],
  ["incident 1 has the events monitor.down", { events: GOOD.events.filter(({ type }) => type === "monitor.down") }],
  [
    "incident 2 has the events monitor.down,monitor.down",
    { events: [...GOOD.events, { type: "monitor.down", incidentId: 2 }] },
  ],
  ["monitor.up belongs to no incident", { events: [...GOOD.events, { type: "monitor.up", incidentId: null }] }],
  ["it is up and its history ends with down", { status: "up" }],
  ["it is up after a failure", { status: "up" }],
  ["it is down after a success", { pings: [...GOOD.pings, ping(5, 52_000)] }],
])("%s", (finding, broken) => {
  expect(findingsOf({ ...GOOD, ...broken })).toContain(finding);
});
