import { describe, expect, it } from "vitest";
import { applyChange, type IncidentChange } from "#control-plane/outages/incidents/changes.ts";
import { MOST_ENTRIES } from "#control-plane/outages/incidents/entry.ts";
import type { Incident } from "#control-plane/outages/incidents/incident.ts";

const STARTED = new Date("2026-03-01T12:00:00Z");
const NOW = new Date("2026-03-01T12:10:00Z");
const BY_ANN = { by: "key ann", at: NOW };

const BY_HAND: Incident = {
  id: 1,
  accountId: 1,
  monitor: null,
  monitorIds: [7],
  pageIds: [],
  title: "Payments are delayed",
  status: "investigating",
  impact: "minor",
  isPublic: true,
  startedAt: STARTED,
  confirmedAt: STARTED,
  recoveredAt: null,
  resolvedAt: null,
  cause: null,
  causeNow: null,
  locations: [],
  suppressedBy: null,
  acknowledged: null,
  entryCount: 1,
};
const OUTAGE: Incident = { ...BY_HAND, monitor: { id: 7, name: "Shop", url: "https://a.example/", checkType: "http" } };
const RESOLVED: Incident = { ...BY_HAND, status: "resolved", resolvedAt: NOW };

/** Applies a change that must be accepted. */
function apply(incident: Incident, change: IncidentChange, author = BY_ANN) {
  const changed = applyChange(incident, change, author);
  if (!changed.ok) throw new Error(changed.problem.message);
  return changed;
}

const entriesOf = (incident: Incident, change: IncidentChange) =>
  apply(incident, change).entries.map(({ kind, text, status, isPublic }) => [kind, text, status, isPublic]);
const problemOf = (incident: Incident, change: IncidentChange) => {
  const changed = applyChange(incident, change, BY_ANN);
  return changed.ok ? null : [changed.problem.field, changed.problem.reason];
};

describe("a change of an incident", () => {
  it("without a field changes nothing", () => {
    expect(apply(OUTAGE, {})).toEqual({ ok: true, incident: OUTAGE, entries: [] });
  });

  it("acknowledges it once; the first author stays", () => {
    const { incident, entries } = apply(OUTAGE, { acknowledged: true });
    expect(incident.acknowledged).toEqual({ at: NOW, by: "key ann" });
    expect(entries).toMatchObject([{ kind: "acknowledged", by: "key ann", at: NOW }]);
    expect(apply(incident, { acknowledged: true }, { by: "key bob", at: STARTED })).toMatchObject({
      incident: { acknowledged: { by: "key ann" } },
      entries: [],
    });
  });

  it("withdraws an acknowledgement", () => {
    const { incident } = apply(OUTAGE, { acknowledged: true });
    expect(apply(incident, { acknowledged: false })).toMatchObject({
      incident: { acknowledged: null },
      entries: [{ kind: "unacknowledged" }],
    });
    expect(entriesOf(OUTAGE, { acknowledged: false })).toEqual([]);
  });

  it("adds a note, which is never public", () => {
    expect(entriesOf(OUTAGE, { note: "one\r\ntwo\rthree" })).toEqual([["note", "one\ntwo\nthree", null, false]]);
  });

  it("adds an update with the present status, as public as the incident", () => {
    expect(entriesOf(OUTAGE, { update: { text: "We know." } })).toEqual([
      ["update", "We know.", "investigating", true],
    ]);
    expect(entriesOf({ ...OUTAGE, isPublic: false }, { update: { text: "x" } })).toEqual([
      ["update", "x", "investigating", false],
    ]);
    expect(entriesOf({ ...OUTAGE, isPublic: false }, { public: true, update: { text: "x" } }).at(-1)?.[3]).toBe(true);
    expect(entriesOf(OUTAGE, { update: { text: "x", public: false } }).at(-1)?.[3]).toBe(false);
  });

  it("moves the status with an update, also backwards", () => {
    const { incident } = apply(OUTAGE, { update: { status: "monitoring", text: "A fix is out." } });
    expect(incident.status).toBe("monitoring");
    expect(apply(incident, { update: { status: "identified", text: "Not yet." } }).incident.status).toBe("identified");
  });

  it("resolves what a person opened", () => {
    const { incident, entries } = apply(BY_HAND, { update: { status: "resolved", text: "Done." } });
    expect(incident).toMatchObject({ status: "resolved", resolvedAt: NOW, recoveredAt: null });
    expect(entries).toMatchObject([{ kind: "update", status: "resolved" }]);
  });

  it("never resolves it before it began, whatever the clock does", () => {
    const author = { by: "key ann", at: new Date("2026-03-01T11:00:00Z") };
    const { incident } = apply(BY_HAND, { update: { status: "resolved", text: "Done." } }, author);
    expect(incident.resolvedAt).toEqual(STARTED);
  });

  it("cannot resolve an outage that lasts", () => {
    expect(problemOf(OUTAGE, { update: { status: "resolved", text: "Done." } })).toEqual(["update.status", "enum"]);
  });

  it("cannot open it again, but can add to it", () => {
    expect(problemOf(RESOLVED, { update: { status: "monitoring", text: "x" } })).toEqual(["update.status", "enum"]);
    const review = apply(RESOLVED, { note: "Review on Monday.", update: { text: "What went wrong: ..." } });
    expect(review.incident).toMatchObject({ status: "resolved", resolvedAt: NOW });
    expect(review.entries.map(({ kind, status }) => [kind, status])).toEqual([
      ["note", null],
      ["update", "resolved"],
    ]);
    expect(problemOf(RESOLVED, { update: { status: "resolved", text: "x" } })).toBeNull();
  });

  it("records what was edited", () => {
    const { incident, entries } = apply(BY_HAND, { title: " Payments fail ", impact: "critical", public: false });
    expect(incident).toMatchObject({ title: "Payments fail", impact: "critical", isPublic: false });
    expect(entries.map(({ kind, text }) => [kind, text])).toEqual([
      ["edited", 'Title changed from "Payments are delayed"'],
      ["edited", "Impact changed from minor to critical"],
      ["edited", "Made private"],
    ]);
    expect(entriesOf(BY_HAND, { title: BY_HAND.title, impact: "minor", public: true })).toEqual([]);
  });

  it("counts its entries", () => {
    expect(apply(BY_HAND, { acknowledged: true, note: "x", update: { text: "y" } }).incident.entryCount).toBe(4);
  });

  it.each([
    ["a blank title", { title: "   " }, ["title", "range"]],
    ["a blank note", { note: " \n " }, ["note", "range"]],
    ["a blank update", { update: { text: "\n" } }, ["update.text", "range"]],
    ["a NUL", { note: "a\0b" }, ["note", "type"]],
    ["a tab", { note: "a\tb" }, ["note", "type"]],
    ["an escape sequence", { update: { text: "\u001B[31m" } }, ["update.text", "type"]],
    ["a C1 control", { note: "\u0085" }, ["note", "type"]],
    ["half of a surrogate pair", { note: "\uD83D" }, ["note", "type"]],
  ] as const)("is refused with %s", (_what, change, problem) => {
    expect(problemOf(BY_HAND, change)).toEqual(problem);
  });

  it("is refused with one entry too many, unless it adds none", () => {
    const full = { ...BY_HAND, entryCount: MOST_ENTRIES };
    expect(problemOf(full, { note: "x" })).toEqual(["note", "range"]);
    expect(problemOf(full, { update: { text: "x" } })).toEqual(["update", "range"]);
    expect(problemOf(full, { acknowledged: true })).toBeNull();
    expect(problemOf({ ...full, entryCount: MOST_ENTRIES - 1 }, { note: "x" })).toBeNull();
  });
});

describe("the pages that an incident names", () => {
  it("are replaced, with a line in the timeline, unless they are the same ones", () => {
    const { incident } = apply(BY_HAND, { page_ids: [3, 2, 3] });
    expect(incident.pageIds).toEqual([3, 2]);
    expect(entriesOf(BY_HAND, { page_ids: [3, 2] })).toEqual([["edited", "Status pages changed", null, false]]);
    expect(apply(incident, { page_ids: [2, 3] })).toMatchObject({ incident: { pageIds: [3, 2] }, entries: [] });
    expect(apply(incident, { page_ids: [] }).incident.pageIds).toEqual([]);
    expect(apply(incident, {}).incident.pageIds).toEqual([3, 2]);
  });

  it("are at least one if it names no monitor", () => {
    const alone: Incident = { ...BY_HAND, monitorIds: [], pageIds: [2] };
    expect(problemOf(alone, { page_ids: [] })).toEqual(["page_ids", "required"]);
    expect(problemOf(alone, { page_ids: [3] })).toBeNull();
    expect(problemOf(OUTAGE, { page_ids: [] })).toBeNull();
  });
});
