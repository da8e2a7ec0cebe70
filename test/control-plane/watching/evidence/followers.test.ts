import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { claimRound, storeFailed, storeGathered } from "#control-plane/watching/evidence/claims/claims.ts";
import { readEvidence, readMailLines } from "#control-plane/watching/evidence/requests.ts";
import { openEvidenceWorld } from "#test/control-plane/watching/evidence/world.ts";
import { untilEndedOrLocked } from "#test/support/database-locks.ts";

/** Longer than a claim lasts. */
const LATER_MS = 26_000;

let world: Awaited<ReturnType<typeof openEvidenceWorld>>;
let account = 0;

beforeEach(async () => {
  world = await openEvidenceWorld();
  account = await world.createAccount();
});
afterEach(() => world?.close());

const later = (ms: number): Date => new Date(Date.now() + ms);
const claim = async (now = new Date()) =>
  (await claimRound(world.sql, 8, now)).tasks.map(({ incidentId }) => incidentId);

/** Opens an outage, which is claimed, and two that share its evidence. */
async function openThree(confirmedAt = new Date()): Promise<readonly number[]> {
  const urls = ["a", "b", "c"].map(() => "https://shop.example/");
  const ids = (await world.open(account, urls, { confirmedAt })).map(({ id }) => id);
  expect(await claim()).toEqual(ids.slice(0, 1));
  expect(await world.statuses()).toEqual({ gathering: 1, shared: 2 });
  return ids;
}

const lastLine = async (incidentId = 0) => {
  const [row] = await world.sql<{ text: string }[]>`
    select text from incident_entries where incident_id = ${incidentId} and kind = 'evidence' order by id desc limit 1`;
  return row?.text;
};

describe("if the gathering fails that outages were to share", () => {
  it("because of an error, the next of them is examined, and the others share that", async () => {
    const [first = 0, second, third] = await openThree();
    await storeFailed(world.sql, { incidentId: first, attempt: 1 }, "internal_error", new Date());
    expect(await world.statuses()).toEqual({ failed: 1, pending: 2 });
    expect(await claim()).toEqual([second]);
    expect(await world.statuses()).toEqual({ failed: 1, gathering: 1, shared: 1 });
    expect(await lastLine(third)).toContain(`that of incident ${second},`);
  });

  it("because it was interrupted twice, a round follows at once in which the next of them is examined", async () => {
    const [first, second] = await openThree();
    expect(await claim(later(LATER_MS))).toEqual([first]);
    const round = await claimRound(world.sql, 8, later(2 * LATER_MS));
    expect(round).toEqual({ tasks: [], isMore: true });
    expect(await world.statuses()).toEqual({ failed: 1, pending: 2 });
    expect(await claim(later(2 * LATER_MS))).toEqual([second]);
  });

  it("because its monitor was deleted, the next of them is examined", async () => {
    const [first = 0, second] = await openThree();
    await world.sql`delete from monitors where id = (select monitor_id from incidents where id = ${first})`;
    expect((await claimRound(world.sql, 8, later(LATER_MS))).isMore).toBe(true);
    expect(await claim(later(LATER_MS))).toEqual([second]);
  });

  it("after two minutes, the others get a line that says why there is none", async () => {
    const [first = 0, second] = await openThree(later(-100_000));
    await storeFailed(world.sql, { incidentId: first, attempt: 1 }, "internal_error", new Date());
    expect(await claim(later(LATER_MS))).toEqual([]);
    expect(await world.statuses()).toEqual({ failed: 3 });
    expect(await lastLine(second)).toMatch(/^No evidence was gathered, because it could not begin within 2 minutes/);
  });

  it("while another outage begins to share it, that one is examined too", async () => {
    const [first = 0] = (await world.open(account, ["https://shop.example/"])).map(({ id }) => id);
    expect(await claim()).toEqual([first]);
    const [second] = (await world.open(account, ["https://shop.example/"])).map(({ id }) => id);
    let ended: Promise<void> = Promise.resolve();
    // claimRound, held open before its commit.
    const begin = (work: (tx: Transaction) => Promise<unknown>) =>
      world.sql.begin(async (tx) => {
        const result = await work(tx);
        ended = storeFailed(world.sql, { incidentId: first, attempt: 1 }, "internal_error", new Date());
        await untilEndedOrLocked(world.sql, ended);
        return result;
      });
    await claimRound({ begin } as never, 8, new Date());
    await ended;
    expect(await world.statuses()).toEqual({ failed: 1, pending: 1 });
    expect(await claim()).toEqual([second]);
  });

  it("is nothing done if the claim is lost", async () => {
    const [first = 0] = await openThree();
    expect(await claim(later(LATER_MS))).toEqual([first]);
    await storeFailed(world.sql, { incidentId: first, attempt: 1 }, "internal_error", new Date());
    expect(await world.statuses()).toEqual({ gathering: 1, shared: 2 });
  });
});

describe("shared evidence", () => {
  const lines = ["cause", "Changed since the good check at 11:00: status 200 -> 500", "Fails from eu-west"];
  const changed = [{ field: "status", before: "200", after: "500", last_good_at: "2026-03-01T11:00:00.000Z" }];
  const evidence = { gathered_at: "2026-03-01T12:00:00.000Z", changed, summary: lines };

  it("says in mail, timeline and API whose it is, and not what has changed since the checks of that monitor", async () => {
    const url = "https://shop.example/";
    const [first = 0] = (await world.open(account, [url], { confirmedAt: later(-20_000) })).map(({ id }) => id);
    const [second = 0] = (await world.open(account, [url], { confirmedAt: later(-8_000) })).map(({ id }) => id);
    expect(await claim()).toEqual([first]);
    const row = { incidentId: first, attempt: 1, gatheredAt: new Date(), lines, body: JSON.stringify(evidence) };
    expect(await storeGathered(world.sql, row)).toBe(true);
    expect(await readMailLines(world.sql, first)).toEqual({ changed: lines[1], where: lines[2] });
    const whose = `incident ${first}, confirmed 12 s earlier with the same target and cause`;
    const where = `Evidence of ${whose}. Fails from eu-west`;
    const mail = await readMailLines(world.sql, second);
    expect(mail).toEqual({ changed: expect.stringMatching(/^Nothing was compared /) as string, where });
    expect(await lastLine(second)).toBe(`The evidence is that of ${whose}`);
    const shown = await readEvidence(world.sql, second);
    expect(shown).toMatchObject({
      gathered_for_incident: first,
      gathered_for_host: "shop.example",
      changed: [],
      summary: [expect.stringMatching(/^No connection /), mail?.changed, where],
    });
    expect(JSON.stringify(shown)).not.toContain("200 -> 500");
  });
});
