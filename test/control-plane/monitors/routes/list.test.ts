import { describe, expect, it } from "vitest";
import { BODY, startMonitorsWorld, URL, type Monitor } from "#test/control-plane/monitors/routes/world.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const world = await stopAfterAll(startMonitorsWorld());

describe("the list", () => {
  it("is filtered, newest first, in pages", async () => {
    const own = await world.createKey();
    const host = { url: "example.com", locations: ["eu-west"] };
    const one = await world.create({ ...BODY, name: "Shop", tags: ["web", "eu"] }, own);
    const two = await world.create({ ...host, check_type: "ping", name: "Router 50%_" }, own);
    const three = await world.create({ ...BODY, url: "https://SHOP.example.com", name: "Three", tags: ["web"] }, own);
    await world.app.sql`update monitor_states set status = 'down' where monitor_id = ${two.id}`;
    const ids = async (query: string) => {
      const { body, status } = await world.call(`${URL}?${query}`, { key: own });
      expect(status, query).toBe(200);
      return (body.data as readonly Monitor[]).map(({ id }) => id);
    };
    expect(await ids("")).toEqual([three.id, two.id, one.id]);
    expect(await ids("status=down")).toEqual([two.id]);
    expect(await ids("status=up")).toEqual([]);
    expect(await ids("status=unknown")).toEqual([three.id, one.id]);
    expect(await ids("tag=web")).toEqual([three.id, one.id]);
    expect(await ids("tag=we")).toEqual([]);
    expect(await ids("check_type=ping")).toEqual([two.id]);
    expect(await ids("q=shop")).toEqual([three.id, one.id]);
    expect(await ids("q=50%25_")).toEqual([two.id]);
    expect(await ids("q=%25")).toEqual([two.id]);
    expect(await ids("q=shop&tag=eu&status=unknown&check_type=http")).toEqual([one.id]);
    const page = await world.call(`${URL}?page=2&per_page=2`, { key: own });
    expect(page.body.meta["pagination"]).toEqual({ total: 3, page: 2, per_page: 2, pages: 2 });
    expect((page.body.data as readonly Monitor[]).map(({ id }) => id)).toEqual([one.id]);
  });

  it.each([
    ["status=degraded", "status"],
    ["check_type=smtp", "check_type"],
    ["per_page=101", "per_page"],
    ["page=0", "page"],
    ["q=", "q"],
    ["tag=", "tag"],
    ["id=x", "id"],
    ["id=0", "id"],
    ["action=delete", "action"],
  ])("refuses %s", async (query, field) => {
    const { status, body } = await world.call(`${URL}?${query}`, { key: world.key });
    expect([status, body.error]).toMatchObject([400, { code: "missing_parameter", field }]);
  });
});

describe("another account's monitor", () => {
  it("is answered like an absent one, byte for byte but for the request's own facts", async () => {
    const { id } = await world.create();
    const stranger = await world.createKey();
    const absent = 999_999_999;
    const bytes = async (path: string, options: object) => {
      const { status, text } = await world.call(path, { key: stranger, ...options });
      return [status, text.replace(/"request_id":"[^"]*","duration_ms":\d+/, "")];
    };
    const requests = (target: number): readonly (readonly [string, object])[] => [
      [`${URL}?id=${target}`, {}],
      [`${URL}?id=${target}`, { method: "PUT", body: { name: "x" } }],
      [`${URL}?id=${target}`, { method: "DELETE" }],
      [`${URL}?action=run&id=${target}`, { method: "POST" }],
      [URL, { body: { ...BODY, depends_on: target } }],
    ];
    for (const [index, [path, options]] of requests(id).entries()) {
      const [absentPath, absentOptions] = requests(absent)[index] ?? ["", {}];
      const theirs = await bytes(path, options);
      expect(theirs).toEqual(await bytes(absentPath, absentOptions));
      expect(theirs[0]).toBe(index === 4 ? 400 : 404);
    }
    expect(await world.read(id)).toMatchObject({ name: "example.com/health" });
    const { body } = await world.call(URL, { key: stranger });
    expect(body.data).toEqual([]);
  });
});
