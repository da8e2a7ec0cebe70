import { createHash } from "node:crypto";
import postgres from "postgres";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AbsentAgent } from "#control-plane/checks/dispatch/presence.ts";
import { startTcpProxy } from "#test/servers/tcp-proxy.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { agentOf, startReplica, type TestReplica } from "#test/control-plane/checks/probes/presence/replica.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

let replicas: TestReplica[] = [];

const database = await stopAfterAll(createTestDatabase());
const sql = postgres(database.url, { max: 1, onnotice: () => {} });
const address = new URL(database.url);
const proxy = await stopAfterAll(startTcpProxy(Number(address.port)));
address.hostname = "127.0.0.1";
address.port = String(proxy.port);
/** The database through the proxy. */
const proxied = address.href;

beforeEach(async () => {
  await sql`truncate probes, replicas, attachments`;
});

afterEach(async () => {
  await proxy.restore();
  await Promise.all(replicas.map((replica) => replica.stop()));
  replicas = [];
});

afterAll(async () => {
  await sql.end();
});

async function start(id: string, url = database.url, options: Parameters<typeof startReplica>[2] = {}) {
  const replica = await startReplica(id, url, options);
  replicas.push(replica);
  return replica;
}

async function enrol(id: string, over: Record<string, unknown> = {}): Promise<void> {
  const now = new Date();
  const row = {
    id,
    region: "eu-west",
    certificate_serial: "1",
    certificate_expires_at: now,
    enrolled_at: now,
    enrolled_by: createHash("sha256").update(id).digest(),
    ...over,
  };
  await sql`insert into probes ${sql(row)}`;
}

const absentIn = (replica: TestReplica, id: string): AbsentAgent | undefined =>
  replica.absent().find(({ agent }) => agent.id === id);
const holders = (replica: TestReplica, id: string) => absentIn(replica, id)?.replicas;
const names = (replica: TestReplica) => replica.replicas().map(({ id }) => id);

describe("replicas of one database", () => {
  it("know each other and their addresses from the start, and notice one that stops", async () => {
    const one = await start("one", database.url, { address: "one.example:50051" });
    let changes = 0;
    one.onReplicas(() => (changes += 1));
    const two = await start("two");
    expect(two.replicas()).toEqual([
      { id: "one", address: "one.example:50051" },
      { id: "two", address: "" },
    ]);
    await expect.poll(() => names(one)).toEqual(["one", "two"]);
    expect(await one.metric("vantage_replicas")).toBe(2);
    await replicas.pop()?.stop();
    await expect.poll(() => names(one)).toEqual(["one"]);
    expect(changes).toBe(2);
    expect(await sql`select id from replicas`).toEqual([{ id: "one" }]);
  });

  it("see which agents are attached to which replica, drain, have left or have never attached", async () => {
    await enrol("agent-one", { account_id: null });
    await enrol("agent-new", { enabled: false });
    await enrol("agent-out", { revoked_at: new Date() });
    const [one, two] = [await start("one"), await start("two")];
    const agent = agentOf("agent-one", "eu-west", {
      capabilities: ["icmp4"],
      location: { region: "eu-west", city: "Dublin", country: "IE", asn: 64_500, latitude: 53.3, tags: ["aws"] },
    });
    one.changed(agent, "online");
    await expect.poll(() => holders(two, "agent-one")).toEqual(["one"]);
    expect(absentIn(two, "agent-one")).toMatchObject({
      agent: { place: agent.place, capabilities: agent.capabilities, allow: agent.allow },
      enabled: true,
      draining: false,
      accountId: null,
    });
    expect(absentIn(one, "agent-one")).toBeUndefined();
    expect(absentIn(two, "agent-new")).toMatchObject({ enabled: false, replicas: [], agent: { version: "" } });
    expect(absentIn(two, "agent-out")).toBeUndefined();

    one.changed(agent, "draining");
    await expect.poll(() => absentIn(two, "agent-one")?.draining).toBe(true);
    one.changed(agent, "gone");
    await expect.poll(() => holders(two, "agent-one")).toEqual([]);
    // Offline, but its location is known.
    expect(absentIn(two, "agent-one")?.agent.place).toEqual(agent.place);
  });

  it("learn of 300 agents that attach at the same time with a few statements", async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `agent-${index}-of-many`);
    await Promise.all(ids.map((id) => enrol(id)));
    const [one, two] = [await start("one"), await start("two")];
    const before = one.statements();
    for (const id of ids) {
      for (const replica of [one, two]) replica.changed(agentOf(id), "online");
      await Promise.resolve();
    }
    const attached = async () => (await sql<{ n: number }[]>`select count(*)::int as n from attachments`)[0]?.n;
    await expect.poll(attached).toBe(600);
    // One for the first, one for the others, and those that run every second or two. One for each would be 300.
    expect(one.statements() - before).toBeLessThan(100);
    expect(await one.metric("vantage_presence_failures_total")).toBe(0);
    expect(await two.metric("vantage_presence_failures_total")).toBe(0);
  });

  it("read all agents again after a change, not every two seconds", async () => {
    await Promise.all(["agent-one", "agent-two"].map((id) => enrol(id)));
    const [one, two] = [await start("one"), await start("two", database.url, { deaf: true })];
    one.changed(agentOf("agent-one"), "online");
    await expect.poll(() => holders(two, "agent-one")).toEqual(["one"]);
    const before = two.statements();
    // A column that no replica changes without saying so.
    await sql`update probes set hello = jsonb_set(hello, '{location,city}', '"Elsewhere"') where id = 'agent-one'`;
    const city = () => absentIn(two, "agent-one")?.agent.place.city;
    // Two signs of life and one read in two seconds.
    await expect.poll(() => two.statements() - before).toBeGreaterThan(6);
    expect(city()).toBeNull();
    one.changed(agentOf("agent-two"), "online");
    await expect.poll(() => holders(two, "agent-two")).toEqual(["one"]);
    expect(city()).toBe("Elsewhere");
  });

  it("need no notification: the next read finds a missed change", async () => {
    await enrol("agent-one");
    const [one, two] = [await start("one"), await start("two", database.url, { deaf: true })];
    one.changed(agentOf("agent-one"), "online");
    await expect.poll(() => holders(two, "agent-one")).toEqual(["one"]);
  });
});

describe("a replica that dies", () => {
  it("is removed with its agents and its row within seconds", async () => {
    await enrol("agent-one");
    const [one, two] = [await start("one"), await start("two", proxied)];
    two.changed(agentOf("agent-one"), "online");
    await expect.poll(() => holders(one, "agent-one")).toEqual(["two"]);
    await proxy.cut();
    await expect.poll(() => holders(one, "agent-one")).toEqual([]);
    await expect.poll(() => names(one)).toEqual(["one"]);
    await expect.poll(() => sql`select from attachments`).toHaveLength(0);

    // Seen from that replica: nothing is thrown, its snapshot stays, and it registers itself again.
    expect(names(two)).toEqual(["one", "two"]);
    expect(await two.metric("vantage_presence_failures_total")).toBeGreaterThan(0);
    expect(await two.metric("vantage_presence_age_seconds")).toBeGreaterThan(1);
    await proxy.restore();
    await expect.poll(() => holders(one, "agent-one")).toEqual(["two"]);
    await expect.poll(() => names(two)).toEqual(["one", "two"]);
  });

  it("starts while the database is away, and registers itself when it is back", async () => {
    await enrol("agent-one");
    await proxy.cut();
    const two = await start("two", proxied);
    expect(names(two)).toEqual(["two"]);
    two.changed(agentOf("agent-one"), "online");
    await proxy.restore();
    const one = await start("one");
    await expect.poll(() => holders(one, "agent-one")).toEqual(["two"]);
  });
});

describe("the hello of an agent", () => {
  it("never prevents the write of other agents, regardless of its content", async () => {
    await enrol("agent-odd");
    await enrol("agent-one");
    const [one, two] = [await start("one"), await start("two")];
    const city = `a\0${"x".repeat(97)}\u{1f600}`;
    const location = { region: "eu-west", city, country: "", asn: 0, tags: [] };
    one.changed(agentOf("agent-odd", "eu-west", { location, version: "\ud800" }), "online");
    one.changed(agentOf("agent-one"), "online");
    await expect.poll(() => holders(two, "agent-one")).toEqual(["one"]);
    expect(absentIn(two, "agent-odd")?.agent.place.city).toBe(`a${"x".repeat(97)}\ufffd`);
  });

  it("is validated when read: for an invalid one only the agent's region is known", async () => {
    await enrol("agent-one", { hello: JSON.stringify({ location: { tags: [1] } }) });
    await enrol("agent-two", { hello: JSON.stringify("x"), region: "us-east" });
    const one = await start("one");
    expect(absentIn(one, "agent-one")?.agent.place).toMatchObject({ region: "eu-west", city: null, tags: [] });
    expect(absentIn(one, "agent-two")?.agent.place).toMatchObject({ region: "us-east" });
  });

  it("does not change the region of the enrolment", async () => {
    await enrol("agent-one", { region: "us-east" });
    const [one, two] = [await start("one"), await start("two")];
    one.changed(agentOf("agent-one", "eu-west"), "online");
    await expect.poll(() => holders(two, "agent-one")).toEqual(["one"]);
    expect(absentIn(two, "agent-one")?.agent.place.region).toBe("us-east");
  });

  it("of an agent that is not enrolled is not stored, and does no harm", async () => {
    const one = await start("one");
    one.changed(agentOf("agent-unknown"), "online");
    await expect.poll(() => sql`select probe_id from attachments`).toEqual([{ probe_id: "agent-unknown" }]);
    expect(await one.metric("vantage_presence_failures_total")).toBe(0);
  });
});
