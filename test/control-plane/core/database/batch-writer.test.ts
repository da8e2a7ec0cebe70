import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createBatchWriter } from "#control-plane/core/database/batch-writer.ts";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { startTcpProxy, type TcpProxy } from "#test/servers/tcp-proxy.ts";
import { endClient } from "#test/support/end-client.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";

let database: TestDatabase;
let sql: Sql;
let proxy: TcpProxy;
let relayed: Sql;

beforeAll(async () => {
  database = await createTestDatabase();
  const options = { name: "test", connections: 2, statementTimeoutMs: 30_000 };
  sql = connect(database.url, options);
  await sql`create table notes (position integer generated always as identity, n integer unique check (n % 1000 <> 13))`;
  await sql`
    create function fail(code text) returns void language plpgsql as $$
      begin raise exception 'no' using errcode = code; end
    $$`;
  const url = new URL(database.url);
  proxy = await startTcpProxy(Number(url.port));
  url.hostname = "127.0.0.1";
  url.port = String(proxy.port);
  relayed = connect(url.href, options);
});

beforeEach(async () => {
  await proxy.restore();
  await sql`truncate notes`;
});

afterAll(async () => {
  await endClient(relayed);
  await proxy.close();
  await sql.end();
  await database.drop();
});

/** Inserts notes in the order of the list. Those that are there already are recognised. */
async function insert(client: Sql, notes: readonly number[]): Promise<void> {
  await client`
    insert into notes (n) select n from unnest(${[...notes]}::integer[]) with ordinality as given (n, place)
    order by place on conflict (n) do nothing`;
}

const numbers = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + at);
const stored = async () => (await sql<{ n: number }[]>`select n from notes order by position`).map(({ n }) => n);

/** A queue of notes with its writer, and what the writer did. */
function openQueue(write: (notes: readonly number[]) => Promise<void>) {
  const waiting: number[] = [];
  const seen = { sizes: [] as number[], written: [] as number[], refused: [] as number[], retries: 0, mostAtOnce: 0 };
  let running = 0;
  const writer = createBatchWriter<number>({
    take: (most) => waiting.slice(0, most),
    async write(batch) {
      running += 1;
      seen.mostAtOnce = Math.max(seen.mostAtOnce, running);
      seen.sizes.push(batch.length);
      try {
        await write(batch);
        seen.written.push(...waiting.splice(0, batch.length));
      } finally {
        running -= 1;
      }
    },
    refuse: () => void seen.refused.push(...waiting.splice(0, 1)),
    retryMs: 10,
    retryLine: "notes are written again",
    log: { debug: () => (seen.retries += 1) } as never,
  });
  const add = (notes: readonly number[]): void => {
    waiting.push(...notes);
    writer.wake();
  };
  return { seen, add, settle: () => writer.settle() };
}

describe("what waits", () => {
  it("is written in its order, one batch of 500 after the other, with what arrived meanwhile", async () => {
    let isFirst = true;
    const { seen, add, settle } = openQueue(async (notes) => {
      if (isFirst) for (const note of numbers(901, 100)) add([note]);
      isFirst = false;
      await insert(sql, notes);
    });
    add(numbers(101, 700));
    add(numbers(801, 100));
    await settle();
    const all = numbers(101, 900);
    expect(await stored()).toEqual(all);
    expect(seen).toEqual({ sizes: [500, 400], written: all, refused: [], retries: 0, mostAtOnce: 1 });
  });

  it("is written by the time that the queue is settled, and an empty queue is settled already", async () => {
    const { seen, add, settle } = openQueue(async (notes) => {
      await wait(20);
      await insert(sql, notes);
    });
    await settle();
    add([1]);
    const settled = Promise.all([settle(), settle()]);
    add([2]);
    await settled;
    expect(seen.written).toEqual([1, 2]);
    expect(await stored()).toEqual([1, 2]);
  });
});

describe("a database that is away", () => {
  it("gets everything once, in its order, when it is back", async () => {
    const { seen, add, settle } = openQueue((notes) => insert(relayed, notes));
    const all = numbers(101, 800);
    let added = 0;
    for (let round = 0; round < 8; round += 1) {
      add(all.slice(added, (added += 50)));
      // At another moment of the write each time: before it, in its middle, and when its answer is on its way.
      await wait(round);
      await proxy.cut();
      const { retries } = seen;
      add(all.slice(added, (added += 50)));
      await expect.poll(() => seen.retries).toBeGreaterThan(retries + 1);
      await proxy.restore();
      await expect.poll(() => seen.written.length).toBe(added);
    }
    await settle();
    expect(await stored()).toEqual(all);
    expect(seen).toMatchObject({ written: all, refused: [], mostAtOnce: 1 });
  });

  it("is waited for by those who wait for the queue to settle", async () => {
    const { seen, add, settle } = openQueue((notes) => insert(relayed, notes));
    await proxy.cut();
    add([1, 2]);
    let isSettled = false;
    const settled = settle().then(() => (isSettled = true));
    await expect.poll(() => seen.retries).toBeGreaterThan(2);
    expect(isSettled).toBe(false);
    await proxy.restore();
    await settled;
    expect(await stored()).toEqual([1, 2]);
  });

  it.each([
    ["a transaction that is the victim of a deadlock", "40P01"],
    ["a conflict of transactions", "40001"],
    ["a lock that is not available in time", "55P03"],
    ["a server that stops", "57P01"],
  ])("is not the only reason for trying again: so is %s", async (_what, code) => {
    let failures = 3;
    const { seen, add, settle } = openQueue(async (notes) => {
      if ((failures -= 1) >= 0) await sql`select fail(${code})`;
      await insert(sql, notes);
    });
    add([1, 2, 3]);
    await settle();
    expect(seen).toMatchObject({ sizes: [3, 3, 3, 3], written: [1, 2, 3], refused: [], retries: 3 });
  });
});

describe("an item that the database refuses", () => {
  it("is refused alone: all others are written once, in their order, in few statements", async () => {
    const { seen, add, settle } = openQueue((notes) => insert(sql, notes));
    const all = numbers(1, 2_400);
    add(all);
    await settle();
    const good = all.filter((n) => n % 1_000 !== 13);
    expect(await stored()).toEqual(good);
    expect(seen).toMatchObject({ written: good, refused: [13, 1_013, 2_013], retries: 0 });
    expect(seen.sizes.length).toBeLessThan(100);
    // Once it is gone, batches grow again.
    expect(seen.sizes.slice(seen.sizes.indexOf(1)).some((size) => size > 300)).toBe(true);
  });

  it("holds up nothing that arrives later", async () => {
    const { seen, add, settle } = openQueue((notes) => insert(sql, notes));
    for (const note of [13, 1, 1_013, 2]) {
      add([note]);
      await settle();
    }
    expect(seen).toMatchObject({ written: [1, 2], refused: [13, 1_013] });
  });
});
