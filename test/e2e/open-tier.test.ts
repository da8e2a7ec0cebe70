import { describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { createManualClock } from "#test/support/clock.ts";
import { freePort } from "#test/support/free-port.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane({ config: { openPerMinute: 100_000, openPerDay: 100_000 } }));
const site = await stopAfterAll(startHttpServer());
useAgent(plane, "local");

/** Returns the path of a headers check of this test's own server. */
function headersPath(path: string, more = ""): string {
  return `/api/open/headers?q=${encodeURIComponent(`${site.url}${path}`)}${more}`;
}

describe("the open tier", () => {
  it("answers without a key with key: value lines that end with the source, to any origin", async () => {
    const { status, headers, text } = await plane.call(headersPath("/status/404"));
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("cache-control")).toBe("public, max-age=60");
    expect(headers.get("age")).toBe("0");
    expect(headers.get("x-request-id")).toBeTruthy();
    const lines = text.trimEnd().split("\n");
    expect(lines).toContain("code: 404");
    expect(lines.every((line) => /^[\w.-]+: |^# source: /.test(line))).toBe(true);
    expect(lines.at(-1)).toBe(`# source: ${plane.app.config.baseUrl}/api/open/headers?q=${site.url}/status/404`);
  });

  it("returns the same data as JSON at top level and as CSV", async () => {
    const { body } = await plane.call(headersPath("/status/204", "&format=json"));
    expect(body).toMatchObject({ code: 204, final_url: `${site.url}/status/204` });
    expect(body).not.toHaveProperty("data");
    const csv = await plane.call(headersPath("/status/204", "&format=csv"));
    expect(csv.headers.get("content-type")).toContain("text/csv");
    expect(csv.text).toMatch(/^key,value\r\n/);
    expect(csv.text).toContain("\r\ncode,204\r\n");
  });

  it("requests the target once a minute for all callers with the same parameters, in any format", async () => {
    const before = site.requests.length;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => plane.call(headersPath("/bytes/7", `&format=${["text", "json"][at % 2]}`))),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await plane.call(headersPath("/bytes/7"))).status).toBe(200);
    expect(site.requests.length - before).toBe(1);
  });

  it("does not cache failures, and returns them in the requested format with the codes of the API", async () => {
    const closed = await freePort();
    const dead = `/api/open/headers?q=http%3A%2F%2F127.0.0.1%3A${closed}%2F&format=json`;
    const { status, headers, body } = await plane.call(dead);
    expect(status).toBe(502);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(body.error).toMatchObject({ code: "request_failed", stage: "connect" });
    const asText = await plane.call(`/api/open/headers?q=http%3A%2F%2F127.0.0.1%3A${closed}%2F`);
    expect(asText.text).toMatch(/^error\.code: request_failed\n/);
  });

  it.each([
    ["/api/open/headers", 400, "missing_parameter", "q"],
    ["/api/open/headers?q=not%20a%20url", 400, "missing_parameter", "q"],
    ["/api/open/headers?q=http%3A%2F%2F10.0.0.1%2F", 400, "target_not_allowed", undefined],
    ["/api/open/headers?q=http%3A%2F%2Fa.example&q=b", 400, "missing_parameter", "q"],
    ["/api/open/headers?q=http%3A%2F%2Fa.example&format=xml", 400, "missing_parameter", "format"],
    ["/api/open/ssl?q=127.0.0.1&port=99999", 400, "missing_parameter", "port"],
  ])("refuses %s", async (path, status, code, field) => {
    const answer = await plane.call(
      path.includes("format=") ? path : `${path}${path.includes("?") ? "&" : "?"}format=json`,
    );
    expect(answer.status).toBe(status);
    if (!path.includes("format=xml"))
      expect(answer.body.error).toMatchObject({ code, ...(field === undefined ? {} : { field }) });
    else expect(answer.text).toContain("error.field: format");
  });

  it("offers only reachability of ping and ignores the other parameters", async () => {
    const { body } = await plane.call("/api/open/ping?q=127.0.0.1&action=ports&ports=1-100&count=9&format=json");
    expect(body).toMatchObject({ action: "ping", packets_sent: 4 });
  });

  it("has exactly the published tools", async () => {
    const open = CONTRACTS.filter((contract) => contract.open !== undefined).map(
      (contract) => contract.open?.name ?? contract.name,
    );
    const { text, headers } = await plane.call("/api/open/");
    expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
    for (const name of open) expect(text).toContain(`/api/open/${name}?q=`);
    for (const name of ["health", "traceroute", "check"])
      expect((await plane.call(`/api/open/${name}?q=a`)).status).toBe(404);
    expect((await plane.call("/api/open/headers", { method: "POST", body: {} })).headers.get("allow")).toBe(
      "GET, OPTIONS",
    );
  });

  it("answers an unknown path in the requested format, to any origin, with the address of its list", async () => {
    const json = await plane.call("/api/open/health?q=a&format=json");
    expect(json.status).toBe(404);
    expect(json.headers.get("access-control-allow-origin")).toBe("*");
    expect(json.body).toMatchObject({ error: { code: "not_found" }, meta: { request_id: expect.any(String) } });
    expect(json.body).not.toHaveProperty("meta.api_version");
    expect(json.body).toHaveProperty("error.message", expect.stringContaining("GET /api/open/ lists"));
    const text = await plane.call("/api/open/no/such/tool?q=a");
    expect([text.status, text.headers.get("content-type")]).toEqual([404, "text/plain; charset=utf-8"]);
    expect(text.text).toMatch(/^error\.code: not_found\n/);
    const csv = await plane.call("/api/open/headers?q=a&format=csv", { method: "DELETE" });
    expect([csv.status, csv.headers.get("allow")]).toEqual([405, "GET, OPTIONS"]);
    expect(csv.text).toMatch(/^key,value\r\nerror\.code,method_not_allowed\r\n/);
    // Other surfaces keep their own format.
    expect((await plane.call("/api/opener")).body).toHaveProperty("meta.api_version", "4.0");
  });

  it("answers a preflight", async () => {
    const { status, headers } = await plane.call("/api/open/headers?q=a", { method: "OPTIONS" });
    expect(status).toBe(204);
    expect(headers.get("access-control-allow-methods")).toBe("GET");
  });
});

describe("the open tier's limits", () => {
  it("apply to each address and minute, include cached answers, and return the time to wait", async () => {
    // A clock that does not advance, so that no new minute begins between the requests.
    const clock = createManualClock(new Date());
    const small = await startControlPlane({ config: { openPerMinute: 3, openPerDay: 100 }, overrides: { clock } });
    try {
      const seen: number[] = [];
      for (let count = 0; count < 3; count += 1) seen.push((await small.call("/api/open/")).status);
      const last = await small.call("/api/open/headers?q=http%3A%2F%2Fa.example&format=json");
      expect([...seen, last.status]).toEqual([200, 200, 200, 429]);
      expect(last.body.error).toMatchObject({ code: "rate_limit_exceeded" });
      expect(Number(last.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect(last.headers.get("x-ratelimit-limit")).toBe("3");
      expect(last.headers.get("x-ratelimit-remaining")).toBe("0");
    } finally {
      await small.stop();
    }
  });
});
