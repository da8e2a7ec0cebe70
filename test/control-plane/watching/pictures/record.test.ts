import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import { type VisualSettings, VISUAL_DEFAULT, basisOf } from "#control-plane/outages/kinds/visual.ts";
import {
  acceptPicture,
  beginPictures,
  readMonitorPictures,
} from "#control-plane/watching/pictures/monitor-pictures.ts";
import { createPictures, type Pictures } from "#control-plane/watching/pictures/pictures.ts";
import { sweepPictures } from "#control-plane/watching/pictures/space.ts";
import { ago } from "#test/support/ago.ts";
import { systemRandom } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { BLUE, pngOf, sha256Of, WHITE } from "#test/support/pictures.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const URL = "https://shop.example.com/";
const DAY_MS = 86_400_000;

/** Pictures that all differ from each other by more than the threshold. */
const picture = (n: number): Buffer =>
  pngOf(200, 150, WHITE, n === 0 ? [] : [[(n % 15) * 10, 10 * Math.floor(n / 15), 10, 10, BLUE]]);

let monitorId: number;
let accountId: number;
let key: string;

const open = (space?: Parameters<typeof createPictures>[0]["space"]): Pictures =>
  createPictures({
    ...plane.app,
    events: createEvents({ random: systemRandom, sources: [] }),
    baseUrl: "https://status.example.com",
    retentionMs: DAY_MS,
    ...(space === undefined ? {} : { space }),
  });

const plane = await stopAfterAll(startControlPlane());
const replicas = [open(), open()] as const;

afterAll(async () => {
  for (const one of replicas) one.close();
});

beforeEach(async () => {
  ({ accountId, monitorId, key } = await createVisual());
});

async function createVisual(settings: Partial<VisualSettings> = {}) {
  const visual = { ...VISUAL_DEFAULT, ...settings };
  // Paused, so that the replica does not check them.
  const account = await createWatchedAccount(plane, plane.app.sql, 1, { visual });
  const [id = 0] = account.ids;
  await plane.app.sql`delete from monitor_slots where monitor_id = ${id}`;
  await transact(plane.app.sql, (tx) => beginPictures(tx, [{ id, basis: basisOf(URL, visual) }]));
  return { accountId: account.accountId, monitorId: id, key: account.key };
}

function taken(bytes: Buffer, over: { readonly at?: number; readonly basis?: string } = {}) {
  return {
    monitorId,
    accountId,
    basis: over.basis ?? basisOf(URL, VISUAL_DEFAULT),
    location: "eu-west",
    takenAt: new Date(over.at ?? Date.now()),
    bytes,
    sha256: sha256Of(bytes).toString("hex"),
  };
}

const eventsOf = async (): Promise<number> => {
  const [{ events }] = await plane.app.sql<[{ events: number }]>`
    select count(*) as events from events where monitor_id = ${monitorId} and type = 'visual.changed'`;
  return events;
};
const kept = async (): Promise<readonly number[]> => {
  const rows = await plane.app.sql<
    { id: number }[]
  >`select id from pictures where monitor_id = ${monitorId} order by id`;
  return rows.map(({ id }) => id);
};
const factsOf = async () => (await readMonitorPictures(plane.app.sql, [monitorId])).get(monitorId);

describe("a picture that two replicas record at the same time", () => {
  it("is stored and announced once", async () => {
    const [one, two] = replicas;
    expect(await Promise.all([one.record(taken(picture(0))), two.record(taken(picture(0)))])).toEqual([null, null]);
    expect(await kept()).toHaveLength(1);
    const changes = Array.from({ length: 12 }, (_, n) => (n % 2 === 0 ? one : two).record(taken(picture(1))));
    expect(await Promise.all(changes)).toEqual(changes.map(() => null));
    expect(await eventsOf()).toBe(1);
    expect(await kept()).toHaveLength(3);
  });

  it("and that a user accepts meanwhile is compared again", async () => {
    const [one] = replicas;
    await one.record(taken(picture(0)));
    await one.record(taken(picture(1)));
    const accepting = transact(plane.app.sql, (tx) => acceptPicture(tx, monitorId, plane.app.clock.now()));
    await Promise.all([one.record(taken(picture(1))), accepting]);
    await one.record(taken(picture(1)));
    expect((await factsOf())?.latest?.ratio).toBe(0);
    expect(await eventsOf()).toBe(1);
  });
});

describe("a transaction that does not commit", () => {
  it("leaves nothing, and the repeated picture is announced once", async () => {
    const [one] = replicas;
    await one.record(taken(picture(0)));
    const { sql } = plane.app;
    // The last statement of the transaction fails, as if the replica was killed before its commit.
    await sql.unsafe(`create function refuse_event() returns trigger language plpgsql as $$ begin raise 'killed'; end $$;
      create trigger refuse_event before insert on events for each row when (new.monitor_id = ${monitorId}) execute function refuse_event()`);
    await expect(one.record(taken(picture(1)))).rejects.toThrow("killed");
    expect(await kept()).toHaveLength(1);
    expect((await factsOf())?.latest?.ratio).toBe(0);
    await sql.unsafe("drop trigger refuse_event on events");
    expect(await one.record(taken(picture(1)))).toBeNull();
    expect(await one.record(taken(picture(1)))).toBeNull();
    expect(await eventsOf()).toBe(1);
  });
});

describe("a picture of a monitor", () => {
  it("that was changed or deleted meanwhile is dropped", async () => {
    const other = basisOf(URL, { ...VISUAL_DEFAULT, full_page: true });
    expect(await replicas[0].record(taken(picture(0), { basis: other }))).toBeNull();
    expect(await kept()).toEqual([]);
    await plane.app.sql`delete from monitors where id = ${monitorId}`;
    expect(await replicas[0].record(taken(picture(0)))).toBeNull();
  });

  it("that changes during maintenance is announced afterwards, if it still differs", async () => {
    await replicas[0].record(taken(picture(0)));
    const at = Date.now() + 120_000;
    const times = { starts_at: new Date(at - 60_000).toISOString(), ends_at: new Date(at + 60_000).toISOString() };
    const window = await plane.call("/api/v4/maintenance", {
      key,
      body: { title: "work", monitor_ids: [monitorId], ...times },
    });
    expect(window.status).toBe(201);
    await replicas[0].record(taken(picture(1), { at }));
    expect(await eventsOf()).toBe(0);
    await replicas[0].record(taken(picture(1), { at: at + 60_000 }));
    expect(await eventsOf()).toBe(1);
  });

  it("with a small movement around an announced change is not announced again", async () => {
    const [one] = replicas;
    await one.record(taken(pngOf(400, 300)));
    await one.record(taken(pngOf(400, 300, WHITE, [[0, 0, 100, 100, BLUE]])));
    await one.record(taken(pngOf(400, 300, WHITE, [[0, 0, 100, 101, BLUE]]))); // 100 of 120,000 pixels more
    expect(await eventsOf()).toBe(1);
  });
});

describe("the space of pictures", () => {
  it("has 20 of a monitor at most, and always the accepted, newest and announced ones", async () => {
    const [one] = replicas;
    const start = ago(60_000).getTime();
    await one.record(taken(picture(0), { at: start }));
    const [accepted] = await kept();
    for (let n = 1; n <= 30; n += 1) await one.record(taken(picture(n), { at: start + n * 1_000 }));
    const facts = await factsOf();
    const ids = await kept();
    expect(ids.length).toBeLessThanOrEqual(24);
    expect(ids.length).toBeGreaterThanOrEqual(20);
    expect(ids).toContain(accepted);
    expect(ids).toContain(facts?.latest?.pictureId);
    expect(ids).toContain(facts?.latest?.differenceId);
    expect(await one.find(monitorId, accepted ?? 0)).not.toBeNull();
  });

  it("is swept by retention: those in use stay", async () => {
    const [one] = replicas;
    const long = ago(3 * DAY_MS).getTime();
    for (let n = 0; n < 4; n += 1) await one.record(taken(picture(n), { at: long + n }));
    const before = await kept();
    expect(
      await sweepPictures(plane.app.sql, ago(DAY_MS), {
        perAccount: 1e9,
        total: 1e9,
      }),
    ).toBe(true);
    const after = await kept();
    expect(after.length).toBeLessThan(before.length);
    const facts = await factsOf();
    expect(after).toEqual(expect.arrayContaining([facts?.accepted?.pictureId, facts?.latest?.pictureId]));
    // A total below what is in use is reported.
    expect(await sweepPictures(plane.app.sql, new Date(0), { perAccount: 1e9, total: 1 })).toBe(false);
    expect(await kept()).toEqual(expect.arrayContaining([facts?.accepted?.pictureId, facts?.latest?.pictureId]));
  });

  it("of an account is bounded: the oldest unused ones go first, and without room the check has a fault", async () => {
    const size = picture(1).length;
    const small = open({ perAccount: 6 * size, total: 1e9 });
    const start = ago(60_000).getTime();
    for (let n = 0; n < 12; n += 1) expect(await small.record(taken(picture(n), { at: start + n * 1_000 }))).toBeNull();
    const [{ sum }] = await plane.app.sql<[{ sum: number }]>`
      select sum(size)::bigint as sum from pictures where monitor_id = ${monitorId}`;
    expect(sum).toBeLessThanOrEqual(6 * size);
    small.close();
    const tiny = open({ perAccount: 10, total: 1e9 });
    const before = await kept();
    expect(await tiny.record(taken(picture(20)))).toMatchObject({ source: "probe", reason: "pictures_full" });
    expect(await kept()).toEqual(before);
    tiny.close();
  });
});

describe("the pictures of an account", () => {
  it("are listed in its export without their contents, and are erased with it", async () => {
    await replicas[0].record(taken(picture(0)));
    const erased = await plane.app.accounts.erase(accountId, true);
    const exported = erased?.exported?.["pictures"];
    expect(exported).toMatchObject([
      { monitor_id: monitorId, kind: "taken", width: 200, height: 150, size: picture(0).length },
    ]);
    expect(JSON.stringify(exported)).not.toContain("content");
    expect(await kept()).toEqual([]);
  });
});
