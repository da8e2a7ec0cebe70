import { describe, expect, it } from "vitest";
import { failed } from "#shared/contracts/outcome.ts";
import { judgeDomain } from "#control-plane/watching/expiry/read/domain-check.ts";
import { readExpiryDetails } from "#control-plane/watching/expiry/read/expiry-details.ts";
import {
  DAY_MS,
  MINUTE_MS,
  openExpiryWorld,
  registration,
  fullResult,
  type Replica,
} from "#test/control-plane/watching/expiry/world.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const START = new Date("2026-01-01T00:00:00Z");
const day = (days: number) => new Date(START.getTime() + days * DAY_MS).toISOString();
const HOUR_MS = 60 * MINUTE_MS;
const LIMITED = failed("response", "service", "rate_limited", "asked too often");

const world = await stopAfterAll(openExpiryWorld(await createTestDatabase(), START));
let replicas: readonly Replica[] = [world.openReplica(), world.openReplica()];

async function pass(hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour += 1) {
    world.advance(HOUR_MS);
    await Promise.all(replicas.map((replica) => replica.round()));
  }
}

describe("the registration of a domain", () => {
  let answer: ReturnType<typeof fullResult> = fullResult(registration({ expires: day(20) }));
  let id = 0;
  const verdict = () => judgeDomain(world.sql, id, world.now());

  it("is asked for once, for a domain monitor and for pages below it that watch their domain", async () => {
    world.answer((tool) => (tool === "monitor-domain" ? answer : failed("connect", "target", "refused", "refused")));
    [id = 0] = await world.addMonitors([{ url: "shop.example", checkType: "domain" }]);
    expect(await verdict()).toMatchObject({ verdict: "unknown", fault: { source: "service" } });
    await world.addMonitors(
      [
        { url: "http://www.shop.example/", checkType: "http" },
        { url: "https://a.b.shop.example/", checkType: "keyword" },
      ],
      { watch_domain: true },
    );
    await world.addMonitors([{ url: "http://other.example/", checkType: "http" }]);
    await pass(1);
    expect(world.asked.filter((one) => one.startsWith("monitor-domain"))).toEqual(["monitor-domain shop.example"]);
    expect(await verdict()).toEqual({ verdict: "up", fault: null });
    const facts = await readExpiryDetails(world.sql, [id], world.now());
    expect(facts.get(id)?.domain).toMatchObject({ name: "shop.example", days_left: 19, registrar: "Registrar" });
    // 20 days are left: of the thresholds that were reached, only the tightest counts.
    expect(await world.types(id)).toEqual(["domain.expiring 30"]);
  });

  it("keeps its last answer while the registry limits questions, which are few then", async () => {
    answer = LIMITED;
    const before = world.asked.length;
    await pass(5 * 24);
    const questions = world.asked.slice(before).filter((one) => one.startsWith("monitor-domain"));
    expect(questions.length).toBeLessThanOrEqual(12);
    expect(await verdict()).toEqual({ verdict: "up", fault: null });
    expect((await readExpiryDetails(world.sql, [id], world.now())).get(id)?.domain?.days_left).toBe(14);
  });

  it("is noticed by the last answer when no other comes, and is unknown after a week without one", async () => {
    await pass(4 * 24);
    expect(await world.types(id)).toEqual(["domain.expiring 30", "domain.expiring 14"]);
    expect(await verdict()).toMatchObject({ verdict: "unknown", fault: { reason: "registration_data_old" } });
  });

  it("that is renewed just before its end is not noticed as expired: the registry is asked before", async () => {
    answer = fullResult(registration({ expires: day(20) }));
    await pass(9 * 24);
    expect(await world.types(id)).toEqual(["domain.expiring 30", "domain.expiring 14", "domain.expiring 7"]);
    answer = fullResult(registration({ expires: day(385) }));
    await pass(5 * 24);
    expect(await world.types(id)).toHaveLength(3);
    expect(await verdict()).toEqual({ verdict: "up", fault: null });
  });

  it("that one answer denies is asked for again before it counts as lapsed", async () => {
    let count = 0;
    world.answer((tool) => {
      if (tool !== "monitor-domain") return LIMITED;
      count += 1;
      return fullResult(registration(count === 1 ? { registered: false } : { expires: day(385) }));
    });
    await pass(2 * 24);
    expect(count).toBeGreaterThanOrEqual(2);
    expect(await world.types(id)).toHaveLength(3);
  });

  it("that lapses is noticed once, over both replicas, restarts and all words for it", async () => {
    let status = ["redemptionPeriod"];
    let registered = true;
    world.answer((tool) =>
      tool === "monitor-domain" ? fullResult(registration({ expires: day(385), status, registered })) : LIMITED,
    );
    await pass(2 * 24);
    expect((await world.types(id)).slice(3)).toEqual(["domain.expired"]);
    expect((await world.events(id)).at(-1)?.data).toMatchObject({
      domain: { name: "shop.example", status: ["redemptionPeriod"] },
      cause: { code: "redemption_period" },
      threshold: null,
    });
    expect(await verdict()).toMatchObject({
      verdict: "down",
      fault: { reason: "redemption_period", source: "target" },
    });
    for (const replica of replicas) await replica.stop();
    replicas = [world.openReplica(), world.openReplica()];
    status = ["pendingDelete"];
    await pass(2 * 24);
    registered = false;
    await pass(3 * 24);
    expect((await world.types(id)).slice(3)).toEqual(["domain.expired"]);
    expect(await verdict()).toMatchObject({ verdict: "down", fault: { reason: "not_registered" } });
  });

  it("that is on hold is down, and has not lapsed", async () => {
    world.answer((tool) =>
      tool === "monitor-domain" ? fullResult(registration({ expires: day(750), status: ["client hold"] })) : LIMITED,
    );
    await pass(2 * 24);
    expect((await world.types(id)).slice(3)).toEqual(["domain.expired"]);
    expect(await verdict()).toMatchObject({ verdict: "down", fault: { reason: "on_hold" } });
  });
});

it("a sweep whose replica dies before its commit is repeated, and what was committed is not", async () => {
  const [one] = await world.addMonitors([{ url: "new.example", checkType: "domain" }]);
  world.answer((tool) =>
    tool === "monitor-domain"
      ? fullResult(registration({ expires: new Date(world.now().getTime() + 5 * DAY_MS).toISOString() }))
      : LIMITED,
  );
  // The claim of a replica that died: another one takes over when it ends.
  await replicas[0]?.round();
  await world.sql`
    update expiry_targets set lease = 7, lease_ends_at = ${new Date(world.now().getTime() + MINUTE_MS)},
      next_at = ${world.now()}, look_at = ${world.now()}
    where target = 'new.example'`;
  const before = world.asked.length;
  await replicas[0]?.round();
  expect(world.asked.length).toBe(before);
  world.advance(2 * MINUTE_MS);
  await Promise.all(replicas.map((replica) => replica.round()));
  expect(world.asked.slice(before).filter((asked) => asked.endsWith("new.example"))).toHaveLength(1);
  expect(await world.types(one ?? 0)).toEqual(["domain.expiring 7"]);
});

it("a registration whose registry states no end says so, and that presence and status are watched", async () => {
  const [other = 0] = await world.addMonitors([{ url: "shop.de", checkType: "domain" }]);
  world.answer(() => fullResult(registration({ expires: null })));
  await pass(1);
  const { domain, advisory } = (await readExpiryDetails(world.sql, [other], world.now())).get(other) ?? {};
  expect(domain).toMatchObject({ name: "shop.de", expires_at: null, end_published: false, days_left: null });
  const message = "The registry of .de publishes no end: only presence and status are watched.";
  expect(advisory).toMatchObject({ message, locations: [] });
});
