import { describe, expect, it } from "vitest";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const URL = "/api/v4/monitors";

const service = await stopAfterAll(startMonitorService());
service.attach("eu-west");
const key = await service.createKey("captain");

interface Composite {
  readonly monitor_ids: readonly number[];
  readonly down_when: string;
  readonly percent: number | null;
  readonly members: readonly object[];
}

const post = (body: object, as = key) => service.call(URL, { key: as, body });
const put = (id: number, body: object) => service.call(`${URL}?id=${id}`, { method: "PUT", key, body });
const read = async (id: number): Promise<{ readonly composite: Composite; readonly last_error: object | null }> =>
  (await service.call(`${URL}?id=${id}`, { key })).body.data;
const remove = (id: number) => service.call(`${URL}?id=${id}`, { method: "DELETE", key });

async function create(name: string, over: object = {}, as = key): Promise<number> {
  const { body, text, status } = await post({ url: "https://example.com", name, ...over }, as);
  if (status !== 201) throw new Error(text);
  return (body.data as { id: number }).id;
}

const follow = (ids: readonly number[], over: object = {}) =>
  create("All", { url: "", check_type: "composite", composite: { monitor_ids: ids }, ...over });
const membersOf = async (id: number) =>
  (
    await service.app.sql<{ id: number }[]>`
    select member_id as id from composite_members where composite_id = ${id} order by 1`
  ).map((row) => row.id);

describe("a composite", () => {
  it("needs no url and no location, and is read with its monitors and their statuses", async () => {
    const [one, two] = [await create("Shop"), await create("Blog")];
    const { status, body } = await post({ check_type: "composite", composite: { monitor_ids: [two, one] } });
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      name: "composite",
      url: "",
      locations: [],
      status: "unknown",
      composite: {
        monitor_ids: [two, one],
        down_when: "any",
        percent: null,
        members: [
          { id: one, name: "Shop", status: "unknown" },
          { id: two, name: "Blog", status: "unknown" },
        ],
      },
    });
  });

  it("is changed part by part, and can be sent back as it was read", async () => {
    const ids = [await create("a"), await create("b"), await create("c")];
    const id = await follow(ids.slice(0, 2));
    await put(id, { composite: { down_when: "percent", percent: 60 } });
    expect((await read(id)).composite).toMatchObject({
      monitor_ids: ids.slice(0, 2),
      down_when: "percent",
      percent: 60,
    });
    await put(id, { composite: { monitor_ids: ids } });
    expect((await read(id)).composite).toMatchObject({ monitor_ids: ids, percent: 60 });
    expect(await membersOf(id)).toEqual(ids);
    await put(id, { composite: { down_when: "all" } });
    const whole = await read(id);
    expect(whole.composite).toMatchObject({ down_when: "all", percent: null });
    expect((await put(id, whole)).body.data).toMatchObject({ composite: whole.composite });
  });

  it.each([
    [{ monitor_ids: [] }, "composite.monitor_ids", "required"],
    [{}, "composite.monitor_ids", "required"],
    [{ monitor_ids: [1] }, "composite.monitor_ids", "range"],
    [{ monitor_ids: Array.from({ length: 51 }, (_, index) => index + 1) }, "composite.monitor_ids", "range"],
    [{ monitor_ids: ["x", "y"] }, "composite.monitor_ids.0", "type"],
    [{ down_when: "most" }, "composite.down_when", "enum"],
    [{ down_when: "percent" }, "composite.percent", "required"],
    [{ down_when: "all", percent: 5 }, "composite.percent", "type"],
    [{ down_when: "percent", percent: 101 }, "composite.percent", "range"],
  ])("with %j is refused: %s", async (composite, field, reason) => {
    const { status, body } = await post({ check_type: "composite", composite });
    expect([status, body.error]).toMatchObject([400, { field, reason }]);
  });

  it("is refused monitors of another account, the same twice, and itself", async () => {
    const mine = await create("Mine");
    const other = await create("Theirs", {}, await service.createKey("captain"));
    const refusal = async (ids: readonly number[]) =>
      (await post({ check_type: "composite", composite: { monitor_ids: ids } })).body.error;
    expect(await refusal([mine, other])).toMatchObject({ field: "composite.monitor_ids.1", reason: "unknown" });
    expect(await refusal([mine, mine])).toMatchObject({ field: "composite.monitor_ids.1", reason: "duplicate" });
    const id = await follow([mine, await create("b")]);
    const itself = await put(id, { composite: { monitor_ids: [mine, id] } });
    expect(itself.body.error).toMatchObject({ field: "composite.monitor_ids", reason: "range" });
    expect((itself.body.error as { message: string }).message).toContain("cycle");
  });

  it("leads back to itself neither over other composites nor over what monitors depend on", async () => {
    const [a, b] = [await create("a"), await create("b")];
    const inner = await follow([a, b]);
    const outer = await follow([inner, a]);
    expect((await put(inner, { composite: { monitor_ids: [a, outer] } })).body.error).toMatchObject({
      field: "composite.monitor_ids",
      reason: "range",
    });
    expect((await put(a, { depends_on: outer })).body.error).toMatchObject({ field: "depends_on", reason: "range" });
    const c = await create("c", { depends_on: outer });
    expect((await put(inner, { composite: { monitor_ids: [b, c] } })).body.error).toMatchObject({
      field: "composite.monitor_ids",
    });
    expect((await put(outer, { depends_on: b })).status).toBe(200);
  });

  it("loses a monitor that is deleted, stays editable, and says so when none is left", async () => {
    const ids = [await create("a"), await create("b")] as const;
    const id = await follow(ids);
    await remove(ids[0]);
    expect((await read(id)).composite).toMatchObject({ monitor_ids: [ids[1]], members: [{ id: ids[1] }] });
    expect((await put(id, { name: "One", composite: { monitor_ids: [ids[1]] } })).status).toBe(200);
    expect((await read(id)).last_error).toBeNull();
    await remove(ids[1]);
    expect(await read(id)).toMatchObject({
      status: "unknown",
      composite: { monitor_ids: [], members: [] },
      last_error: { reason: "no_members" },
    });
    const woken = await service.app.sql`select from composite_wakes where composite_id = ${id}`;
    expect(woken.length).toBeGreaterThan(0);
  });

  it("cannot be checked by hand, has no field of checks, and no other kind has its own", async () => {
    const [a, b] = [await create("a"), await create("b")];
    const id = await follow([a, b]);
    const run = await service.call(`${URL}?action=run&id=${id}`, { method: "POST", key });
    expect(run.body.error).toMatchObject({ field: "id" });
    expect((run.body.error as { message: string }).message).toContain("follows the statuses of other monitors");
    expect((await put(id, { retries: 1 })).body.error).toMatchObject({ field: "retries", reason: "unknown" });
    expect((await put(a, { composite: { monitor_ids: [b, id] } })).body.error).toMatchObject({ field: "composite" });
    await put(id, { check_type: "http", url: "https://example.com" });
    expect(await membersOf(id)).toEqual([]);
  });
});

describe("a document with composites", () => {
  const send = (rows: readonly object[]) =>
    service.call(`${URL}?action=import`, { key, body: { version: 2, monitors: rows } });
  const site = (name: string) => ({ name, url: "https://example.com", locations: ["eu-west"] });
  const group = (name: string, ...monitors: readonly string[]) => ({
    name,
    check_type: "composite",
    composite: { monitors },
  });

  it("names the monitors by their rows, in any order, and changes what a composite follows", async () => {
    const rows = [site("x"), group("outer", "inner", "x"), group("inner", "x", "y"), site("y")];
    const { status, body, text } = await send(rows);
    expect(status, text).toBe(201);
    const [x, outer = 0, inner = 0, y] = (body.data as { ids: number[] }).ids;
    expect((await read(outer)).composite.monitor_ids).toEqual([inner, x]);
    const changed = [site("x"), group("outer", "y", "x", "inner"), group("inner", "x", "y"), site("y")];
    expect((await send(changed)).body.data).toMatchObject({ created: 0, updated: 1, unchanged: 3 });
    expect((await read(outer)).composite.monitor_ids).toEqual([y, x, inner]);
    expect(await membersOf(outer)).toEqual([x, y, inner].toSorted((one = 0, other = 0) => one - other));
  });

  it("takes a composite that has lost monitors as it was exported", async () => {
    const { body, status, text } = await send([site("only"), group("one", "only"), group("nothing")]);
    expect(status, text).toBe(201);
    const [only, one = 0, nothing = 0] = (body.data as { ids: number[] }).ids;
    expect((await read(one)).composite.monitor_ids).toEqual([only]);
    expect((await read(nothing)).composite.monitor_ids).toEqual([]);
  });

  it.each([
    ["a name that no row has", [site("p"), group("q", "p", "nobody")], "composite.monitors.1", "unknown"],
    ["the same name twice", [site("p"), group("q", "p", "p")], "composite.monitors.1", "duplicate"],
    ["none", [site("p"), { name: "q", check_type: "composite" }], "composite.monitors", "required"],
    ["ids", [site("p"), { ...group("q"), composite: { monitor_ids: [1, 2] } }], "composite.monitor_ids", "unknown"],
    ["a cycle", [site("p"), group("q", "p", "r"), group("r", "p", "q")], "composite.monitors", "range"],
  ])("is refused with %s", async (_what, rows, field, reason) => {
    const { status, body } = await send(rows);
    expect([status, (body.error as { problems: object[] }).problems.at(-1)]).toMatchObject([400, { field, reason }]);
    const { body: list } = await service.call(`${URL}?q=q`, { key });
    expect((list.data as { name: string }[]).filter(({ name }) => name === "q")).toEqual([]);
  });
});
