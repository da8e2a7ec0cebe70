import { describe, expect, it } from "vitest";
import { openSecrets } from "#control-plane/outages/kinds/secrets.ts";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const URL = "/api/v4/monitors";
const SECRET = "s3cret-token-of-the-target";
const BODY = {
  url: "https://example.com",
  locations: ["eu-west"],
  method: "POST",
  request_headers: { Authorization: `Bearer ${SECRET}`, "X-Other": SECRET },
  body: `{"password":"${SECRET}"}`,
};
const MASKED = { request_headers: { Authorization: "****", "X-Other": "****" }, body: "****" };

const service = await stopAfterAll(startMonitorService());
service.attach("eu-west");
const key = await service.createKey();

/** The secrets as a check would send them. */
async function stored(id: number) {
  const [row] = await service.app.sql<{ secrets: Uint8Array | null }[]>`select secrets from monitors where id = ${id}`;
  return openSecrets(service.app.encryption, row?.secrets ?? null);
}

describe("request headers and body", () => {
  it("are in no answer, no log line, no export, and not readable in the database", async () => {
    const texts: string[] = [];
    const call = async (path: string, options: object = {}) => {
      const answer = await service.call(path, { key, ...options });
      texts.push(answer.text, JSON.stringify([...answer.headers]));
      return answer;
    };
    const made = await call(URL, { body: BODY, headers: { "x-idempotency-key": "made" } });
    expect(made.body.data).toMatchObject(MASKED);
    const id: number = made.body.data["id"];
    expect((await call(`${URL}?id=${id}`)).body.data).toMatchObject(MASKED);
    await call(URL);
    await call(`${URL}?action=export`);
    await call(`${URL}?id=${id}`, { method: "PUT", body: { name: "x" } });
    await call(`${URL}?id=${id}`, { method: "PUT", body: { request_headers: { "X-A": `${SECRET}\r\nX-B: c` } } });
    await call(`${URL}?id=${id}`, { method: "PUT", body: { method: "GET", body: SECRET } });
    await call(URL, { body: { ...BODY, colour: SECRET } });
    await call(`${URL}?id=${id}`, { method: "DELETE" });
    const again = await call(URL, { body: BODY });
    expect(texts.filter((text) => text.includes(SECRET))).toEqual([]);
    expect(service.lines.filter((line) => line.includes(SECRET))).toEqual([]);
    const rows = await service.app.sql`select monitors::text as text from monitors`;
    expect(JSON.stringify(rows)).not.toContain(SECRET);
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(SECRET).toString("hex"));
    expect(await stored(again.body.data["id"])).toEqual({ request_headers: BODY.request_headers, body: BODY.body });
  });

  it("are kept by a change with their masks, replaced by other values, and removed", async () => {
    const { body } = await service.call(URL, { key, body: BODY });
    const id: number = body.data["id"];
    const put = (change: object) => service.call(`${URL}?id=${id}`, { method: "PUT", key, body: change });
    expect((await put(body.data)).status).toBe(200);
    expect(await stored(id)).toEqual({ request_headers: BODY.request_headers, body: BODY.body });
    await put({ request_headers: { Authorization: "****", "X-New": "n" } });
    const kept = { Authorization: `Bearer ${SECRET}`, "X-New": "n" };
    expect(await stored(id)).toEqual({ request_headers: kept, body: BODY.body });
    const unknown = await put({ request_headers: { "X-Unknown": "****" } });
    expect([unknown.status, unknown.body.error]).toMatchObject([400, { field: "request_headers.X-Unknown" }]);
    await put({ request_headers: {}, body: null });
    expect(await stored(id)).toEqual({ request_headers: {}, body: null });
    const [row] = await service.app.sql`select secrets from monitors where id = ${id}`;
    expect(row).toEqual({ secrets: null });
  });

  describe("when the url leads to another origin", () => {
    const make = async () => {
      const { body } = await service.call(URL, { key, body: BODY });
      const id: number = body.data["id"];
      const put = (change: object, path = URL) =>
        service.call(`${path}?id=${id}`, { method: "PUT", key, body: change });
      return { id, shown: body.data as object, put };
    };
    const none = { request_headers: {}, body: null };

    it.each(["https://other.example/", "http://example.com", "https://example.com:8443", "other.example"])(
      "are removed if they do not come with it, masked or not, and the answer says so: %s",
      async (url) => {
        const { id, shown, put } = await make();
        const moved = await put({ ...shown, url });
        expect([moved.status, moved.body.data]).toMatchObject([200, { url, ...none }]);
        const removed = ["body", "request_headers.Authorization", "request_headers.X-Other"];
        const message = (name: string) =>
          `"${name}" was removed, because the url leads to another origin: send it again with the url.`;
        const warnings = removed.map((parameter) => {
          return { parameter, message: message(parameter), did_you_mean: null };
        });
        expect(moved.body.meta["warnings"]).toEqual(warnings);
        expect(await stored(id)).toEqual(none);
        const bare = await make();
        expect((await bare.put({ url })).body.meta["warnings"]).toEqual(warnings);
        expect(await stored(bare.id)).toEqual(none);
      },
    );

    it("are those that come with it", async () => {
      const { id, put } = await make();
      const url = "https://other.example";
      const moved = await put({ url, request_headers: { Authorization: "****", "X-Other": "new" }, body: "new" });
      expect(moved.body.meta["warnings"]).toMatchObject([{ parameter: "request_headers.Authorization" }]);
      expect(await stored(id)).toEqual({ request_headers: { "X-Other": "new" }, body: "new" });
    });

    it("are removed by a change of version 3 as well, and stay where only a path or the check type changes", async () => {
      const old = await make();
      expect((await old.put({ url: "https://other.example" }, "/api/v3/monitors")).status).toBe(200);
      expect(await stored(old.id)).toEqual(none);
      const { id, shown, put } = await make();
      await put({ ...shown, url: "EXAMPLE.com:443/path", check_type: "keyword", keyword: "x" });
      expect(await stored(id)).toEqual({ request_headers: BODY.request_headers, body: BODY.body });
    });
  });

  it("may have 64 KB and any characters", async () => {
    const odd = { ...BODY, body: `${"é\u0000\n".repeat(20_000)}\ud800` };
    const { status, body } = await service.call(URL, { key, body: odd });
    expect(status).toBe(201);
    expect((await stored(body.data["id"])).body).toBe(odd.body);
  });
});
