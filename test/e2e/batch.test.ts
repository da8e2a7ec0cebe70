import { describe, expect, it } from "vitest";
import { startHttpServer } from "#test/servers/http.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { freePort } from "#test/support/free-port.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";
import { failed } from "#shared/contracts/outcome.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly type: string;
  readonly total: number;
  readonly poll_url: string;
  readonly invalid_urls: readonly string[];
  readonly invalid_reasons: readonly { readonly url: string; readonly code: string; readonly message: string }[];
  readonly completed: number;
  readonly failed: number;
  readonly results: readonly { url: string; status: string; data?: object; error?: object; duration_ms: number }[];
}

const plane = await stopAfterAll(startControlPlane());
useAgent(plane, "local");
const key = await plane.createKey();
const site = await stopAfterAll(startHttpServer());

const submit = (body: object, withKey = key) => plane.call("/api/v4/batch.php", { key: withKey, body });

async function poll(path: string, withKey = key): Promise<Job> {
  return (await plane.call(path, { key: withKey })).body.data;
}

async function ended(path: string, withKey = key): Promise<Job> {
  await expect.poll(async () => (await poll(path, withKey)).status, { interval: 100 }).not.toMatch(/pending|running/);
  return poll(path, withKey);
}

describe("a batch", () => {
  it("is accepted immediately and checks every URL (good, failing, repeated), and lists unusable ones", async () => {
    const dead = `http://127.0.0.1:${await freePort()}/`;
    const urls = [
      `${site.url}/status/200`,
      `${site.url}/status/404`,
      dead,
      `${site.url}/status/200#again`,
      "nonsense",
      "http://10.1.2.3/",
    ];
    const before = site.requests.length;
    const { status, body } = await submit({ urls, type: "check" });
    expect(status).toBe(202);
    const made = body.data as unknown as Job;
    expect(made).toMatchObject({
      status: "pending",
      type: "check",
      total: 4,
      invalid_urls: ["nonsense", "http://10.1.2.3/"],
      invalid_reasons: [{ code: "missing_parameter" }, { code: "target_not_allowed" }],
    });
    expect(made.poll_url).toBe(`/api/v4/batch?job_id=${made.job_id}`);
    const job = await ended(made.poll_url);
    expect(job).toMatchObject({
      status: "completed",
      total: 4,
      completed: 4,
      failed: 1,
      invalid_urls: made.invalid_urls,
    });
    expect(job.results.map(({ url, status: one }) => [url, one])).toEqual([
      [urls[0], "ok"],
      [urls[1], "ok"],
      [urls[2], "failed"],
      [urls[3], "ok"],
    ]);
    expect(job.results[1]?.data).toMatchObject({ code: 404 });
    expect(job.results[2]?.error).toMatchObject({ code: "request_failed", stage: "connect" });
    expect(job.results[3]?.data).toEqual(job.results[0]?.data);
    expect(site.requests.length - before).toBe(2);
  });

  it("pages its results", async () => {
    const { body } = await submit({ urls: [1, 2, 3, 4, 5].map((n) => `${site.url}/bytes/${n}`) });
    const path = (body.data as unknown as Job).poll_url;
    await ended(path);
    const second = await plane.call(`${path}&page=2&per_page=2`, { key });
    expect((second.body.data as unknown as Job).results.map(({ url }) => url)).toEqual([
      `${site.url}/bytes/3`,
      `${site.url}/bytes/4`,
    ]);
    expect(second.body.meta["pagination"]).toEqual({ total: 5, page: 2, per_page: 2, pages: 3 });
  });

  it("works with every tool that has a target, and with no other", async () => {
    const { status, body } = await submit({ urls: ["127.0.0.1"], type: "ping" });
    expect(status).toBe(202);
    const job = await ended((body.data as unknown as Job).poll_url);
    expect(job.results[0]?.data).toMatchObject({ host: "127.0.0.1" });
    expect((await submit({ urls: ["a"], type: "nothing" })).body.error).toMatchObject({
      field: "type",
      reason: "enum",
    });
  });

  it("is invisible to other accounts, whose answer is that for an unknown id", async () => {
    const { body } = await submit({ urls: [`${site.url}/`] });
    const { poll_url: path } = body.data as unknown as Job;
    const other = await plane.createKey();
    const foreign = await plane.call(path, { key: other });
    const absent = await plane.call("/api/v4/batch?job_id=bat_nothing", { key: other });
    expect([foreign.status, absent.status]).toEqual([404, 404]);
    expect(foreign.body.error).toEqual(absent.body.error);
  });

  it("can be cancelled: running jobs are cancelled, and existing results are kept", async () => {
    const urls = [`${site.url}/status/200`, ...Array.from({ length: 30 }, (_, n) => `${site.url}/silent?${n}`)];
    const { body } = await submit({ urls });
    const { poll_url: path } = body.data as unknown as Job;
    await expect.poll(async () => (await poll(path)).completed, { interval: 100 }).toBeGreaterThan(0);
    const cancelled = await plane.call(path, { key, method: "DELETE" });
    expect(cancelled.body.data).toMatchObject({ status: "cancelled" });
    await expect.poll(() => site.open(), { interval: 100 }).toBe(0);
    expect(await poll(path)).toMatchObject({ status: "cancelled", completed: 1 });
  });
});

describe("a batch is refused", () => {
  it.each([
    [{}, "missing_parameter", "urls"],
    [{ urls: [] }, "missing_parameter", "urls"],
    [{ urls: "http://a.example/" }, "missing_parameter", "urls"],
    [{ urls: [7] }, "missing_parameter", undefined],
    [{ urls: ["nonsense"] }, "missing_parameter", "urls"],
    [{ urls: ["http://a.example/"], colour: "red" }, "missing_parameter", "colour"],
  ])("%j", async (given, code, field) => {
    const { status, body } = await submit(given);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code, ...(field === undefined ? {} : { field }) });
  });

  it("with more URLs than the plan allows, as submitted, and for a tool beyond the key's scopes", async () => {
    const free = await plane.createKey("free");
    const six = await submit({ urls: Array.from({ length: 6 }, () => "nonsense") }, free);
    expect([six.status, six.body.error]).toMatchObject([403, { code: "plan_limit_exceeded", field: "urls" }]);
    const ssl = await submit({ urls: ["a.example"], type: "ssl" }, free);
    expect([ssl.status, ssl.body.error]).toMatchObject([403, { code: "insufficient_scope" }]);
  });

  it("for unknown methods and paths", async () => {
    expect((await plane.call("/api/v4/batch", { key, method: "PUT", body: {} })).headers.get("allow")).toBe(
      "DELETE, GET, POST",
    );
    expect((await plane.call("/api/v3/batch.php", { key })).status).toBe(404);
    expect((await plane.call("/api/v4/batch", { key })).body.error).toMatchObject({
      field: "job_id",
      reason: "required",
    });
  });
});

describe("several batches", () => {
  it("of one account do not delay those of another", async () => {
    const [busy, quick] = await Promise.all([plane.createKey(), plane.createKey()]);
    const slow = (batch: number) => Array.from({ length: 20 }, (_, n) => `${site.url}/drip-body?ms=30&b=${batch}-${n}`);
    const paths = await Promise.all(
      Array.from({ length: 12 }, async (_, batch) => {
        const { body } = await submit({ urls: slow(batch) }, busy);
        return (body.data as unknown as Job).poll_url;
      }),
    );
    const { body } = await submit({ urls: [`${site.url}/status/201`] }, quick);
    const job = await ended((body.data as unknown as Job).poll_url, quick);
    expect(job.results[0]?.data).toMatchObject({ code: 201 });
    const others = await Promise.all(paths.map(async (path) => (await poll(path, busy)).status));
    expect(others.filter((one) => one === "running").length).toBeLessThanOrEqual(4);
    expect(others).toContain("pending");
    await Promise.all(paths.map((path) => plane.call(path, { key: busy, method: "DELETE" })));
  });
});

describe("a batch whose agent sends characters that PostgreSQL rejects", () => {
  it.each([
    ["a\u0000b", "a b"],
    ["half \ud83d of a pair", "half \ufffd of a pair"],
  ])("ends and returns %j as %j", async (message, plain) => {
    const other = await startControlPlane();
    const scripted = await attachScripted(other, helloOf("odd"));
    try {
      const caller = await other.createKey();
      const { body } = await other.call("/api/v4/batch", { key: caller, body: { urls: ["http://127.0.0.1:8000/"] } });
      const { poll_url: path } = body.data as unknown as Job;
      const job = await scripted.nextJob();
      scripted.accept(job);
      scripted.answer(job, failed("connect", "target", "refused", message));
      const read = async (): Promise<Job> => (await other.call(path, { key: caller })).body.data;
      await expect.poll(async () => (await read()).status, { interval: 100 }).toBe("completed");
      expect((await read()).results[0]).toMatchObject({
        status: "failed",
        error: { message: plain },
      });
    } finally {
      scripted.cut();
      await other.stop();
    }
  });
});
