import { describe, expect, it } from "vitest";
import { SECRET_PLACES } from "#control-plane/outages/kinds/secrets.ts";
import { SECRET_FIELDS, type Row } from "#shared/client/apply/document.ts";
import { pairRows, planOf, type PairedDocument, type Plan } from "#shared/client/apply/plan.ts";
import { showPlan } from "#shared/client/apply/show-plan.ts";

/** Pairs a document of monitors with an account of monitors. */
const pair = (
  monitors: readonly Row[],
  state: readonly Row[],
  ownership: { readonly owner: string | null; readonly prune: boolean } = { owner: null, prune: false },
): PairedDocument => pairRows({ version: 2, monitors }, { version: 2, monitors: state }, ownership);

const shown = (plan: Plan) => showPlan({ ...plan, deleted: [] });

/** The lines of a plan in which the service says that these fields of the one monitor change. */
const linesOf = (row: Row, present: Row, fields: readonly string[]): readonly string[] => {
  const dryRun = [{ row: "monitors.0", action: "changed", fields }] as const;
  return shown(planOf(pair([row], [present]), dryRun))
    .split("\n")
    .slice(1)
    .map((line) => line.trim());
};

describe("the plan of a document", () => {
  it("is what the service says of each row", () => {
    const paired = pair(
      [{ name: "new" }, { name: " same " }, { name: "other", retries: 1 }],
      [{ name: "other", retries: 2 }, { name: "same" }],
    );
    const plan = planOf(paired, [
      { row: "monitors.0", action: "created", fields: [] },
      { row: "monitors.2", action: "changed", fields: ["retries"] },
    ]);
    expect([plan.created, plan.changed, plan.unchanged].map((rows) => rows.map(({ title }) => title.trim()))).toEqual([
      ["new"],
      ["other"],
      ["same"],
    ]);
    expect(shown(plan)).toBe("+ monitor new\n~ monitor other\n    retries: 2 -> 1");
  });

  it("has the values of the account and of the document", () => {
    const present = { name: "a", port: null, tags: ["c", "b"], dns: { type: "A", op: "any" }, keyword: "x" };
    const row = { name: "a", port: 1, tags: ["b", "c"], dns: { op: "all" } };
    expect(linesOf(row, present, ["port", "tags", "dns.op"])).toEqual([
      "port: null -> 1",
      'tags: ["c","b"] -> ["b","c"]',
      'dns.op: "any" -> "all"',
    ]);
    expect(linesOf({ name: "a", dns: { type: "A" } }, { name: "a", dns: null }, ["dns"])).toEqual([
      'dns: null -> {"type":"A"}',
    ]);
    expect(linesOf(row, present, ["keyword"])).toEqual(["a value that the service reads otherwise"]);
  });

  it("names secrets that come, go or differ, and none of their values", () => {
    const hidden = {
      name: "a",
      request_headers: { Accept: "text/x" },
      body: null,
      secrets_missing: ["request_headers.A", "body"],
    };
    const row = { name: "a", body: null, request_headers: { accept: "hidden-1", B: "hidden-2" } };
    const fields = ["request_headers.Accept", "request_headers.B", "request_headers.A", "body"];
    expect(linesOf(row, hidden, fields)).toEqual([
      "body: (secret) removed",
      "request_headers.Accept: (secret) changed",
      "request_headers.B: (secret) set",
      "request_headers.A: (secret) removed",
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
    const plan = pair(rows, state, { owner: "me", prune: true });
    expect(plan.document["monitors"]).toEqual([
      { name: "new", tags: ["x", "managed:me"] },
      { name: "mine", tags: ["y", "managed:me"] },
      { name: "by hand", tags: ["z"] },
    ]);
    expect(plan.deleted).toEqual(["old"]);
    expect(pair(rows, state, { owner: "me", prune: false }).deleted).toEqual([]);
    expect(pair(rows, state, { owner: null, prune: true }).deleted).toEqual([]);
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
