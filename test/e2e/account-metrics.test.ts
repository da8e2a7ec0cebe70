import { gunzipSync } from "node:zlib";
import { request } from "node:http";
import { afterAll, expect, it } from "vitest";
import { startHttpServer } from "#test/servers/http.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { freePort } from "#test/support/free-port.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { WIDE_LIMITS } from "#test/support/wide-plans.ts";

const [plane, web] = await Promise.all([startControlPlane(), startHttpServer()]);
useAgent(plane, "eu-west");
const key = await plane.createKey("captain");
afterAll(async () => {
  await Promise.all([plane.stop(), web.close()]);
});

/** Returns the lines of the caller's scrape that contain all of these texts. */
async function scrape(...texts: readonly string[]): Promise<readonly string[]> {
  const { text } = await plane.call("/api/v4/metrics", { key });
  return text.split("\n").filter((line) => !line.startsWith("#") && texts.every((one) => line.includes(one)));
}

it("monitors appear with their checks, by phase and location", async () => {
  const shop = await createMonitor(plane, key, {
    name: "shop",
    url: `${web.url}/status/200?token=secret`,
    tags: ["env:prod"],
  });
  const dead = await createMonitor(plane, key, {
    name: "dead",
    url: `http://127.0.0.1:${await freePort()}/`,
    retries: 0,
  });
  const beat = await createMonitor(plane, key, { name: "beat", check_type: "heartbeat" });
  await plane.call(new URL(beat.heartbeat_url).pathname);

  await expect.poll(() => scrape("vantage_monitor_up{", `"${dead.id}"`)).toHaveLength(1);
  await expect.poll(() => scrape("vantage_monitor_up{", `"${shop.id}"`)).toHaveLength(1);
  expect(await scrape("vantage_monitor_up{", '"dead"')).toEqual([expect.stringMatching(/ 0$/)]);
  expect(await scrape("probe_success{", '"shop"', 'location="eu-west"')).toEqual([expect.stringMatching(/ 1$/)]);
  expect(await scrape("probe_success{", '"dead"', 'location="eu-west"')).toEqual([expect.stringMatching(/ 0$/)]);

  const phases = await scrape("probe_duration_seconds{", '"shop"');
  expect(phases.map((line) => /phase="(\w+)"/.exec(line)?.[1])).toEqual([
    "redirect",
    "dns",
    "connect",
    "tls",
    "processing",
  ]);
  // No answer, no duration.
  expect(await scrape("probe_duration_seconds{", '"dead"')).toEqual([]);
  expect(await scrape("vantage_monitor_schedule_lag_seconds{", '"shop"')).toHaveLength(1);
  expect(await scrape("vantage_monitor_uptime_ratio{", '"shop"', 'window="1d"')).toHaveLength(1);
  expect(await scrape("vantage_heartbeat_age_seconds{", '"beat"')).toHaveLength(1);
  expect(await scrape("vantage_heartbeat_deadline_timestamp_seconds{", '"beat"')).toHaveLength(1);
  expect(await scrape("secret")).toEqual([]);

  const tagged = await plane.call("/api/v4/metrics?tag=env:prod", { key });
  expect(tagged.text).toContain('"shop"');
  expect(tagged.text).not.toContain('"dead"');
  expect((await plane.call("/api/v4/metrics?tag=none", { key })).text).toBe("");
});

it("a paused monitor has no probe series", async () => {
  const { id } = await createMonitor(plane, key, { name: "asleep", url: `${web.url}/status/200` });
  await expect.poll(() => scrape("probe_success{", '"asleep"')).toHaveLength(1);
  await plane.call(`/api/v4/monitors?id=${id}`, { key, method: "PUT", body: { is_active: false } });
  // Scrapes of the same second have the same answer.
  await expect.poll(() => scrape("probe_success{", '"asleep"')).toEqual([]);
  expect(await scrape("vantage_monitor_active{", '"asleep"')).toEqual([expect.stringMatching(/ 0$/)]);
});

it("the key can be a bearer token, as Prometheus sends it", async () => {
  const { status, headers } = await plane.call("/api/v4/metrics", { headers: { authorization: `Bearer ${key}` } });
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(headers.get("x-ratelimit-limit")).toBe(String(WIDE_LIMITS.requestsPerMinute));
});

it("an account sees its own monitors only", async () => {
  const other = await plane.createKey("captain");
  expect(await plane.call("/api/v4/metrics", { key: other })).toMatchObject({ status: 200, text: "" });
});

it("a key without the scope monitors is refused, and so is none", async () => {
  const free = await plane.createKey("free");
  expect(await plane.call("/api/v4/metrics", { key: free })).toMatchObject({
    status: 403,
    body: { error: { code: "insufficient_scope" } },
  });
  expect((await plane.call("/api/v4/metrics")).status).toBe(401);
});

it("a scrape that its client gives up does not disturb another one of the same account", async () => {
  const givenUp = new AbortController();
  const first = plane.call("/api/v4/metrics?tag=env:prod", { key, signal: givenUp.signal });
  const others = [1, 2].map(() => plane.call("/api/v4/metrics?tag=env:prod", { key }));
  givenUp.abort();
  await expect(first).rejects.toThrow("aborted");
  for (const { status, text } of await Promise.all(others)) {
    expect(status).toBe(200);
    expect(text).toContain('"shop"');
  }
});

it("a scrape is compressed for those who accept it", async () => {
  const answer = await new Promise<{ readonly coding: string | undefined; readonly body: Buffer }>(
    (resolve, reject) => {
      const options = { headers: { "x-api-key": key, "accept-encoding": "gzip" } };
      request(`${plane.url}/api/v4/metrics`, options, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          resolve({ coding: response.headers["content-encoding"], body: Buffer.concat(chunks) }),
        );
      })
        .once("error", reject)
        .end();
    },
  );
  expect(answer.coding).toBe("gzip");
  expect(gunzipSync(answer.body).toString()).toContain("vantage_monitor_info{");
});

it.each(["tag=", `tag=${"x".repeat(51)}`, "tag=a&tag=b"])("?%s is refused", async (query) => {
  const { status, body } = await plane.call(`/api/v4/metrics?${query}`, { key });
  expect(status).toBe(400);
  expect(body).toMatchObject({ error: { code: "missing_parameter", field: "tag" } });
});
