import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { outlineOf, type Outlined } from "#test/support/outline.ts";
import { askWire, type WireAnswer } from "#test/support/raw-http.ts";
import { WIDE_LIMITS } from "#test/support/wide-plans.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane());
const key = await plane.createKey();

const DECODE = { br: brotliDecompressSync, gzip: gunzipSync } as const;

/** Returns the body as text, decoded as its headers say. */
function textOf({ headers, body }: WireAnswer): string {
  const coding = headers["content-encoding"] as keyof typeof DECODE | undefined;
  return (coding === undefined ? body : DECODE[coding](body)).toString();
}

describe.each([
  ["/openapi.json", "public, no-cache", 5],
  // Too short for a content coding.
  ["/docs/", "public, no-cache", null],
  ["/docs/js/scalar.js", "public, no-cache", 3],
  ["/api/open/", "public, max-age=60", 2],
])("%s", (path, cacheControl, smaller) => {
  const ask = (headers: Record<string, string> = {}) => askWire(`${plane.url}${path}`, headers);

  it("is complete in each coding, with a separate tag and length", async () => {
    const whole = await ask();
    expect(whole.status).toBe(200);
    expect(whole.headers["content-encoding"]).toBeUndefined();
    if (smaller === null) {
      const asked = await ask({ "accept-encoding": "gzip" });
      expect(asked.headers["content-encoding"]).toBeUndefined();
      expect(asked.headers.vary).toBe("accept-encoding");
      return;
    }
    const tags = [whole.headers.etag];
    for (const coding of ["gzip", "br"]) {
      const coded = await ask({ "accept-encoding": coding });
      expect(coded.headers).toMatchObject({
        "content-encoding": coding,
        "content-length": String(coded.body.length),
        "content-type": whole.headers["content-type"],
        "cache-control": cacheControl,
        vary: "accept-encoding",
      });
      expect(textOf(coded)).toBe(textOf(whole));
      expect(coded.body.length).toBeLessThan(whole.body.length / smaller);
      tags.push(coded.headers.etag);
    }
    expect(new Set(tags).size).toBe(3);
    for (const tag of tags) expect(tag).toMatch(/^"[\w-]{22}(\.\w+)?"$/);
  });

  it("is not sent again to a client that has it", async () => {
    for (const coding of ["identity", "gzip", "br"]) {
      const first = await ask({ "accept-encoding": coding });
      const tag = first.headers.etag ?? "";
      const again = await ask({ "accept-encoding": coding, "if-none-match": tag });
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, tag]);
      expect(again.headers).toMatchObject({ "cache-control": cacheControl, vary: "accept-encoding" });
      expect((await ask({ "accept-encoding": coding, "if-none-match": '"another"' })).status).toBe(200);
    }
  });
});

it("the API is as recorded (if the difference is wanted: npm test -- test/e2e/documents.test.ts -u)", async () => {
  const [document, tools] = await Promise.all([
    askWire(`${plane.url}/openapi.json`),
    askWire(`${plane.url}/api/v4/tools`, { "x-api-key": key }),
  ]);
  const { data } = JSON.parse(tools.body.toString()) as { data: readonly { name: string; scope: string }[] };
  const scopes = data.map(({ name, scope }) => `tool ${name}: scope ${scope}\n`);
  const outline = outlineOf(JSON.parse(document.body.toString()) as Outlined);
  await expect([outline, ...scopes].join("")).toMatchFileSnapshot("../fixtures/api-outline.txt");
});

describe("GET /api/v4/tools", () => {
  const ask = (headers: Record<string, string> = {}, query = "") =>
    askWire(`${plane.url}/api/v4/tools${query}`, { "x-api-key": key, ...headers });

  it("is at most 40 KB, and with compressed schemas a tenth of their size", async () => {
    expect((await ask()).body.length).toBeLessThan(40_960);
    const whole = await ask({}, "?schemas=1");
    for (const coding of ["gzip", "br"]) {
      expect((await ask({ "accept-encoding": coding }, "?schemas=1")).body.length).toBeLessThan(whole.body.length / 5);
    }
  });

  it.each(["gzip", "br"])("is one complete body in %s, with the meta of its own request", async (coding) => {
    const plain = JSON.parse(textOf(await ask())) as { data: unknown; meta: { request_id: string } };
    const answer = await ask({ "accept-encoding": coding }, "?größe=1");
    expect(answer.headers).toMatchObject({ "content-encoding": coding, "cache-control": "private, no-cache" });
    const coded = JSON.parse(textOf(answer)) as { data: unknown; meta: { request_id: string; warnings: object[] } };
    expect(coded.data).toEqual(plain.data);
    expect(coded.meta.request_id).toBe(answer.headers["x-request-id"]);
    expect(coded.meta.warnings).toMatchObject([{ parameter: "größe" }]);
  });

  it("is not sent again to a client that has it, but the request counts", async () => {
    const { headers } = await ask();
    const again = await ask({ "if-none-match": headers.etag ?? "" });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    expect(Number(again.headers["x-ratelimit-remaining"])).toBeLessThan(WIDE_LIMITS.requestsPerMinute);
    const other = await askWire(`${plane.url}/api/v4/tools`, {
      "x-api-key": await plane.createKey("free"),
      "if-none-match": headers.etag ?? "",
    });
    expect(other.status).toBe(200);
  });
});

describe("POST /mcp", () => {
  const ask = (method: string, headers: Record<string, string> = {}) =>
    askWire(
      `${plane.url}/mcp`,
      { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      JSON.stringify({ jsonrpc: "2.0", id: "of this call", method }),
    );

  it.each(["gzip", "br"])("lists the tools in %s", async (coding) => {
    const whole = await ask("tools/list");
    const coded = await ask("tools/list", { "accept-encoding": coding });
    expect(coded.headers).toMatchObject({ "content-encoding": coding, vary: "accept-encoding" });
    expect(textOf(coded)).toBe(textOf(whole));
    expect(JSON.parse(textOf(coded))).toMatchObject({ id: "of this call", result: { tools: expect.any(Array) } });
    expect(coded.body.length).toBeLessThan(whole.body.length / 5);
  });

  it("compresses nothing else", async () => {
    const { headers } = await ask("ping", { "accept-encoding": "gzip" });
    expect(headers["content-encoding"]).toBeUndefined();
  });
});
