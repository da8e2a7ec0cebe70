import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { clientCredentials } from "#test/support/dial.ts";
import { enrol, type AgentIdentity } from "#test/support/enrol.ts";
import {
  createMeasurement,
  keepAlive,
  pollMeasurement,
  portsOf,
  portsOutcome,
  progressOf,
  readStream,
} from "#test/support/measurements.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";
import { helloOf, startScriptedAgent, type ScriptedAgent } from "#test/support/scripted-agent.ts";

let database: TestDatabase;
const planes: ControlPlaneProcess[] = [];
let agents: ScriptedAgent[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});

afterEach(async () => {
  for (const agent of agents) agent.cut();
  agents = [];
  await Promise.all(planes.splice(0).map((plane) => plane.end("SIGKILL")));
});

afterAll(() => database?.drop());

async function start(): Promise<ControlPlaneProcess> {
  const plane = await startControlPlaneProcess(database.url);
  planes.push(plane);
  return plane;
}

async function attach(plane: ControlPlaneProcess, region: string, own: AgentIdentity): Promise<ScriptedAgent> {
  const hello = helloOf(region, { agentId: own.agentId });
  const agent = await startScriptedAgent(plane.grpcPort, hello, clientCredentials(own.caCertificate, own));
  agents.push(agent);
  keepAlive(agent);
  return agent;
}

/** Starts a measurement of two locations: `quick` has answered, `slow` has sent progress and still runs. */
async function halfDone(plane: ControlPlaneProcess) {
  const key = await plane.createKey();
  const [quickOwn, slowOwn] = await Promise.all([enrol(plane, "quick"), enrol(plane, "slow")]);
  const quick = await attach(plane, "quick", quickOwn);
  const slow = await attach(plane, "slow", slowOwn);
  const id = await createMeasurement(plane, key, portsOf("quick,slow"));
  const [quickJob, slowJob] = await Promise.all([quick.nextJob(), slow.nextJob()]);
  slow.accept(slowJob);
  slow.send(progressOf(slowJob, { n: 1 }));
  quick.accept(quickJob);
  quick.answer(quickJob, portsOutcome());
  const seen = await readStream(plane.url, key, id, { until: ({ event }) => event === "result" });
  await expect.poll(async () => (await pollMeasurement(plane, key, id)).completed).toBe(1);
  return { key, id, seen, quickOwn, slowOwn };
}

/** Runs the rest on another replica and answers it. Returns the jobs that arrived. */
async function finishOn(plane: ControlPlaneProcess, { quickOwn, slowOwn }: Awaited<ReturnType<typeof halfDone>>) {
  const quick = await attach(plane, "quick", quickOwn);
  const slow = await attach(plane, "slow", slowOwn);
  const job = await slow.nextJob();
  slow.accept(job);
  slow.answer(job, portsOutcome());
  return { quick, slow };
}

it("continues after a kill -9: another replica runs what has no result once, and the stream continues", async () => {
  const first = await start();
  const begun = await halfDone(first);
  await first.end("SIGKILL");
  const second = await start();
  const { quick, slow } = await finishOn(second, begun);
  const { key, id, seen } = begun;
  const rest = await readStream(second.url, key, id, { after: seen.at(-1)?.id ?? 0 });
  expect((await pollMeasurement(second, key, id)).data.locations.map(({ location }) => location.region)).toEqual([
    "quick",
    "slow",
  ]);
  expect([quick.jobs.length, slow.jobs.length]).toEqual([0, 1]);

  const all = await readStream(second.url, key, id);
  expect(all.slice(0, seen.length)).toEqual(seen);
  expect(all.slice(seen.length).map((event) => event.id)).toEqual(rest.map((event) => event.id));
  const results = all.filter(({ event }) => event === "result");
  expect(results.map(({ data }) => (data["location"] as { region: string }).region)).toEqual(["quick", "slow"]);
  const restarted = all.filter(({ event }) => event === "restart").map(({ data }) => data);
  expect(restarted).toMatchObject([{ location: { region: "slow" }, attempt: 2, reason: "replica_lost" }]);
  expect(results.at(-1)?.data).toMatchObject({ attempt: 2 });
  expect(all.at(-1)).toMatchObject({ event: "done", data: { data: { status: "completed", total: 2, completed: 2 } } });
});

it("is handed over when its replica stops", async () => {
  const [first, second] = await Promise.all([start(), start()]);
  const begun = await halfDone(first);
  // Either replica may have taken the job; only agents of the first one know both.
  const [code] = await Promise.all([first.end("SIGTERM"), finishOn(second, begun)]);
  expect(code).toBe(0);
  const { key, id } = begun;
  await expect.poll(async () => (await pollMeasurement(second, key, id)).status, { interval: 300 }).toBe("completed");
  const results = (await readStream(second.url, key, id)).filter(({ event }) => event === "result");
  expect(results).toHaveLength(2);
});
