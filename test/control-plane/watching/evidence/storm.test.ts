import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { claimRound, storeGathered } from "#control-plane/watching/evidence/claims/claims.ts";
import { readEvidence } from "#control-plane/watching/evidence/requests.ts";
import { countStatements } from "#test/control-plane/watching/checking/watch/changes-world.ts";
import { openEvidenceWorld } from "#test/control-plane/watching/evidence/world.ts";

/** Generous: a thousand rows on a busy machine. */
const OUTAGES = 1_000;
/** Jobs of one gathering: check, trace, and DNS of host and zone. */
const MOST_JOBS = 4;
/** Longer than a claim lasts. */
const LEASE_MS = 25_000;

let world: Awaited<ReturnType<typeof openEvidenceWorld>>;

beforeEach(async () => {
  world = await openEvidenceWorld();
});
afterEach(() => world?.close());

interface Shown {
  readonly gathered_for_incident: number;
}

const shown = async (incidentId: number) => (await readEvidence(world.sql, incidentId)) as Shown | null;

const linesOf = (incidentId: number) => world.sql<{ text: string }[]>`
  select text from incident_entries where incident_id = ${incidentId} and kind = 'evidence' order by id`;

describe("a storm of outages", () => {
  it("is examined once for each target with one cause, and every incident says where its evidence is", async () => {
    const account = await world.createAccount();
    const urls = Array.from(
      { length: OUTAGES },
      (_, index) => `https://shop.${index % 2 === 0 ? "org.example" : "net.example"}/`,
    );
    const incidents = await world.open(account, urls);
    const replicas = [world.startReplica(), world.startReplica()];
    await expect.poll(() => world.statuses()).toEqual({ gathered: 2, shared: OUTAGES - 2 });
    const [one, other] = incidents;
    for (const [index, { id }] of incidents.entries()) {
      expect((await shown(id))?.gathered_for_incident).toBe(index % 2 === 0 ? one?.id : other?.id);
    }
    expect(await linesOf(incidents[2]?.id ?? 0)).toEqual([
      {
        text: expect.stringMatching(
          new RegExp(
            `^The evidence is that of incident ${one?.id}, confirmed (?:at the same time|\\d+ s earlier) ` +
              "with the same target and cause$",
          ),
        ),
      },
    ]);
    const [entries] = await world.sql<{ n: number }[]>`
      select count(*)::integer as n from incident_entries where kind = 'evidence'`;
    expect(entries?.n).toBe(OUTAGES);
    const jobs = replicas.flatMap((replica) => replica.jobs);
    expect(jobs.filter((tool) => tool === "monitor-http")).toHaveLength(2);
    expect(jobs.length).toBeLessThanOrEqual(2 * MOST_JOBS);
  });

  it("of many causes is bounded for an account, and says that the rest is not examined", async () => {
    const account = await world.createAccount();
    const incidents = await world.open(
      account,
      Array.from({ length: 40 }, (_, index) => `https://shop-${index}.example/`),
    );
    const replica = world.startReplica();
    await expect.poll(() => world.statuses()).toEqual({ gathered: 10, failed: 30 });
    const [{ id: first } = { id: 0 }] = incidents;
    const { id: last = 0 } = incidents.at(-1) ?? {};
    expect(await shown(last)).toBeNull();
    expect(await linesOf(last)).toEqual([
      {
        text:
          "No evidence was gathered, because too many outages of this account were confirmed within a minute; " +
          `incident ${first} (host shop-0.example) has the same kind of cause`,
      },
    ]);
    expect(replica.jobs.length).toBeLessThanOrEqual(10 * MOST_JOBS);
  });

  it("of other accounts at one host shows nobody what was gathered for another", async () => {
    const accounts = [await world.createAccount(), await world.createAccount()];
    const incidents = [];
    for (const account of accounts) incidents.push(...(await world.open(account, ["https://shop.example/"])));
    world.startReplica();
    await expect.poll(() => world.statuses()).toEqual({ gathered: 2 });
    for (const { id } of incidents) expect((await shown(id))?.gathered_for_incident).toBe(id);
  });
});

/** Counts the statements of the rounds that handle so many new outages of one cause. */
async function countRound(outages: number): Promise<number> {
  const account = await world.createAccount();
  await world.open(
    account,
    Array.from({ length: outages }, () => "https://shop.example/"),
  );
  let counted = 0;
  const begin = async (work: (tx: Transaction) => Promise<unknown>): Promise<unknown> => {
    let statements = () => 0;
    const result = await world.sql.begin((tx) => {
      const counting = countStatements(tx);
      ({ statements } = counting);
      return work(counting.tx);
    });
    counted += statements();
    return result;
  };
  const { tasks } = await claimRound({ begin } as never, 8, new Date());
  expect(tasks).toHaveLength(1);
  // Else it is claimed again by the next round, if opening its outages takes longer than the lease.
  for (const { incidentId, attempt } of tasks)
    await storeGathered(world.sql, { incidentId, attempt, gatheredAt: new Date(), lines: ["a", "b", "c"], body: "{}" });
  return counted;
}

describe("a round of claims", () => {
  it("sends as many statements for a thousand outages as for two", async () => {
    const few = await countRound(2);
    expect(await countRound(OUTAGES)).toBe(few);
    expect(few).toBeLessThanOrEqual(10);
  });
});

describe("a replica that is killed while it gathers", () => {
  const later = (ms: number): Date => new Date(Date.now() + ms);

  it("is followed by another one when its claim has ended, and can no longer store anything", async () => {
    const [incident] = await world.open(await world.createAccount(), ["https://shop.example/"]);
    const id = incident?.id ?? 0;
    const { tasks } = await claimRound(world.sql, 8, new Date());
    expect(tasks).toMatchObject([{ incidentId: id, attempt: 1 }]);
    expect((await claimRound(world.sql, 8, later(LEASE_MS - 5_000))).tasks).toEqual([]);
    const again = await claimRound(world.sql, 8, later(LEASE_MS + 1_000));
    expect(again.tasks).toMatchObject([{ incidentId: id, attempt: 2 }]);
    const gathered = { incidentId: id, gatheredAt: new Date(), lines: ["a", "b", "c"], body: "{}" };
    expect(await storeGathered(world.sql, { ...gathered, attempt: 1 })).toBe(false);
    expect(await storeGathered(world.sql, { ...gathered, attempt: 2 })).toBe(true);
    expect(await storeGathered(world.sql, { ...gathered, attempt: 2 })).toBe(false);
    expect(await linesOf(id)).toHaveLength(1);
  });

  it("twice ends the attempt, with a line that says so", async () => {
    const [incident] = await world.open(await world.createAccount(), ["https://shop.example/"]);
    await claimRound(world.sql, 8, new Date());
    await claimRound(world.sql, 8, later(LEASE_MS + 1_000));
    await claimRound(world.sql, 8, later(2 * LEASE_MS + 2_000));
    expect(await world.statuses()).toEqual({ failed: 1 });
    expect(await shown(incident?.id ?? 0)).toBeNull();
    expect(await linesOf(incident?.id ?? 0)).toEqual([
      { text: "No evidence was gathered, because it was interrupted twice" },
    ]);
  });

  it("leaves the outages that share its evidence to the one that follows", async () => {
    const account = await world.createAccount();
    const [first] = await world.open(account, ["https://shop.example/"]);
    await claimRound(world.sql, 8, new Date());
    const [second] = await world.open(account, ["https://shop.example/"]);
    await claimRound(world.sql, 8, new Date());
    expect(await world.statuses()).toEqual({ gathering: 1, shared: 1 });
    await world.sql`update incident_evidence set due_at = now() where status = 'gathering'`;
    world.startReplica();
    await expect.poll(() => world.statuses()).toEqual({ gathered: 1, shared: 1 });
    expect((await shown(second?.id ?? 0))?.gathered_for_incident).toBe(first?.id);
  });
});

describe("evidence", () => {
  it("is gathered once by two replicas", async () => {
    const replicas = [world.startReplica(), world.startReplica()];
    const account = await world.createAccount();
    await world.open(
      account,
      Array.from({ length: 10 }, (_, index) => `https://shop-${index}.example/`),
    );
    await expect.poll(() => world.statuses()).toEqual({ gathered: 10 });
    const checks = replicas.flatMap(({ jobs }) => jobs).filter((tool) => tool === "monitor-http");
    expect(checks).toHaveLength(10);
    const [claims] = await world.sql<{ most: number }[]>`select max(attempts) as most from incident_evidence`;
    expect(claims?.most).toBe(1);
  });

  it("of one cause is gathered once, although its outages arrive while three replicas claim", async () => {
    for (let replica = 0; replica < 3; replica += 1) world.startReplica();
    const account = await world.createAccount();
    const urls = Array.from({ length: 60 }, () => "https://shop.example/");
    await Promise.all(Array.from({ length: 4 }, () => world.open(account, urls)));
    await expect.poll(() => world.statuses()).toEqual({ gathered: 1, shared: 239 });
  });

  it("is erased with its account, and with its incident", async () => {
    const account = await world.createAccount();
    await world.open(account, ["https://shop.example/"]);
    await world.sql`delete from accounts where id = ${account}`;
    expect(await world.statuses()).toEqual({});
  });
});
