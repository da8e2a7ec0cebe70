import { describe, expect, it } from "vitest";
import { SECRET_PLACES } from "#control-plane/outages/kinds/secrets.ts";
import { SECRET_FIELDS, type Row } from "#shared/client/apply/document.ts";
import { planChanges, type Plan } from "#shared/client/apply/plan.ts";
import { settlePlan } from "#shared/client/apply/settle-plan.ts";
import { showPlan } from "#shared/client/apply/show-plan.ts";

const NOBODY = { owner: null, prune: false };

/** Plans a document of monitors for an account of monitors. */
const planOf = (
  monitors: readonly Row[],
  state: readonly Row[],
  ownership = { ...NOBODY, owner: null as string | null },
): Plan => planChanges({ version: 2, monitors }, { version: 2, monitors: state }, ownership);

const shown = (monitors: readonly Row[], state: readonly Row[]) =>
  showPlan({ ...planOf(monitors, state), deleted: [] });

describe("the plan of a document", () => {
  it.each<readonly [what: string, row: Row, present: Row, lines: string]>([
    ["no property", { name: "a" }, { name: "a", url: "x", tags: ["b"] }, ""],
    ["a name with spaces around", { name: " a " }, { name: "a" }, ""],
    ["a number", { name: "a", retries: 1 }, { name: "a", retries: 2 }, "retries: 2 -> 1"],
    ["a value instead of none", { name: "a", port: 1 }, { name: "a", port: null }, "port: null -> 1"],
    ["none instead of a value", { name: "a", port: null }, { name: "a", port: 1 }, "port: 1 -> null"],
    [
      "a list in another order",
      { name: "a", tags: ["b", "c"] },
      { name: "a", tags: ["c", "b"] },
      'tags: ["c","b"] -> ["b","c"]',
    ],
    ["a part of an object", { name: "a", dns: { type: "A" } }, { name: "a", dns: { type: "A", op: "any" } }, ""],
    [
      "another part of it",
      { name: "a", dns: { op: "all" } },
      { name: "a", dns: { type: "A", op: "any" } },
      'dns.op: "any" -> "all"',
    ],
    [
      "an object instead of none",
      { name: "a", dns: { type: "A" } },
      { name: "a", dns: null },
      'dns: null -> {"type":"A"}',
    ],
    ["an item without what is null", { name: "a", x: [{ b: 1 }] }, { name: "a", x: [{ b: 1, c: null }] }, ""],
    ["the same time", { name: "a", at: "2099-01-01T00:00:00Z" }, { name: "a", at: "2099-01-01T00:00:00.000Z" }, ""],
  ])("%s", (_what, row, present, lines) => {
    const text = shown([row], [present]);
    if (lines === "") expect(text).toBe("");
    else expect(text).toContain(lines);
  });

  it("names secrets that come, go or differ, and none of their values", () => {
    const hidden = {
      name: "a",
      request_headers: { Accept: "text/x" },
      body: null,
      secrets_missing: ["request_headers.A", "body"],
    };
    expect(shown([hidden], [hidden])).toBe("");
    expect(
      shown([{ name: "a", request_headers: { accept: "text/x" }, secrets_missing: ["request_headers.a"] }], [hidden]),
    ).toBe("");
    expect(shown([{ name: "a", body: "****", request_headers: { A: "****", Accept: "****" } }], [hidden])).toBe("");
    const other = shown([{ name: "a", body: null, request_headers: { Accept: "text/y", B: "hidden-1" } }], [hidden]);
    expect(other.split("\n")).toEqual([
      "~ monitor a",
      "    request_headers.B: (secret) set",
      "    request_headers.Accept: (secret) changed",
      "    request_headers.A: (secret) removed",
      "    body: (secret) removed",
    ]);
    expect(
      planOf([{ name: "a", request_headers: { A: "hidden-2", Accept: "text/x" } }], [hidden]).unknownSecrets,
    ).toEqual([
      {
        index: 0,
        trial: { ...hidden, request_headers: { Accept: "text/x", A: "hidden-2" } },
        single: [
          { name: "request_headers.A", trial: { ...hidden, request_headers: { Accept: "text/x", A: "hidden-2" } } },
        ],
      },
    ]);
  });

  it("marks new monitors with the owner, keeps the mark, and deletes nothing without it", () => {
    const state = [
      { name: "mine", tags: ["managed:me"] },
      { name: "old", tags: ["managed:me", "x"] },
      { name: "hers", tags: ["managed:her"] },
      { name: "by hand", tags: [] },
    ];
    const rows = [
      { name: "new", tags: ["x"] },
      { name: "mine", tags: ["y"] },
      { name: "by hand", tags: ["z"] },
    ];
    const plan = planOf(rows, state, { owner: "me", prune: true });
    expect(plan.document["monitors"]).toEqual([
      { name: "new", tags: ["x", "managed:me"] },
      { name: "mine", tags: ["y", "managed:me"] },
      { name: "by hand", tags: ["z"] },
    ]);
    expect(plan.deleted).toEqual(["old"]);
    expect(planOf(rows, state, { owner: "me", prune: false }).deleted).toEqual([]);
    expect(planOf(rows, state, { owner: null, prune: true }).deleted).toEqual([]);
  });

  it("knows the same secrets as the control plane", () => {
    const places = SECRET_PLACES.map(({ kind, field, isText }) => ({
      path: kind === null ? [field] : [kind, field],
      isMap: !isText,
    }));
    const body = { path: ["body"], isMap: false };
    const sorted = (fields: readonly object[]) => fields.map((one) => JSON.stringify(one)).toSorted();
    expect(sorted(SECRET_FIELDS)).toEqual(sorted([...places, body]));
  });
});

describe("what only the service knows", () => {
  const COUNT = 64;
  const others = { status_pages: 0, maintenance: 0 };

  /** Settles a plan for an account in which the service finds that these monitors differ; the numbers of rows tried. */
  async function settle(plan: Plan, differing: ReadonlySet<string>, updated: number) {
    const trials: number[] = [];
    const settled = await settlePlan(plan, { created: 0, updated, others, ids: [], warnings: [] }, (rows) => {
      trials.push(rows.length);
      return Promise.resolve({ ok: true, value: rows.filter(({ name }) => differing.has(String(name))).length });
    });
    if (!settled.ok) throw new Error(settled.line);
    return { changed: settled.value.changed.map(({ title }) => title), trials };
  }

  const named = (index: number) => `m${index}`;
  const states = Array.from({ length: COUNT }, (_, index) => ({
    name: named(index),
    url: "x",
    secrets_missing: ["body"],
  }));

  it("is asked in one trial whether any secret differs", async () => {
    const plan = planOf(
      states.map(({ name }) => ({ name, body: "b" })),
      states,
    );
    expect(await settle(plan, new Set(), 0)).toEqual({ changed: [], trials: [COUNT] });
    const all = new Set(states.map(({ name }) => name));
    expect((await settle(plan, all, COUNT)).trials).toEqual([COUNT]);
    const few = await settle(plan, new Set(["m7", "m40"]), 2);
    expect(few.changed).toEqual(["m7", "m40"]);
    expect(few.trials.length).toBeLessThan(20);
  });

  it("is also which pages and windows it would write", async () => {
    const page = { slug: "p", title: "A" };
    const plan = planChanges({ version: 2, status_pages: [{ ...page, title: "a" }] }, { status_pages: [page] }, NOBODY);
    const settleWith = async (planned: Plan, writes: number) => {
      const dryRun = {
        created: 0,
        updated: 0,
        ids: [],
        warnings: [],
        others: { status_pages: writes, maintenance: 0 },
      };
      const settled = await settlePlan(planned, dryRun, () => Promise.reject(new Error("a trial")));
      return settled.ok ? settled.value.changed.length : -1;
    };
    expect(plan.changed).toHaveLength(1);
    expect([await settleWith(plan, 1), await settleWith(plan, 0)]).toEqual([1, 0]);
    const same = planChanges({ version: 2, status_pages: [page] }, { status_pages: [page] }, NOBODY);
    expect([await settleWith(same, 0), await settleWith(same, 1)]).toEqual([0, 1]);
  });

  it("is a value that it reads as it has it, or otherwise", async () => {
    const rows = states.map(({ name }, index) => ({ name, url: index < 4 ? "X" : "x" }));
    const plan = planOf(rows, states);
    expect(plan.changed).toHaveLength(4);
    expect(await settle(plan, new Set(), 4)).toMatchObject({ trials: [] });
    expect((await settle(plan, new Set(["m2"]), 1)).changed).toEqual(["m2"]);
    expect((await settle(plan, new Set(["m0", "m1", "m2", "m3", "m9"]), 5)).changed).toEqual([
      "m0",
      "m1",
      "m2",
      "m3",
      "m9",
    ]);
  });
});
