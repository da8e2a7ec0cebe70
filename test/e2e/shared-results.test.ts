import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { pollMeasurement, createMeasurement, portsOf, portsOutcome } from "#test/support/measurements.ts";
import { attachScripted, helloOf, type ScriptedAgent } from "#test/support/scripted-agent.ts";

const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(2)>'&`;
const CALL = "/api/v4/ping?host=127.0.0.1&action=ports&ports=443";

let plane: TestControlPlane;
let key: string;
let agents: ScriptedAgent[] = [];

beforeAll(async () => {
  plane = await startControlPlane();
});

beforeAll(async () => {
  key = await plane.createKey();
});

afterEach(() => {
  for (const agent of agents) agent.cut();
  agents = [];
});

afterAll(() => plane.stop());

/** Attaches an agent that returns this for every job. */
async function attach(region: string, outcome = portsOutcome(), to = plane): Promise<void> {
  const agent = await attachScripted(to, helloOf(region));
  agents.push(agent);
  void (async () => {
    for (;;) {
      const job = await agent.nextJob();
      agent.accept(job);
      agent.answer(job, outcome);
    }
  })();
}

const json = { headers: { accept: "application/json" } };

describe("share=1 on a tool call", () => {
  it("stores the answer under an id that cannot be guessed, and does not change the answer", async () => {
    await attach("eu-a");
    const plain = await plane.call(`${CALL}&locations=eu-a`, { key });
    const shared = await plane.call(`${CALL}&locations=eu-a&share=1`, { key });
    expect(plain.body.meta).not.toHaveProperty("share_id");
    const shareId: string = shared.body.meta["share_id"];
    expect(shareId).toMatch(/^[\w-]{24}$/);
    const { body } = await plane.call(`/s/${shareId}`, json);
    expect(body.data["data"]["locations"]).toMatchObject([
      { status: "ok", data: (shared.body.data["locations"] as { data: unknown }[])[0]?.data },
    ]);
    const { body: listed } = await plane.call("/api/v4/measurements", { key });
    expect(listed.data[0]).toMatchObject({ status: "completed", share_id: shareId, total: 1 });
  });

  it("works for one location, in a body, in a stream, and not in version 3", async () => {
    await attach("eu-a");
    const params = { host: "127.0.0.1", action: "ports", ports: "443" };
    const posted = await plane.call("/api/v4/ping", { key, body: { ...params, share: true } });
    expect(posted.body.meta["share_id"]).toMatch(/^[\w-]{24}$/);
    const headers = { accept: "text/event-stream" };
    const { text } = await plane.call(`${CALL}&share=1`, { key, headers });
    expect(text).toMatch(/event: done\n.*"share_id":"[\w-]{24}"/);
    const { body } = await plane.call(CALL.replace("v4", "v3").concat("&share=1"), { key });
    expect(JSON.stringify(body)).not.toContain("share_id");
    expect((await plane.call(`${CALL}&share=maybe`, { key })).body.error["field"]).toBe("share");
  });

  it("stores a failure too, and nothing if nothing was measured", async () => {
    const failure = { status: "failed", stage: "dns", source: "target", reason: "nxdomain", message: "No such name." };
    await attach("eu-a", failure as never);
    const failed = await plane.call(`${CALL}&share=1`, { key });
    expect(failed.status).toBe(502);
    const shareId: string = failed.body.meta["share_id"];
    const { body } = await plane.call(`/s/${shareId}`, json);
    expect(body.data).toMatchObject({ status: "failed", data: { locations: [{ error: { reason: "nxdomain" } }] } });
    const refused = await plane.call("/api/v4/ping?host=10.0.0.1&share=1", { key });
    expect(refused.status).toBe(400);
    expect(refused.body.meta).not.toHaveProperty("share_id");
  });
});

describe("the page of a shared answer", () => {
  it("is complete without scripts, and escapes text from the target", async () => {
    await attach("eu-a", portsOutcome(HOSTILE, HOSTILE));
    const { body } = await plane.call(`${CALL}&share=1`, { key });
    const page = await plane.call(`/s/${String(body.meta["share_id"])}`);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='/,
    );
    expect(page.headers.get("x-robots-tag")).toBe("noindex");
    expect(page.headers.get("cache-control")).toBe("public, max-age=60");
    expect(page.text).toContain("127.0.0.1");
    expect(page.text).toContain("from eu-a");
    expect(page.text).toContain("<h2>Ports</h2>");
    expect(page.text).toContain("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(page.text).not.toMatch(/<script|<img|onerror=alert\(2\)>/);
  });

  it("has no account, no key, no probe's id and no free text of the caller", async () => {
    await attach("eu-a");
    const id = await createMeasurement(plane, key, {
      tool: "check",
      params: { url: "http://127.0.0.1/", ua: "secret-of-mine" },
      share: true,
    });
    await expect.poll(async () => (await pollMeasurement(plane, key, id)).status).toBe("failed");
    const { share_id: shareId } = await pollMeasurement(plane, key, id);
    const shown = [await plane.call(`/s/${shareId}`), await plane.call(`/s/${shareId}?format=json`)];
    for (const { text } of shown) {
      expect(text).toContain("http://127.0.0.1/");
      for (const secret of ["secret-of-mine", key, id, "probe_id", "account"]) expect(text).not.toContain(secret);
    }
    expect(Object.keys(shown[1]?.body.data["params"] ?? {})).toEqual(["url", "method", "follow", "timeout"]);
  });

  it("answers an unknown id in the requested format", async () => {
    const page = await plane.call("/s/nothing-of-this-name");
    expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    const { status, body } = await plane.call("/s/nothing-of-this-name", json);
    expect([status, body.error["code"]]).toEqual([404, "not_found"]);
  });
});

describe("retention and limits", () => {
  it("a shared answer is removed after the retention, from the page, the poll and the list at the same time", async () => {
    const clock = createManualClock(new Date());
    const other = await startControlPlane({ overrides: { clock } });
    const theirs = await other.createKey();
    await attach("eu-a", portsOutcome(), other);
    const { body } = await other.call(`${CALL}&share=1`, { key: theirs });
    const page = `/s/${String(body.meta["share_id"])}`;
    const { body: listed } = await other.call("/api/v4/measurements", { key: theirs });
    const { id } = listed.data[0] as { id: string };
    clock.advance(7 * 86_400_000 - 1_000);
    expect((await other.call(page)).status).toBe(200);
    clock.advance(2_000);
    expect((await other.call(page)).status).toBe(404);
    expect((await other.call(`/api/v4/measurements?id=${id}`, { key: theirs })).status).toBe(404);
    expect((await other.call("/api/v4/measurements", { key: theirs })).body.data).toEqual([]);
    await other.stop();
  });

  it("pages are limited to 60 requests a minute for each client address", async () => {
    const clock = createManualClock(new Date());
    const other = await startControlPlane({ overrides: { clock } });
    const statuses = await Promise.all(Array.from({ length: 61 }, async () => (await other.call("/s/x")).status));
    expect(statuses.filter((status) => status === 404)).toHaveLength(60);
    const refused = await other.call("/s/x");
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    await other.stop();
  });
});

it("the metrics have measurements and queues", async () => {
  await attach("eu-a");
  const id = await createMeasurement(plane, key, portsOf("eu-a"));
  await expect.poll(async () => (await pollMeasurement(plane, key, id)).status).toBe("completed");
  const text = await plane.app.metrics.registry.metrics();
  expect(text).toMatch(/vantage_measurements_total\{status="completed"\} [1-9]/);
  expect(text).toMatch(/vantage_measurements_total\{status="shared"\} [1-9]/);
  expect(text).toMatch(/vantage_measurements\{status="running"\} 0/);
  expect(text).toMatch(/vantage_queue_jobs\{queue="measurement",state="completed"\} [1-9]/);
  expect(text).toMatch(/vantage_measurement_start_lag_seconds_count [1-9]/);
});
