import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { failed, type Outcome } from "#shared/contracts/outcome.ts";
import { judgeDomain } from "#control-plane/watching/expiry/read/domain-check.ts";
import {
  DAY_MS,
  MINUTE_MS,
  openExpiryWorld,
  registration,
  fullResult,
  type ExpiryWorld,
  type Replica,
} from "#test/control-plane/watching/expiry/world.ts";
import { createTestDatabase } from "#test/support/postgres.ts";

const START = new Date("2026-01-01T00:00:00Z");
const HOUR_MS = 60 * MINUTE_MS;
const GOOD = fullResult(registration({ expires: "2028-01-01T00:00:00Z" }));
const LIMITED = failed("response", "service", "rate_limited", "asked too often");
const HUNG = failed("response", "target", "timeout", "no answer by the deadline");

let world: ExpiryWorld;
let replicas: readonly Replica[];
beforeEach(async () => {
  world = await openExpiryWorld(await createTestDatabase(), START);
  replicas = [world.openReplica(), world.openReplica()];
  answer({});
});
afterEach(() => world?.close());

const round = () => Promise.all(replicas.map((replica) => replica.round()));
const topLevelOf = (domain: string) => domain.slice(domain.lastIndexOf(".") + 1);
const domainsOf = (topLevel: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ url: `d${index}.${topLevel}`, checkType: "domain" as const }));
/** Answers of registries by top-level domain; the others are good. */
const answer = (how: Readonly<Record<string, Outcome<unknown>>>) =>
  world.answer((_tool, { domain }) => how[topLevelOf(String(domain))] ?? GOOD);
const questions = (topLevel: string) => world.asked.filter((one) => one.endsWith(`.${topLevel}`));

interface Pause {
  readonly refusals: number;
  readonly until: Date | null;
}

async function pauseOf(registry: string): Promise<Pause | undefined> {
  const [row] = await world.sql<Pause[]>`
    select refusals, paused_until as until from expiry_registries where registry = ${registry}`;
  return row;
}

async function pass(ms: number, steps: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    world.advance(ms);
    await round();
  }
}

describe("a registry", () => {
  it("gets one question at a time over all replicas, while others are asked", async () => {
    const now = new Map<string, number>();
    const most = new Map<string, number>();
    const several = Promise.withResolvers<void>();
    world.answer(async (_tool, { domain }) => {
      const registry = topLevelOf(String(domain));
      now.set(registry, (now.get(registry) ?? 0) + 1);
      most.set(registry, Math.max(most.get(registry) ?? 0, now.get(registry) ?? 0));
      most.set(
        "all",
        Math.max(
          most.get("all") ?? 0,
          Array.from(now.values()).reduce((sum, count) => sum + count, 0),
        ),
      );
      // No answer before two are asked at the same time, and none before a second question could have come.
      if ((most.get("all") ?? 0) > 1) several.resolve();
      await several.promise;
      await sleep(10);
      now.set(registry, (now.get(registry) ?? 0) - 1);
      return GOOD;
    });
    const topLevels = ["com", "net", "org", "io"];
    await world.addMonitors(topLevels.flatMap((topLevel) => domainsOf(topLevel, 6)));
    await round();
    expect(world.asked).toHaveLength(24);
    for (const topLevel of topLevels) expect(most.get(topLevel)).toBe(1);
    expect(most.get("all")).toBeGreaterThan(1);
  });

  it("that hangs holds up its own domains only", async () => {
    const hanging: ((outcome: Outcome<unknown>) => void)[] = [];
    world.answer((_tool, { domain }) =>
      topLevelOf(String(domain)) === "com" ? new Promise((resolve) => hanging.push(resolve)) : GOOD,
    );
    await world.addMonitors([...domainsOf("com", 5), ...domainsOf("org", 5), ...domainsOf("net", 5)]);
    const running = round();
    await expect.poll(() => questions("org").length + questions("net").length).toBe(10);
    // What becomes due meanwhile is asked, too.
    await world.addMonitors([{ url: "later.info", checkType: "domain" }]);
    const [one] = replicas;
    const second = one?.round();
    await expect.poll(() => questions("info").length).toBe(1);
    expect(questions("com")).toHaveLength(1);
    world.answer(() => GOOD);
    for (const resolve of hanging) resolve(GOOD);
    await Promise.all([running, second]);
    expect(questions("com")).toHaveLength(5);
  });

  it("is left to others for as long as a question lasts if its replica dies", async () => {
    await world.addMonitors(domainsOf("com", 2));
    await round();
    const soon = new Date(START.getTime() + MINUTE_MS);
    await world.sql`update expiry_registries set lease = 7, lease_ends_at = ${soon}`;
    await world.sql`update expiry_targets set next_at = ${START}, look_at = ${START}`;
    await round();
    expect(questions("com")).toHaveLength(2);
    world.advance(2 * MINUTE_MS);
    await round();
    expect(questions("com")).toHaveLength(4);
  });
});

describe("a registry that refuses a question or does not answer", () => {
  it.each([
    ["limits questions", LIMITED],
    ["does not answer in time", HUNG],
    ["refuses the connection", failed("connect", "service", "refused", "no service listens on the port")],
  ])("because it %s is paused, and others are asked", async (_what, outcome) => {
    answer({ com: outcome });
    const ids = await world.addMonitors([...domainsOf("com", 4), ...domainsOf("org", 4)]);
    await round();
    expect(questions("com")).toHaveLength(1);
    expect(questions("org")).toHaveLength(4);
    const pause = await pauseOf("com");
    expect(pause?.refusals).toBe(1);
    expect((pause?.until?.getTime() ?? 0) - START.getTime()).toBeGreaterThanOrEqual(MINUTE_MS);
    expect((pause?.until?.getTime() ?? 0) - START.getTime()).toBeLessThanOrEqual(1.2 * MINUTE_MS);
    const counts = await Promise.all(replicas.map((one) => one.count("vantage_expiry_registry_pauses_total")));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1);
    // A pause says nothing about the domains.
    for (const id of ids.slice(0, 4)) {
      expect(await judgeDomain(world.sql, id, world.now())).toMatchObject({
        verdict: "unknown",
        fault: { source: "service", message: expect.stringContaining("it gets no question until 2026-01-01T00:01:") },
      });
      expect(await world.types(id)).toEqual([]);
    }
  });

  it("is paused for twice as long each time, over restarts and replicas, and not any more once it answers", async () => {
    answer({ com: LIMITED });
    await world.addMonitors(domainsOf("com", 50));
    await round();
    const minutes: number[] = [];
    for (let time = 1; time <= 12; time += 1) {
      const asked = questions("com").length;
      expect(asked).toBe(time);
      const { refusals, until } = (await pauseOf("com")) ?? { refusals: 0, until: null };
      expect(refusals).toBe(time);
      const ms = (until?.getTime() ?? 0) - world.now().getTime();
      minutes.push(ms / MINUTE_MS);
      if (time === 5) {
        for (const replica of replicas) await replica.stop();
        replicas = [world.openReplica(), world.openReplica()];
      }
      await pass(ms - 1, 1);
      expect(questions("com")).toHaveLength(asked);
      await pass(1, 1);
    }
    for (const [index, length] of minutes.entries()) {
      expect(length).toBeGreaterThanOrEqual(Math.min(360, 2 ** index));
      expect(length).toBeLessThanOrEqual(Math.min(360, 2 ** index) * 1.2);
    }
    answer({});
    await pass(HOUR_MS, 8);
    expect(await pauseOf("com")).toEqual({ refusals: 0, until: null });
    expect(new Set(questions("com")).size).toBe(50);
  });

  it("is not blamed for a failure of the probe or the resolver", async () => {
    for (const source of ["probe", "resolver"] as const) {
      answer({
        com: failed("dns", source, "timeout", "no answer"),
        net: failed("dns", source, "timeout", "no answer"),
      });
      await world.addMonitors(domainsOf(source === "probe" ? "com" : "net", 3));
      await round();
    }
    expect(world.asked).toHaveLength(6);
    expect(await pauseOf("com")).toEqual({ refusals: 0, until: null });
    expect(await pauseOf("net")).toEqual({ refusals: 0, until: null });
  });

  it("delays the notices about its domains by an hour at most: its last answers count", async () => {
    const expires = new Date(START.getTime() + 31 * DAY_MS).toISOString();
    world.answer(() => fullResult(registration({ expires })));
    const ids = await world.addMonitors(domainsOf("com", 20));
    await round();
    world.answer(() => LIMITED);
    await pass(HOUR_MS, 26);
    const types = await Promise.all(ids.map((id) => world.types(id)));
    expect(types).toEqual(ids.map(() => ["domain.expiring 30"]));
    // Few of the domains were asked about meanwhile.
    expect(questions("com").length).toBeLessThan(20 + 15);
  });
});

describe("a service that answers for several top-level domains", () => {
  const of = (server: string) =>
    fullResult({ ...registration({ expires: "2028-01-01T00:00:00Z" }), rdap_server: server });
  const registryOf = async (target: string) => {
    const [row] = await world.sql<{ registry: string }[]>`
      select registry from expiry_targets where target = ${target}`;
    return row?.registry;
  };

  it("is one registry as soon as its answers say so, and its pause holds for all of them", async () => {
    world.answer(() => of("https://rdap.shared.example/v1/"));
    await world.addMonitors([...domainsOf("app", 2), ...domainsOf("dev", 2)]);
    await round();
    for (const target of ["d0.app", "d1.app", "d0.dev", "d1.dev"]) {
      expect(await registryOf(target)).toBe("rdap.shared.example");
    }
    world.answer(() => LIMITED);
    await world.sql`update expiry_targets set next_at = ${START}, look_at = ${START}`;
    const before = world.asked.length;
    await round();
    expect(world.asked.length - before).toBe(1);
    expect(await pauseOf("rdap.shared.example")).toMatchObject({ refusals: 1 });
    // A new domain of one of them belongs to it from the beginning.
    await world.addMonitors([{ url: "new.dev", checkType: "domain" }]);
    await round();
    expect(world.asked.length - before).toBe(1);
    expect(await registryOf("new.dev")).toBe("rdap.shared.example");
  });

  it("stays the registry when WHOIS answers in its place, and is replaced by another RDAP service", async () => {
    world.answer(() => of("https://rdap.one.example/"));
    await world.addMonitors([{ url: "d0.app", checkType: "domain" }]);
    await round();
    const whois = registration({ source: "whois", whois_server: "whois.other.example", rdap_server: null });
    for (const [result, expected] of [
      [fullResult(whois), "rdap.one.example"],
      [of("https://rdap.two.example/"), "rdap.two.example"],
    ] as const) {
      world.answer(() => result);
      await pass(DAY_MS, 2);
      expect(await registryOf("d0.app")).toBe(expected);
    }
  });
});
