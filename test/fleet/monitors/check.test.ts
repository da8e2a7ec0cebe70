import { describe, expect, it } from "vitest";
import { checkMonitors } from "#test/fleet/monitors/check.ts";
import { cleanHistory, type ForgeableHistory } from "#test/fleet/monitors/clean-history.ts";

/** Removes the rows of a list that match. */
function drop<T>(list: T[], matches: (row: T) => boolean): void {
  const kept = list.filter((row) => !matches(row));
  expect(kept.length, "the forgery removes something").toBeLessThan(list.length);
  list.splice(0, list.length, ...kept);
}

/** Returns the only row of a list that matches. */
function only<T>(list: readonly T[], matches: (row: T) => boolean): T {
  const found = list.filter(matches);
  const [row] = found;
  if (row === undefined || found.length > 1) throw new Error(`${found.length} rows match`);
  return row;
}

type Check = ForgeableHistory["checks"][number];

/** Finds a planned check of the first monitor by its turn, from 0 (the first check), and its location. */
function planned(history: ForgeableHistory, turn: number, location: string): Check {
  const found = history.checks.filter((check) => check.monitorId === 1 && check.location === location)[turn];
  if (found === undefined) throw new Error("no such check");
  return found;
}

function changeTo(history: ForgeableHistory, status: string) {
  return history.changes.findLast((change) => change.status === status) as ForgeableHistory["changes"][number];
}

/** Changes what an agent answered and what was recorded of it. */
function answerAs(history: ForgeableHistory, check: Check, status: Check["status"]): void {
  check.status = status;
  only(history.answers, ({ sending }) => sending === check.sending).verdict = status;
}

const FORGERIES: readonly [rule: string, forge: (history: ForgeableHistory) => void][] = [
  [
    "a schedule entry is recorded twice",
    (history) => {
      const check = planned(history, 2, "r3");
      history.checks.push({ ...check, tx: 999, committedAt: check.committedAt + 10, sending: 5_000 });
      history.answers.push({ sending: 5_000, number: 1, version: 1, location: "r3", verdict: "down" });
    },
  ],
  [
    "a planned time is skipped without a record",
    (history) => {
      const gone = planned(history, 3, "r3");
      drop(history.checks, (check) => check === gone);
    },
  ],
  ["a planned time is not on the schedule", (history) => void (planned(history, 3, "r3").lagMs = 1_000)],
  [
    "the next planned time does not follow the last check",
    (history) => {
      const gone = planned(history, 4, "r3");
      drop(history.checks, (check) => check === gone);
    },
  ],
  ["a schedule entry is overdue at the end", (history) => void (history.readAt += 120_000)],
  [
    "a verdict without an answer",
    (history) => drop(history.answers, ({ sending }) => sending === planned(history, 3, "r1").sending),
  ],
  [
    "a verdict is not as it was answered",
    (history) => {
      const { sending } = planned(history, 3, "r3");
      only(history.answers, (answer) => answer.sending === sending).verdict = "up";
    },
  ],
  [
    "an answer is recorded twice",
    (history) => void (planned(history, 3, "r3").sending = planned(history, 2, "r3").sending),
  ],
  [
    "a verdict on an old target is recorded",
    (history) => {
      const { checkedAt } = planned(history, 4, "r3");
      history.actions.push({
        kind: "retarget",
        monitorId: 1,
        askedAt: checkedAt - 20,
        answeredAt: checkedAt - 10,
        version: 2,
      });
    },
  ],
  [
    "a status change is lost",
    (history) => {
      const { tx } = changeTo(history, "up");
      drop(history.changes, (change) => change.tx === tx);
    },
  ],
  [
    "a status change that the checks do not give",
    (history) => {
      const { tx, committedAt, checkedAt } = planned(history, 1, "r2");
      history.changes.push({ monitorId: 1, tx, committedAt, status: "unknown", at: checkedAt });
    },
  ],
  [
    "a status change to the same status",
    (history) => {
      const { tx, committedAt, checkedAt } = planned(history, 1, "r2");
      history.changes.push({ monitorId: 1, tx, committedAt, status: "up", at: checkedAt });
    },
  ],
  ["two status changes in one transaction", (history) => void history.changes.push({ ...changeTo(history, "down") })],
  [
    "two checks of a monitor in one transaction",
    (history) => {
      const { tx, committedAt } = planned(history, 4, "r1");
      Object.assign(planned(history, 4, "r2"), { tx, committedAt });
    },
  ],
  [
    "unknown in spite of fresh checks",
    (history) => {
      // Between two checks; the next one makes it up again.
      const { committedAt, checkedAt } = planned(history, 1, "r1");
      const at = { tx: 999, committedAt: committedAt + 2_000 };
      history.changes.push({ monitorId: 1, ...at, status: "unknown", at: checkedAt + 2_000 });
      const next = planned(history, 1, "r2");
      history.changes.push({
        monitorId: 1,
        tx: next.tx,
        committedAt: next.committedAt,
        status: "up",
        at: next.checkedAt,
      });
    },
  ],
  ["a status change without a check", (history) => void (changeTo(history, "down").tx = 999)],
  ["a status change at a time at which no check began", (history) => void (changeTo(history, "down").at += 5)],
  ["down from fewer locations than the quorum", (history) => answerAs(history, planned(history, 2, "r1"), "up")],
  ["the present status is not that of the last change", (history) => setMonitor(history, { status: "down" })],
  ["the status at the end is not that of the target", (history) => void (history.truth = new Map([[1, "down"]]))],
  [
    "an outage without an incident",
    (history) => {
      history.incidents.splice(0);
      history.entries.splice(0);
    },
  ],
  [
    "a second incident of one outage",
    (history) => {
      history.incidents.push({ ...(history.incidents[0] as ForgeableHistory["incidents"][number]), id: 6 });
      const copies = history.entries.map((entry) => ({ ...entry, id: entry.id + 100, incidentId: 6 }));
      history.entries.push(...copies);
    },
  ],
  [
    "an incident without an outage",
    (history) => {
      for (const entry of history.entries) if (entry.kind === "opened") entry.tx -= 1;
    },
  ],
  [
    "an incident is resolved without a recovery",
    (history) => {
      for (const entry of history.entries) if (entry.kind === "resolved") entry.tx -= 1;
    },
  ],
  [
    "an incident ends without a new start of its monitor",
    (history) => {
      for (const entry of history.entries) {
        if (entry.kind === "resolved") Object.assign(entry, { kind: "paused", tx: 999 });
      }
    },
  ],
  [
    "a recovery that resolves no incident",
    (history) => {
      drop(history.entries, ({ kind }) => kind === "resolved" || kind === "recovered");
      for (const incident of history.incidents) incident.resolvedAt = null;
    },
  ],
  [
    "the entries of an incident are out of order",
    (history) => {
      for (const entry of history.entries) if (entry.kind === "confirmed") entry.id += 100;
    },
  ],
  [
    "the times of an incident are out of order",
    (history) => {
      for (const incident of history.incidents) incident.confirmedAt = incident.startedAt - 1;
    },
  ],
  ["an event is lost", (history) => drop(history.events, ({ type }) => type === "monitor.up")],
  [
    "an event is doubled",
    (history) => {
      history.events.push({ ...only(history.events, ({ id }) => id === "evt_1"), id: "evt_3" });
      history.deliveries.push({ ...only(history.deliveries, ({ id }) => id === 1), id: 3, eventId: "evt_3" });
      history.mails.push({ deliveryId: 3 });
    },
  ],
  ["an event without a transition", (history) => void (only(history.events, ({ id }) => id === "evt_2").tx = 999)],
  [
    "an event without its incident",
    (history) => void (only(history.events, ({ id }) => id === "evt_2").incidentId = null),
  ],
  ["a delivery is lost", (history) => drop(history.deliveries, ({ eventId }) => eventId === "evt_2")],
  [
    "a delivery is doubled",
    (history) => {
      history.deliveries.push({ ...only(history.deliveries, ({ id }) => id === 1), id: 3 });
      history.mails.push({ deliveryId: 3 });
    },
  ],
  [
    "a delivery to a stranger",
    (history) => void (only(history.deliveries, ({ id }) => id === 1).recipient = "b@example.com"),
  ],
  ["a delivery is not made", (history) => void (only(history.deliveries, ({ id }) => id === 1).status = "dead")],
  ["a delivery without a mail", (history) => drop(history.mails, ({ deliveryId }) => deliveryId === 1)],
  ["a mail is doubled", (history) => void history.mails.push({ deliveryId: 1 })],
  [
    "a check of a deleted monitor is recorded",
    (history) => {
      const last = history.checks.findLast(({ monitorId }) => monitorId === 2) as Check;
      last.committedAt += 60_000;
    },
  ],
  [
    "a check of a paused monitor is recorded",
    (history) => {
      const last = history.checks.findLast(({ monitorId }) => monitorId === 2) as Check;
      last.committedAt -= 20_000;
    },
  ],
  [
    "an event of a deleted monitor is recorded",
    (history) => {
      const late = { ...only(history.events, ({ id }) => id === "evt_1"), id: "evt_3", monitorId: 2, tx: 998 };
      history.events.push({ ...late, committedAt: history.readAt });
      history.deliveries.push({ ...only(history.deliveries, ({ id }) => id === 1), id: 3, eventId: "evt_3" });
      history.mails.push({ deliveryId: 3 });
    },
  ],
  [
    "an incident of a deleted monitor goes on",
    (history) => {
      const { readAt } = history;
      history.incidents.push({ id: 6, monitorId: 2, startedAt: readAt, confirmedAt: readAt, resolvedAt: null });
      for (const kind of ["opened", "confirmed"]) {
        history.entries.push({ id: history.entries.length + 1, incidentId: 6, kind, tx: 998, committedAt: readAt });
      }
    },
  ],
  ["deadlocks in the database", (history) => void (history.deadlocks = ["Process 1 waits for ShareLock"])],
];

function setMonitor(history: ForgeableHistory, over: Partial<ForgeableHistory["monitors"][number]>): void {
  Object.assign(
    only(history.monitors, ({ id }) => id === 1),
    over,
  );
}

/** Findings that follow from a forgery besides the one that names it. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  "a planned time is not on the schedule": ["a planned time is skipped without a record"],
  "a status change is lost": [
    "an event without a transition",
    "an incident is resolved without a recovery",
    "the present status is not that of the last change",
  ],
  "a status change that the checks do not give": ["a status change is lost"],
  "two checks of a monitor in one transaction": [
    "a status change without a check",
    "an event without a transition",
    "an incident is resolved without a recovery",
    "the present status is not that of the last change",
  ],
  "a status change without a check": [
    "a status change is lost",
    "an event without a transition",
    "an incident is resolved without a recovery",
    "an incident without an outage",
  ],
  "down from fewer locations than the quorum": [
    "a status change at a time at which no check began",
    "a status change that the checks do not give",
  ],
  "the present status is not that of the last change": ["the status at the end is not that of the target"],
  "an outage without an incident": ["a recovery that resolves no incident"],
  "a second incident of one outage": ["an incident is resolved without a recovery", "an incident without an outage"],
  "an incident without an outage": ["an outage without an incident"],
  "an incident is resolved without a recovery": ["a recovery that resolves no incident"],
  "an incident ends without a new start of its monitor": ["a recovery that resolves no incident"],
  "an event without a transition": ["an event is lost"],
  "a delivery to a stranger": ["a delivery is lost"],
};

describe("the checker of monitor histories", () => {
  it("finds nothing in a correct history", () => {
    expect(checkMonitors(cleanHistory())).toMatchObject({
      monitors: 2,
      checks: 17,
      transitions: 3,
      incidents: 1,
      events: 2,
      deliveries: 2,
      mails: 2,
      findings: {},
      examples: [],
    });
  });

  it.each(FORGERIES)("finds: %s", (rule, forge) => {
    const history = cleanHistory();
    forge(history);
    const { findings } = checkMonitors(history);
    expect(Object.keys(findings).toSorted()).toEqual([rule, ...(ALSO[rule] ?? [])].toSorted());
  });

  // For each: when the change of addresses was asked and answered, beside the second event, and whom it may reach.
  it.each([
    ["before", [-20, -10], ["b@example.com"]],
    ["during", [-10, 10], ["a@example.com", "b@example.com"]],
    ["after", [10, 20], ["a@example.com"]],
  ] as const)("knows whom an event may reach if others are named %s it", (_when, [asked, answered], allowed) => {
    for (const recipient of ["a@example.com", "b@example.com"]) {
      const history = cleanHistory();
      const { committedAt: at } = only(history.events, ({ id }) => id === "evt_2");
      const times = { askedAt: at + asked, answeredAt: at + answered };
      history.actions.push({ kind: "readdress", monitorId: 1, version: 1, recipients: ["b@example.com"], ...times });
      only(history.deliveries, ({ id }) => id === 2).recipient = recipient;
      const wrong = { "a delivery is lost": 1, "a delivery to a stranger": 1 };
      const isAllowed = (allowed as readonly string[]).includes(recipient);
      expect(checkMonitors(history).findings, recipient).toEqual(isAllowed ? {} : wrong);
    }
  });
});
