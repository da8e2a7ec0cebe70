import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { clientCredentials } from "#test/support/dial.ts";
import { enrol } from "#test/support/enrol.ts";
import {
  createMeasurement,
  keepAlive,
  pollMeasurement,
  portsOf,
  portsOutcome,
  progressOf,
  readStream,
  type StreamedEvent,
} from "#test/support/measurements.ts";
import { attachScripted, helloOf, startScriptedAgent, type ScriptedAgent } from "#test/support/scripted-agent.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** A lost probe is waited for half a minute. */
const SOON = { interval: 300 };

let key: string;
let agents: ScriptedAgent[] = [];

const one = await stopAfterAll(startControlPlane());
const two = await stopAfterAll(startControlPlane({ databaseUrl: one.databaseUrl }));

afterEach(() => {
  for (const agent of agents) agent.cut();
  agents = [];
});

/** Attaches an agent with a stream to each of these replicas. The job can arrive on any of them. */
async function attach(region: string, planes: readonly TestControlPlane[] = [one, two]): Promise<ScriptedAgent[]> {
  const own = await enrol(one, region);
  const channel = clientCredentials(own.caCertificate, own);
  const hello = helloOf(region, { agentId: own.agentId });
  const made = await Promise.all(planes.map((plane) => startScriptedAgent(plane.grpcPort, hello, channel)));
  agents.push(...made);
  for (const agent of made) keepAlive(agent);
  return made;
}

/** Answers every job of the agents immediately and reports each to `told`. */
function answering(streams: readonly ScriptedAgent[], told: (region: string) => void = () => {}): void {
  for (const stream of streams) {
    void (async () => {
      for (;;) {
        const job = await stream.nextJob();
        stream.accept(job);
        told(job.tool);
        stream.answer(job, portsOutcome());
      }
    })();
  }
}

/**
 * Returns the stream on which the job arrives, and the job. Each test uses another region, because a measurement that
 * an earlier test left unfinished continues as soon as its region has an agent again.
 */
async function firstJob(streams: readonly ScriptedAgent[]) {
  return Promise.race(streams.map(async (stream) => ({ stream, job: await stream.nextJob() })));
}

describe("a measurement", () => {
  beforeAll(async () => {
    key = await one.createKey();
  });

  it("runs in the background and is polled in the form of the tool's own answer", async () => {
    answering([...(await attach("eu-a")), ...(await attach("eu-b"))]);
    const made = await one.call("/api/v4/measurements", { key, body: portsOf("eu-a,eu-b") });
    expect(made.status).toBe(202);
    const { id } = made.body.data as { id: string };
    expect(made.body.data).toEqual({
      id,
      status: "pending",
      tool: "ping",
      total: 2,
      poll_url: `/api/v4/measurements?id=${id}`,
      share_id: null,
    });
    await expect.poll(async () => (await pollMeasurement(two, key, id)).status, SOON).toBe("completed");
    const polled = await pollMeasurement(two, key, id);
    expect(polled).toMatchObject({ total: 2, completed: 2, share_id: null, progress_dropped: 0 });
    expect(polled.data.locations.map(({ location, status }) => [location.region, status])).toEqual([
      ["eu-a", "ok"],
      ["eu-b", "ok"],
    ]);
    expect(polled.data.summary).toMatchObject({ total: 2, ok: 2, failed: 0, consistent: true });
    const { body } = await one.call("/api/v4/measurements?per_page=1", { key });
    expect(body.data[0]).toMatchObject({ id, status: "completed", total: 2, completed: 2 });
    expect(body.data[0]).not.toHaveProperty("data");
    expect(body.meta["pagination"]).toEqual({ total: 1, page: 1, per_page: 1, pages: 1 });
  });

  it("accepts its locations as a list too, and names the valid ones", async () => {
    answering([...(await attach("eu-a")), ...(await attach("eu-b"))]);
    const made = await one.call("/api/v4/measurements", { key, body: portsOf(["eu-a", "eu-b"]) });
    expect(made.body).toMatchObject({ data: { total: 2 } });
    const wrong = await one.call("/api/v4/measurements", { key, body: portsOf([], { locations: 7 }) });
    expect(wrong.body.error).toMatchObject({ field: "locations", reason: "type" });
    expect(wrong.text).toContain("must be a string or an array");
  });

  it("runs on one probe without locations, in the same form", async () => {
    answering(await attach("eu-a"));
    const id = await createMeasurement(one, key, portsOf(undefined));
    await expect.poll(async () => (await pollMeasurement(one, key, id)).status, SOON).toBe("completed");
    const { data } = await pollMeasurement(one, key, id);
    expect(data.locations).toHaveLength(1);
  });

  it("has failed if no location has an answer", async () => {
    const streams = await attach("eu-failing");
    const id = await createMeasurement(one, key, portsOf("eu-failing"));
    const { stream, job } = await firstJob(streams);
    stream.answer(job, {
      status: "failed",
      stage: "connect",
      source: "target",
      reason: "refused",
      message: "It did not want to.",
    });
    await expect.poll(async () => (await pollMeasurement(one, key, id)).status, SOON).toBe("failed");
    const { data } = await pollMeasurement(one, key, id);
    expect(data.locations[0]).toMatchObject({
      status: "failed",
      error: { code: "request_failed", reason: "refused" },
    });
  });

  it("runs on the replica that has the probe, whichever replicas took the request and the job", async () => {
    answering(await attach("only-two", [two]));
    const ids = [];
    for (let n = 0; n < 4; n += 1) ids.push(await createMeasurement(two, key, portsOf("only-two")));
    for (const id of ids) {
      await expect.poll(async () => (await pollMeasurement(one, key, id)).status, SOON).toBe("completed");
    }
  });

  it("waits half a minute for a lost probe, then its location has failed", async () => {
    const clock = createManualClock(new Date());
    const other = await startControlPlane({ overrides: { clock } });
    const theirs = await other.createKey();
    const agent = await attachScripted(other, helloOf("eu-a"));
    const id = await createMeasurement(other, theirs, portsOf("eu-a"));
    agent.accept(await agent.nextJob());
    agent.cut();
    const waits = async () => {
      const [row] = await other.app.sql`select 1 from measurements where id = ${id} and waiting_since is not null`;
      return row !== undefined;
    };
    await expect.poll(waits, SOON).toBe(true);
    expect((await pollMeasurement(other, theirs, id)).status).toBe("running");
    clock.advance(30_000);
    await expect.poll(async () => (await pollMeasurement(other, theirs, id)).status, SOON).toBe("failed");
    const { data } = await pollMeasurement(other, theirs, id);
    expect(data.locations[0]).toMatchObject({ status: "failed", error: { code: "probe_unavailable" } });
    await other.stop();
  });

  it("can be cancelled from any replica: the agent receives the cancellation, the stream ends, and no answer is stored", async () => {
    const streams = await attach("eu-cancelled");
    const id = await createMeasurement(one, key, portsOf("eu-cancelled"));
    const { stream, job } = await firstJob(streams);
    stream.accept(job);
    const other = stream === streams[0] ? two : one;
    const listening = readStream(other.url, key, id);
    const { status, body } = await other.call(`/api/v4/measurements?id=${id}`, { key, method: "DELETE" });
    expect([status, body.data["status"]]).toEqual([200, "cancelled"]);
    await expect.poll(() => stream.messages.some(({ body: message }) => message?.$case === "cancel"), SOON).toBe(true);
    stream.answer(job, portsOutcome());
    expect((await listening).at(-1)).toMatchObject({ event: "done", data: { data: { status: "cancelled" } } });
    expect(await pollMeasurement(one, key, id)).toMatchObject({ status: "cancelled", completed: 0 });
    const again = await one.call(`/api/v4/measurements?id=${id}`, { key, method: "DELETE" });
    expect([again.status, again.body.data["status"]]).toEqual([200, "cancelled"]);
  });
});

describe("the stream of a measurement", () => {
  beforeAll(async () => {
    key = await one.createKey();
  });

  it("is resumed on the other replica without loss or repetition", async () => {
    const streams = await attach("eu-resumed");
    const id = await createMeasurement(one, key, portsOf("eu-resumed"));
    const { stream, job } = await firstJob(streams);
    stream.accept(job);
    const isThird = ({ data }: StreamedEvent) => (data["data"] as { n?: number } | undefined)?.n === 3;
    const before = readStream(one.url, key, id, { until: isThird });
    for (let n = 1; n <= 3; n += 1) stream.send(progressOf(job, { n }));
    const seen = await before;
    const after = readStream(two.url, key, id, { after: seen.at(-1)?.id ?? 0 });
    for (let n = 4; n <= 6; n += 1) stream.send(progressOf(job, { n }));
    stream.answer(job, portsOutcome());
    const rest = await after;
    const all = [...seen, ...rest];
    expect(all.map(({ event }) => event)).toEqual(["probe", ...Array<string>(6).fill("progress"), "result", "done"]);
    expect(all.map((event) => event.id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const progress = all.filter(({ event }) => event === "progress");
    expect(progress.map(({ data }) => (data["data"] as { n: number }).n)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(all.at(-2)?.data).toMatchObject({ status: "ok", attempt: 1, location: { region: "eu-resumed" } });
    expect(all.at(-1)?.data).toMatchObject({ data: { id, status: "completed" }, meta: { api_version: "4.0" } });
    // From the start once more, and not for a client that has received the end.
    expect(await readStream(two.url, key, id)).toEqual(expect.arrayContaining(all.slice(0, -1)));
    const headers = { accept: "text/event-stream", "last-event-id": "9" };
    expect((await two.call(`/api/v4/measurements?id=${id}`, { key, headers })).status).toBe(204);
  });

  it("keeps a limited number of progress rows and reports what it dropped", async () => {
    const streams = await attach("eu-chatty");
    const id = await createMeasurement(one, key, portsOf("eu-chatty"));
    const { stream, job } = await firstJob(streams);
    stream.accept(job);
    for (let n = 0; n < 1_010; n += 1) stream.send(progressOf(job, { n }));
    stream.answer(job, portsOutcome());
    const events = await readStream(one.url, key, id);
    expect(events.filter(({ event }) => event === "progress")).toHaveLength(1_000);
    expect((await pollMeasurement(two, key, id))["progress_dropped"]).toBe(10);
  });
});

describe("a measurement is refused", () => {
  beforeAll(async () => {
    key = await one.createKey();
  });

  const refused = async (body: Record<string, unknown>, withKey = key) => {
    const { status, body: answer } = await one.call("/api/v4/measurements", { key: withKey, body });
    return [status, answer.error["code"], answer.error["field"], answer.error["reason"]];
  };

  it("and the field is named by its path", async () => {
    await attach("eu-a");
    expect(await refused({ params: {} })).toEqual([400, "missing_parameter", "tool", "required"]);
    expect(await refused({ tool: "nothing" })).toEqual([400, "missing_parameter", "tool", "enum"]);
    expect(await refused({ tool: "ping" })).toEqual([400, "missing_parameter", "params.host", "required"]);
    expect(await refused(portsOf("eu-a", { params: 5 }))).toEqual([400, "missing_parameter", "params", "type"]);
    const host = (name: string) => ({ params: { host: name } });
    expect(await refused(portsOf("eu-a", host("http://x")))).toEqual([400, "missing_parameter", "params.host", "type"]);
    expect((await refused(portsOf("eu-a", host("10.1.2.3"))))[1]).toBe("target_not_allowed");
    expect(await refused(portsOf("nowhere"))).toEqual([400, "missing_parameter", "locations", "unknown_location"]);
    expect(await refused(portsOf("eu-a", { extra: 1 }))).toEqual([400, "missing_parameter", "extra", "unknown"]);
  });

  it("without the tool's scope, or with more locations than the plan allows", async () => {
    for (const region of ["eu-a", "eu-b", "eu-c", "eu-d", "eu-e"]) await attach(region, [one]);
    const free = await one.createKey("free");
    expect((await refused(portsOf("eu-a"), free))[1]).toBe("insufficient_scope");
    const starter = await one.createKey("starter");
    expect(await refused(portsOf("all"), starter)).toEqual([403, "plan_limit_exceeded", "locations", undefined]);
  });

  it("but a dry run returns where it would run and stores nothing", async () => {
    await attach("eu-a");
    const body = portsOf("eu-a", { dry_run: 1 });
    const { status, body: answer } = await one.call("/api/v4/measurements", { key, body });
    expect([status, answer.data["locations"]]).toMatchObject([200, [{ region: "eu-a" }]]);
    expect((await one.call("/api/v4/measurements", { key })).body.meta["pagination"]).toMatchObject({ total: 0 });
  });

  it("without budget of the target, which is taken as by the tool's own route; a dry run takes none", async () => {
    const other = await startControlPlane({
      config: { targetBudget: 1 },
      overrides: { clock: createManualClock(new Date()) },
    });
    const theirs = await other.createKey();
    const agent = await attachScripted(other, helloOf("eu-a"));
    agents.push(agent);
    const body = portsOf("eu-a", { params: { host: "www.example.com", action: "ports", ports: "443" } });
    const ask = async (extra = {}) => other.call("/api/v4/measurements", { key: theirs, body: { ...body, ...extra } });
    expect((await ask({ dry_run: true })).status).toBe(200);
    const first = await ask();
    expect(first.status).toBe(202);
    const second = await ask();
    expect([second.status, second.body.error["reason"]]).toEqual([429, "target_budget"]);
    const job = await agent.nextJob();
    agent.accept(job);
    agent.answer(job, portsOutcome());
    const { id } = first.body.data as { id: string };
    await expect.poll(async () => (await pollMeasurement(other, theirs, id)).status, SOON).toBe("completed");
    await other.stop();
  });

  it("with the same answer if it belongs to another account as if it does not exist", async () => {
    await attach("eu-a");
    const id = await createMeasurement(one, key, portsOf("eu-a"));
    const stranger = await one.createKey();
    for (const method of ["GET", "DELETE"]) {
      const theirs = await one.call(`/api/v4/measurements?id=${id}`, { key: stranger, method });
      const absent = await one.call("/api/v4/measurements?id=msr_absent", { key: stranger, method });
      expect(theirs.status).toBe(404);
      expect(theirs.body.error).toEqual(absent.body.error);
    }
    expect((await pollMeasurement(one, key, id)).status).not.toBe("cancelled");
  });
});

describe("the data of an account", () => {
  it("is exported and erased with it", async () => {
    answering(await attach("eu-a"));
    const made = await one.operate("POST", "/api/admin/keys", { plan: "pro" });
    const { account_id: account, key: theirs } = made.body.data as { account_id: number; key: string };
    const id = await createMeasurement(one, theirs, portsOf("eu-a", { share: true }));
    await expect.poll(async () => (await pollMeasurement(one, theirs, id)).status, SOON).toBe("completed");
    const { share_id: shareId } = await pollMeasurement(one, theirs, id);
    expect((await one.call(`/s/${shareId}`)).status).toBe(200);
    const { body } = await one.operate("DELETE", `/api/admin/accounts?id=${account}&export=1`);
    const { measurements } = body.data["export"] as { measurements: unknown[] };
    expect(measurements).toMatchObject([{ id, data: { locations: [{ status: "ok" }] } }]);
    expect((await one.call(`/s/${shareId}`)).status).toBe(404);
  });

  it("the operator sees the queue", async () => {
    const { body } = await one.operate("GET", "/api/admin/queue");
    expect(body.data["queues"]).toContainEqual(expect.objectContaining({ queue: "measurement", state: "completed" }));
  });
});
