import { describe, expect, it } from "vitest";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const OLD_FIELDS = [
  "id",
  "url",
  "check_type",
  "interval_minutes",
  "expected_code",
  "notify_email",
  "is_active",
  "status",
];

const service = await stopAfterAll(startMonitorService({ plans: WIDE_PLANS }));
service.attach("eu-west");
const key = await service.createKey();

describe("version 3", () => {
  const URL = "/api/v3/monitors";
  const create = async (body: object = { url: "https://example.com" }): Promise<number> =>
    (await service.call(URL, { key, body })).body.data["id"];

  it.each([URL, `${URL}.php`, `${URL}.php/`])(
    "has the operations of version 4 with its own fields at %s",
    async (url) => {
      const body = {
        url: "https://example.com",
        check_type: "http",
        interval_minutes: 3,
        expected_code: 204,
        notify_email: 1,
      };
      const made = await service.call(url, { key, body });
      expect([made.status, Object.keys(made.body.data)]).toEqual([201, OLD_FIELDS]);
      expect(made.body.meta).toEqual({
        request_id: expect.any(String),
        duration_ms: expect.any(Number),
        api_version: "3.0",
      });
      const id: number = made.body.data["id"];
      const at = new Date();
      await service.app.sql`
        insert into checks (monitor_id, checked_at, location, status, response_ms, http_status, lag_ms, is_recheck, missed)
        values (${id}, ${at}, 'eu-west', 4, 5, 204, 0, false, 0)`;
      const one = await service.call(`${url}?id=${id}`, { key });
      expect(one.body.data).toEqual({
        ...(made.body.data as object),
        checks: [
          {
            id: expect.any(Number),
            checked_at: at.toISOString(),
            status: "up",
            response_time_ms: 5,
            http_status_code: 204,
          },
        ],
      });
      const changed = await service.call(`${url}?id=${id}`, { method: "PUT", key, body: { is_active: false } });
      expect(changed.body.data).toEqual({ ...(made.body.data as object), is_active: false });
      const list = await service.call(`${url}?status=unknown&per_page=1`, { key });
      expect([list.body.data, list.body.meta["pagination"]]).toMatchObject([[{ id }], { per_page: 1, page: 1 }]);
      const gone = await service.call(`${url}?id=${id}`, { method: "DELETE", key });
      expect(gone.body.data).toEqual({ id, deleted: true });
    },
  );

  it("shows monitors of version 4, and a change there keeps what it does not know", async () => {
    const body = { url: "https://example.com", check_type: "keyword", keyword: "x", name: "Shop", tags: ["a"] };
    const made = await service.call("/api/v4/monitors", { key, body });
    const id: number = made.body.data["id"];
    await service.call(`${URL}?id=${id}`, { method: "PUT", key, body: { interval_minutes: 9 } });
    const after = await service.call(`/api/v4/monitors?id=${id}`, { key });
    expect(after.body.data).toMatchObject({ ...body, interval_minutes: 9 });
  });

  it("has no field, filter, action or idempotency of version 4", async () => {
    const named = await service.call(URL, { key, body: { url: "https://example.com", name: "x" } });
    expect([named.status, named.body.error]).toMatchObject([400, { field: "name" }]);
    const keyword = await service.call(URL, { key, body: { url: "https://example.com", check_type: "keyword" } });
    expect([keyword.status, keyword.body.error]).toMatchObject([400, { field: "keyword" }]);
    const id = await create();
    for (const [method, action] of [
      ["POST", "run"],
      ["POST", "import"],
      ["GET", "export"],
      ["GET", "history"],
    ] as const) {
      const { status } = await service.call(`${URL}?action=${action}&id=${id}`, { method, key });
      expect(status, action).toBe(404);
    }
    const headers = { "x-idempotency-key": "same" };
    const made = async () =>
      (await service.call(URL, { key, headers, body: { url: "https://example.com" } })).body.data["id"] as number;
    expect(await made()).not.toBe(await made());
    const odd = await service.call(URL, {
      key,
      headers: { "x-idempotency-key": "two words" },
      body: { url: "https://example.com" },
    });
    expect(odd.status).toBe(201);
  });

  it("takes the key in the query and in the body", async () => {
    expect((await service.call(`${URL}?api_key=${key}`)).status).toBe(200);
    expect((await service.call(URL, { body: { url: "https://example.com", api_key: key } })).status).toBe(201);
    expect(
      (await service.call("/api/v4/monitors", { body: { url: "https://example.com", api_key: key } })).status,
    ).toBe(401);
  });

  it("reports a missing or wrong url as invalid_url", async () => {
    for (const body of [{}, { url: "nonsense" }, { url: "ftp://example.com" }]) {
      const { status, body: answered } = await service.call(URL, { key, body });
      expect([status, answered.error]).toMatchObject([400, { code: "invalid_url" }]);
      expect(answered.meta).not.toHaveProperty("api_version");
    }
  });
});

describe("versions 1 and 2 before their date", () => {
  it("have the same operations in their own forms", async () => {
    const body = { url: "https://example.com", interval_minutes: 4 };
    const flat = await service.call("/api/v1/monitors.php", { key, body });
    expect([flat.status, Object.keys(flat.body)]).toEqual([201, ["success", ...OLD_FIELDS, "request_id"]]);
    const nested = await service.call("/api/v2/monitors", { key, body });
    expect([nested.status, nested.body]).toMatchObject([201, { ok: true, data: { interval_minutes: 4 } }]);
    const list = await service.call("/api/v1/monitors?per_page=1", { key });
    expect(list.body).toMatchObject({
      success: true,
      data: [{ id: nested.body.data["id"] }],
      pagination: { per_page: 1 },
    });
    const failed = await service.call("/api/v1/monitors", { key, body: {} });
    expect([failed.status, failed.body]).toEqual([400, { success: false, error: expect.any(String) }]);
    const path = `/api/v2/monitors?id=${String(nested.body.data["id"])}`;
    expect((await service.call(path, { method: "DELETE", key })).body).toMatchObject({
      ok: true,
      data: { deleted: true },
    });
    for (const { headers } of [flat, nested]) expect(headers.get("deprecation")).toBe("@1767225600");
  });
});

describe("a key without the scope", () => {
  it.each(["v4", "v3", "v2", "v1"])("is refused in %s before anything else is read", async (version) => {
    const free = await service.createKey("free");
    for (const [method, path] of [
      ["GET", ""],
      ["POST", ""],
      ["PUT", "?id=x"],
      ["DELETE", "?id=x"],
    ] as const) {
      const { status } = await service.call(`/api/${version}/monitors${path}`, {
        method,
        key: free,
        body: method === "GET" ? undefined : {},
      });
      expect(status, method).toBe(403);
    }
  });
});

it("in version 4 unknown query parameters are named in a warning", async () => {
  const { body } = await service.call("/api/v4/monitors?per_pge=2&statuss=up", { key });
  expect(body.meta["warnings"]).toMatchObject([
    { parameter: "per_pge", did_you_mean: "per_page" },
    { parameter: "statuss", did_you_mean: "status" },
  ]);
});
