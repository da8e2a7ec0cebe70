import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { keepAttached, type Attachments } from "#probe-agent/attachment/attachments.ts";
import type { Credential } from "#probe-agent/membership/identity.ts";
import { createJobPool } from "#probe-agent/attachment/job-pool.ts";
import { createAgentMetrics } from "#probe-agent/metrics/agent-metrics.ts";
import { issue, type Issued } from "#test/servers/pki.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { helloOf } from "#test/support/scripted-agent.ts";
import { startScriptedHub, type ScriptedHub } from "#test/support/scripted-hub.ts";

let authority: Issued;
let hubs: ScriptedHub[];
let attachments: Attachments | null;

beforeEach(async () => {
  authority = await issue({ ca: true, subject: "CN=authority" });
  hubs = [];
  attachments = null;
});
afterEach(async () => {
  await attachments?.stop();
  for (const started of hubs) started.stop();
});

async function hub(replicaId: string, minor = 1, root = authority): Promise<ScriptedHub> {
  const started = await startScriptedHub(replicaId, { minor, authority: root });
  hubs.push(started);
  return started;
}

async function attachTo(addresses: readonly string[], unreached: string[] = []): Promise<Attachments> {
  const own = await issue({ issuer: authority, subject: "CN=eu-west-000000000001" });
  const credential: Credential = { ca: authority.pem, certificate: own.pem, key: own.keyPem };
  const metrics = createAgentMetrics(new Registry());
  const log = pino({ level: "silent" });
  const pool = createJobPool({
    maxJobs: 10,
    clock: systemClock,
    createNet: () => {
      throw new Error("no job is sent");
    },
    correctSource: (failure) => Promise.resolve(failure),
    loop: { start: () => () => 0 },
    onLate: () => {},
    metrics,
    log,
    onChange: () => {},
  });
  attachments = keepAttached({
    configured: addresses,
    credential: () => credential,
    hello: () => helloOf("eu-west"),
    pool,
    clock: systemClock,
    random: systemRandom,
    metrics,
    log,
    logLines: () => [],
    loopLagMs: () => 0,
    onWelcome: () => {},
    onRejected: () => {},
    onUnreached: (detail) => unreached.push(detail),
    onDrain: () => {},
  });
  return attachments;
}

describe("replicas of protocol 1.0", () => {
  it("each get a stream at the configured address, and equal shares of the pool", async () => {
    const [one, two] = [await hub("one", 0), await hub("two", 0)];
    const attached = await attachTo([one.address, two.address]);
    await expect.poll(() => attached.streams().standing).toBe(2);
    await expect.poll(() => [one.credits(), two.credits()]).toEqual([5, 5]);
    // They use the credits of the hello as the maximum for the whole stream.
    expect(two.hellos[0]?.credits).toBe(10);
  });
});

describe("replicas of this protocol", () => {
  it("get a small floor first, and the rest if jobs wait", async () => {
    const [one, two] = [await hub("one"), await hub("two")];
    const attached = await attachTo([one.address, two.address]);
    await expect.poll(() => attached.streams().standing).toBe(2);
    expect([one.hellos[0]?.credits, two.hellos[0]?.credits].toSorted((a = 0, b = 0) => a - b)).toEqual([1, 10]);
    expect([one.hellos[0]?.maxJobs, two.hellos[0]?.maxJobs]).toEqual([10, 10]);
    one.setWaiting(50);
    await expect.poll(() => [one.credits(), two.credits()]).toEqual([9, 1]);
    one.setWaiting(0);
    await expect.poll(() => [one.credits(), two.credits()]).toEqual([5, 5]);
  });

  it("get the credits of one that fell silent", async () => {
    const [one, two] = [await hub("one"), await hub("two")];
    const attached = await attachTo([one.address, two.address]);
    await expect.poll(() => attached.streams().standing).toBe(2);
    two.stop();
    await expect.poll(() => one.credits()).toBe(10);
  });

  it("are served although their list has one that cannot be reached, which counts as missing", async () => {
    const one = await hub("one");
    const attached = await attachTo([one.address]);
    await expect.poll(() => attached.streams().standing).toBe(1);
    const gone = { id: "gone", address: "localhost:1" };
    one.say({ body: { $case: "replicas", value: { replicas: [{ id: "one", address: one.address }, gone] } } });
    await expect.poll(() => attached.replicas()).toEqual({ reached: 1, missing: 1 });
    expect(attached.attachedAddresses()).toEqual([one.address]);
  });
});

it("get no hello if they have another authority, whatever name their certificate has", async () => {
  const stranger = await hub("stranger", 1, await issue({ ca: true, subject: "CN=authority" }));
  const unreached: string[] = [];
  const attached = await attachTo([stranger.address], unreached);
  await expect.poll(() => unreached.join(" ")).toMatch(/certificate/);
  expect(attached.streams().standing).toBe(0);
  expect(stranger.hellos).toEqual([]);
});
