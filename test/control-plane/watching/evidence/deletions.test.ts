import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { claimRound, storeFailed, storeGathered } from "#control-plane/watching/evidence/claims/claims.ts";
import { readEvidence } from "#control-plane/watching/evidence/requests.ts";
import type { Incident } from "#control-plane/outages/incidents/incident.ts";
import { endOutagesOf } from "#control-plane/outages/incidents/outages/outages.ts";
import { openEvidenceWorld } from "#test/control-plane/watching/evidence/world.ts";
import { countDeadlocks, untilEndedOrLocked } from "#test/support/database-locks.ts";

let world: Awaited<ReturnType<typeof openEvidenceWorld>>;
let account = 0;

beforeEach(async () => {
  world = await openEvidenceWorld();
  account = await world.createAccount();
});
afterEach(() => world?.close());

const idOf = (incident: Incident | undefined): number => incident?.id ?? 0;
const monitorOf = (incident: Incident | undefined): number => incident?.monitor?.id ?? 0;

/** Opens an outage, and claims its gathering. */
async function openAndClaim(): Promise<readonly Incident[]> {
  const incidents = await world.open(account, ["https://shop.example/"]);
  const { tasks } = await claimRound(world.sql, 8, new Date());
  expect(tasks.map(({ incidentId }) => incidentId)).toEqual([idOf(incidents[0])]);
  return incidents;
}

const store = (incident: Incident | undefined) =>
  storeGathered(world.sql, {
    incidentId: idOf(incident),
    attempt: 1,
    gatheredAt: new Date(),
    lines: ["a", "b", "c"],
    body: JSON.stringify({ gathered_at: "2026-03-01T12:00:00.000Z", changed: [], summary: ["a", "b", "c"] }),
  });

const linesOf = async (incident: Incident | undefined) => {
  const rows = await world.sql<{ text: string }[]>`
    select text from incident_entries where incident_id = ${idOf(incident)} and kind = 'evidence' order by id`;
  return rows.map(({ text }) => text);
};

const remove = (tx: Transaction, incident: Incident | undefined) =>
  tx`delete from monitors where id = ${monitorOf(incident)}`;

async function expectNoDeadlock(): Promise<void> {
  await world.sql.end();
  expect(await countDeadlocks(world.databaseUrl)).toBe(0);
}

describe("the timeline of an incident whose monitor was deleted", () => {
  it("gets no line when its evidence is stored; the evidence is kept", async () => {
    const [incident] = await openAndClaim();
    await world.sql.begin((tx) => remove(tx, incident));
    expect(await store(incident)).toBe(true);
    expect(await linesOf(incident)).toEqual([]);
    expect(await readEvidence(world.sql, idOf(incident))).not.toBeNull();
  });

  it("gets no line when its gathering fails, is not begun, or is that of another outage", async () => {
    const [first] = await openAndClaim();
    const [second, third] = await world.open(account, ["https://shop.example/", "https://other.test/"]);
    await world.sql.begin(async (tx) => {
      for (const incident of [first, second, third]) await remove(tx, incident);
    });
    expect((await claimRound(world.sql, 8, new Date())).tasks).toEqual([]);
    await storeFailed(world.sql, { incidentId: idOf(first), attempt: 1 }, "internal_error", new Date());
    expect(await world.statuses()).toEqual({ failed: 3 });
    for (const incident of [first, second, third]) expect(await linesOf(incident)).toEqual([]);
  });
});

describe("a deletion at the same time", () => {
  it("that has removed the monitor is not waited for, and no line is added", async () => {
    const [incident] = await openAndClaim();
    await world.sql`update incidents set status = 'resolved', resolved_at = now() where id = ${idOf(incident)}`;
    await world.sql.begin(async (tx) => {
      await remove(tx, incident);
      expect(await store(incident)).toBe(true);
    });
    expect(await linesOf(incident)).toEqual([]);
  });

  it("that has ended the incident comes first, and none waits for the other", async () => {
    const [incident] = await openAndClaim();
    let stored: Promise<boolean> = Promise.resolve(false);
    await world.sql.begin(async (tx) => {
      await endOutagesOf(tx, [monitorOf(incident)], new Date(), "deleted");
      stored = store(incident);
      await untilEndedOrLocked(world.sql, stored);
      await remove(tx, incident);
    });
    expect(await stored).toBe(true);
    expect(await linesOf(incident)).toEqual([]);
    await expectNoDeadlock();
  });

  it("begins after what is stored, if that came first", async () => {
    const [incident] = await openAndClaim();
    let removed: Promise<unknown> = Promise.resolve();
    // storeGathered, held open before its commit.
    const begin = (work: (tx: Transaction) => Promise<unknown>) =>
      world.sql.begin(async (tx) => {
        const result = await work(tx);
        removed = world.sql`delete from monitors where id = ${monitorOf(incident)}`.execute();
        await untilEndedOrLocked(world.sql, removed);
        const [row] = await tx<{ there: boolean }[]>`
          select exists (select from monitors where id = ${monitorOf(incident)}) as there`;
        expect(row?.there).toBe(true);
        return result;
      });
    const body = JSON.stringify({ changed: [], summary: [] });
    const gathered = { incidentId: idOf(incident), attempt: 1, gatheredAt: new Date(), lines: ["a", "b", "c"], body };
    expect(await storeGathered({ begin } as never, gathered)).toBe(true);
    await removed;
    expect(await linesOf(incident)).toEqual(["Evidence gathered. b"]);
  });
});

describe("a round of claims waits for nobody", () => {
  it("leaves an outage due whose incident another transaction has locked", async () => {
    const [, second] = await openAndClaim().then(async ([first]) => [
      first,
      ...(await world.open(account, ["https://shop.example/"])),
    ]);
    await world.sql.begin(async (tx) => {
      await tx`select from incidents where id = ${idOf(second)} for update`;
      await claimRound(world.sql, 8, new Date());
      expect(await world.statuses()).toEqual({ gathering: 1, pending: 1 });
    });
    await claimRound(world.sql, 8, new Date());
    expect(await world.statuses()).toEqual({ gathering: 1, shared: 1 });
    expect(await linesOf(second)).toHaveLength(1);
  });

  it("leaves the outages of an account alone that is being erased, and claims those of others", async () => {
    const other = await world.createAccount();
    await world.open(account, ["https://shop.example/"]);
    const [incident] = await world.open(other, ["https://other.test/"]);
    await world.sql.begin(async (tx) => {
      await tx`select from accounts where id = ${account} for update`;
      const { tasks } = await claimRound(world.sql, 8, new Date());
      expect(tasks.map(({ incidentId }) => incidentId)).toEqual([idOf(incident)]);
      await tx`delete from accounts where id = ${account}`;
      expect((await claimRound(world.sql, 8, new Date())).tasks).toEqual([]);
    });
    expect(await world.statuses()).toEqual({ gathering: 1 });
    await expectNoDeadlock();
  });
});
