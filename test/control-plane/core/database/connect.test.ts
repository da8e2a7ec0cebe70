import { liveTimers } from "#test/support/timers.ts";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { isDatabaseAway } from "#control-plane/core/database/database-away.ts";
import { connect, connectListener } from "#control-plane/core/database/connect.ts";
import { guardDatabase } from "#control-plane/core/database/guarded.ts";
import { createNotifications } from "#control-plane/core/database/notifications.ts";
import { createPump } from "#control-plane/core/database/pump.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { startTcpProxy } from "#test/servers/tcp-proxy.ts";
import { endClient } from "#test/support/end-client.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const options = { name: "test", connections: 1, statementTimeoutMs: 30_000 };

const database = await stopAfterAll(createTestDatabase());
const direct = await stopAfterAll(connect(database.url, { ...options, name: "direct" }));
await direct`create table notes (text text)`;
const url = new URL(database.url);
const proxy = await stopAfterAll(startTcpProxy(Number(url.port)));
url.hostname = "127.0.0.1";
url.port = String(proxy.port);
const throughProxy = url.href;

beforeEach(() => proxy.restore());

const kill = () =>
  direct`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'test'`;

describe("a client", () => {
  it("reads bigint as a number", async () => {
    const [row] = await direct<{ n: number }[]>`select 9007199254740991::bigint as n`;
    expect(row?.n).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each([1, 4])("with %i connections settles every statement whenever a connection breaks", async (connections) => {
    const sql = connect(throughProxy, { ...options, connections });
    for (let round = 0; round < 10; round += 1) {
      await expect.poll(() => sql`select 1`.then(() => "ok", String)).toBe("ok");
      let isCut = false;
      const cutting = wait(round % 5)
        .then(() => proxy.cut())
        .then(() => (isCut = true));
      // Many statements in a row, so that some are sent between the socket's error and its close. A lost one never
      // settles, so that the test does not end.
      for (let sentAfter = 0; sentAfter < 20; sentAfter += isCut ? 1 : 0) {
        const settled = sql`select 1`.then(
          () => true,
          (error: unknown) => isDatabaseAway(error),
        );
        expect(await settled).toBe(true);
      }
      await cutting;
      await proxy.restore();
    }
    await endClient(sql);
  });

  it("cancels a statement that takes too long", async () => {
    const sql = connect(database.url, { ...options, statementTimeoutMs: 50 });
    const error = await sql`select pg_sleep(5)`.catch((reason: unknown) => reason);
    expect(isDatabaseAway(error)).toBe(true);
    await sql.end();
  });

  it("with fixed plans looks rows up by index, also in tables of which the server has no statistics", async () => {
    await direct`create table small (id integer primary key)`;
    const plans = [false, true].map(async (fixedPlans) => {
      const sql = connect(database.url, { ...options, fixedPlans });
      const rows = await sql<{ "QUERY PLAN": string }[]>`
        explain select from generate_series(1, 5000) as given (id) join small using (id)`;
      await sql.end();
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    });
    const [free, indexed] = await Promise.all(plans);
    expect(free).toMatch(/Seq Scan on small|Hash Join|Merge Join/);
    expect(indexed).not.toMatch(/Seq Scan on small|Hash Join|Merge Join/);
  });

  it("distinguishes a wrong statement from a database that is away", async () => {
    const error = await direct`select nonsense`.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(isDatabaseAway(error)).toBe(false);
  });
});

describe("a guarded client", () => {
  it("settles within its time limit when the database is silent, and works again when it is back", async () => {
    const guarded = guardDatabase(() => connect(throughProxy, options), 1_000);
    const read = () =>
      guarded.run((sql) => sql`select 1 as one`).then(([row]) => row?.["one"] as unknown, isDatabaseAway);
    // On a busy machine the first connection can take longer than the limit.
    await expect.poll(read).toBe(1);
    proxy.freeze();
    expect(await read()).toBe(true);
    await proxy.restore();
    await expect.poll(read).toBe(1);
    await guarded.close();
  });
});

describe("a transaction", () => {
  it("commits or rolls back as a whole", async () => {
    await transact(direct, (tx) => tx`insert into notes values ('kept')`);
    const failing = transact(direct, async (tx) => {
      await tx`insert into notes values ('dropped')`;
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await direct`select text from notes`).toEqual([{ text: "kept" }]);
  });

  it("whose connection is lost writes nothing outside of the transaction", async () => {
    const sql = connect(database.url, { ...options, connections: 3 });
    const lost = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const running = transact(sql, async (tx) => {
      await tx`insert into notes values ('inside')`;
      await kill();
      await lost.promise;
      await sql`select 1`;
      // A careless callback: it ignores errors and continues, when the client has another connection.
      for (const text of ["outside", "far outside"]) {
        const late = (async () => tx`insert into notes values (${text})`)();
        await late.catch(() => {});
      }
      ended.resolve();
      return "done";
    });
    await expect(running).rejects.toSatisfy(isDatabaseAway);
    lost.resolve();
    await ended.promise;
    expect(await direct`select text from notes where text <> 'kept'`).toEqual([]);
    expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
    await endClient(sql);
  });
});

describe("a transaction that has ended", () => {
  it("refuses a late statement of its callback", async () => {
    let insertLate = (): Promise<unknown> => Promise.resolve();
    const failing = transact(direct, async (tx) => {
      insertLate = async () => tx`insert into notes values ('late')`;
      await tx`select 1 / 0`;
    });
    await expect(failing).rejects.toThrow("division by zero");
    await expect(insertLate()).rejects.toThrow("the transaction has ended");
    expect(await direct`select text from notes where text = 'late'`).toEqual([]);
  });
});

describe("messages between replicas", () => {
  it("arrive again after a lost connection, which is reported as a reset", async () => {
    await proxy.cut();
    const listener = connectListener(throughProxy, "test");
    const heard: string[] = [];
    createNotifications(listener, liveTimers).listen(
      "news",
      (payload) => heard.push(payload),
      () => heard.push("reset"),
    );
    // Asked later than the listener has begun to connect, which fails too.
    await expect(listener`select 1`).rejects.toThrow("ECONNREFUSED");
    await proxy.restore();
    const tell = async (payload: string, expected: string[]) => {
      await expect.poll(() => heard.at(-1)).toBe("reset");
      await direct`select pg_notify('news', ${payload})`;
      await expect.poll(() => heard).toEqual(expected);
    };
    await tell("a", ["reset", "a"]);
    await kill();
    await tell("b", ["reset", "a", "reset", "b"]);
    await endClient(listener);
  });
});

describe("the pump", () => {
  it("never runs twice at the same time, and runs again for work that arrived during a run", async () => {
    let running = 0;
    let most = 0;
    let runs = 0;
    const first = Promise.withResolvers<void>();
    const pump = createPump(async () => {
      runs += 1;
      running += 1;
      most = Math.max(most, running);
      await (runs === 1 ? first.promise : turn());
      running -= 1;
    });
    const wake = () => {
      for (let at = 0; at < 10; at += 1) pump.wake();
    };
    const turns = async () => {
      for (let at = 0; at < 20; at += 1) await turn();
    };
    wake();
    await turns();
    wake();
    await turns();
    expect(runs).toBe(1);
    first.resolve();
    // A run takes a turn or two, so that more of them would have begun.
    await turns();
    expect([runs, running, most]).toEqual([2, 0, 1]);
  });
});
