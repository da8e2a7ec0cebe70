import { liveTimers } from "#test/support/timers.ts";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { connect, connectListener } from "#control-plane/core/database/connect.ts";
import { createNotifications, type Notifications } from "#control-plane/core/database/notifications.ts";
import { runDurably } from "#control-plane/checks/jobs/durable-run/run.ts";
import { sweepRuns } from "#control-plane/checks/jobs/durable-run/upkeep.ts";
import { createRunWatch, type RunState, type RunWatch } from "#control-plane/checks/jobs/durable-run/watch.ts";
import {
  createMailingWork,
  createTables,
  insertMailing,
  MAILINGS,
  readLetters,
  readMailing,
  readStates,
  type Deliver,
} from "#test/control-plane/checks/jobs/durable-run/letters.ts";
import { createManualClock } from "#test/support/clock.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const START = new Date("2026-01-01T00:00:00Z");
/** Notifications behind a connection pooler in transaction mode: none ever arrives. */
const DEAF: Notifications = { listen: () => {} };

const watches: RunWatch<RunState>[] = [];
const clock = createManualClock(START);
const never = new AbortController().signal;

function openWatch(notifications: Notifications): RunWatch<RunState> {
  const opened = createRunWatch({
    channel: MAILINGS.channel,
    notifications,
    readStates: (ids) => readStates(sql, ids),
  });
  watches.push(opened);
  return opened;
}

const database = await stopAfterAll(openDatabase());
const { sql } = database;
const listener = connectListener(database.url, "test");
await createTables(sql);
const watch = openWatch(createNotifications(listener, liveTimers));

afterEach(async () => {
  await sql`truncate mailings, letters`;
});

afterAll(async () => {
  for (const opened of watches) opened.close();
  await listener.end();
});

const attempt = (
  id: string,
  deliver: Deliver,
  { stop = never, on = watch }: { stop?: AbortSignal; on?: Pick<RunWatch<RunState>, "watch"> } = {},
) => runDurably({ clock, watch: on }, createMailingWork(sql, deliver), id, stop);

/** Resolves to null when the signal is aborted, as a cancelled check does. */
const until = (signal: AbortSignal) =>
  new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener("abort", () => resolve(null), { once: true });
  });

/** A delivery that runs until it is cancelled, and a promise of its start. */
function endlessDelivery() {
  const begun = Promise.withResolvers<null>();
  const deliver: Deliver = (_address, signal) => {
    begun.resolve(null);
    return until(signal);
  };
  return { begun: begun.promise, deliver };
}

describe("an attempt at a durable run", () => {
  it("performs every unit and completes the run", async () => {
    await insertMailing(sql, "all", ["a", "b", "c"], START);
    expect(await attempt("all", (address) => Promise.resolve(`to ${address}`))).toBe("done");
    expect(await readLetters(sql, "all")).toEqual({ a: "to a", b: "to b", c: "to c" });
    expect(await readMailing(sql, "all")).toMatchObject({ status: "completed" });
    // The job is fetched again if its settlement was lost.
    expect(await attempt("all", () => Promise.reject(new Error("performed twice")))).toBe("done");
    expect(await attempt("absent", () => Promise.reject(new Error("performed without a run")))).toBe("done");
  });

  it("performs at most 50 units at the same time", async () => {
    await insertMailing(
      sql,
      "many",
      Array.from({ length: 60 }, (_, n) => String(n)),
      START,
    );
    let [running, most] = [0, 0];
    await attempt("many", async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return "";
    });
    expect(most).toBe(50);
    expect(await readMailing(sql, "many")).toMatchObject({ status: "completed" });
  });

  it("that fails halfway is followed by one that performs only the remaining units", async () => {
    await insertMailing(sql, "half", ["a", "b"], START);
    const broken = attempt("half", async (address) => {
      if (address === "a") return "first";
      await expect.poll(() => readLetters(sql, "half")).toMatchObject({ a: "first" });
      throw new Error("a bug");
    });
    await expect(broken).rejects.toThrow("a bug");
    const asked: string[] = [];
    const rest = attempt("half", (address) => {
      asked.push(address);
      return Promise.resolve("second");
    });
    expect(await rest).toBe("done");
    expect([asked, await readLetters(sql, "half")]).toEqual([["b"], { a: "first", b: "second" }]);
  });

  it("loses to a newer claim: it is aborted, and its late results are not stored", async () => {
    await insertMailing(sql, "taken", ["a"], START);
    const called = Promise.withResolvers<null>();
    const older = attempt("taken", async (_address, signal) => {
      called.resolve(null);
      await until(signal);
      return "too late";
    });
    await called.promise;
    // The newer attempt is still running, so only its claim can abort the older one.
    const newer = attempt("taken", async () => {
      expect(await older).toBe("done");
      return "in time";
    });
    expect(await newer).toBe("done");
    expect(await readLetters(sql, "taken")).toEqual({ a: "in time" });
    const [row] = await sql<{ writes: number }[]>`select writes from letters where mailing_id = 'taken'`;
    expect(row?.writes).toBe(1);
  });

  it("does not mistake a state from before its own claim for a newer claim", async () => {
    await insertMailing(sql, "stale", ["a"], START);
    const stale: Pick<RunWatch<RunState>, "watch"> = {
      watch(id, notice) {
        // A read that began before the claim was committed.
        notice({ id, status: "pending", run: 0 });
        return () => {};
      },
    };
    expect(await attempt("stale", () => Promise.resolve("done"), { on: stale })).toBe("done");
    expect(await readMailing(sql, "stale")).toMatchObject({ status: "completed" });
  });

  it.each([
    ["immediately with notifications", () => watch],
    ["and also without notifications", () => openWatch(DEAF)],
  ])("is aborted when any replica cancels the run, %s", async (_how, on) => {
    await insertMailing(sql, "cancelled", ["a"], START);
    const { begun, deliver } = endlessDelivery();
    const running = attempt("cancelled", deliver, { on: on() });
    await begun;
    expect(await MAILINGS.cancel(sql, 2, "cancelled", START)).toBe(false);
    expect(await MAILINGS.cancel(sql, 1, "cancelled", START)).toBe(true);
    expect(await running).toBe("done");
    expect(await readMailing(sql, "cancelled")).toMatchObject({ status: "cancelled" });
    expect(await MAILINGS.cancel(sql, 1, "cancelled", START)).toBe(false);
  });

  it("is aborted when the run is erased", async () => {
    await insertMailing(sql, "erased", ["a"], START);
    const { begun, deliver } = endlessDelivery();
    const running = attempt("erased", deliver);
    await begun;
    await sql`delete from mailings where id = 'erased'`;
    expect(await running).toBe("done");
  });

  it("puts the job back when the process stops, and keeps its results", async () => {
    await insertMailing(sql, "stopped", ["a", "b"], START);
    const stop = new AbortController();
    const running = attempt(
      "stopped",
      (address, signal) => {
        if (address === "a") return Promise.resolve("first");
        stop.abort();
        return until(signal);
      },
      { stop: stop.signal },
    );
    expect(await running).toBe("later");
    expect(await readLetters(sql, "stopped")).toEqual({ a: "first", b: null });
    // A stop does not mean that no probe is available: no wait has begun.
    expect(await readMailing(sql, "stopped")).toEqual({ status: "running", waitingSince: null });
  });

  it("finishes the run even if the process stops, if no unit is left", async () => {
    await insertMailing(sql, "last", ["a"], START);
    const stop = new AbortController();
    const deliver: Deliver = () => {
      stop.abort();
      return Promise.resolve("first");
    };
    expect(await attempt("last", deliver, { stop: stop.signal })).toBe("done");
    expect(await readMailing(sql, "last")).toMatchObject({ status: "completed" });
  });

  it("postpones units that no probe can perform, and gives them up after 30 s", async () => {
    await insertMailing(sql, "waiting", ["a", "b"], START);
    const deliver: Deliver = (address) => Promise.resolve(address === "a" ? "first" : null);
    const began = clock.now();
    expect(await attempt("waiting", deliver)).toBe("later");
    clock.advance(29_999);
    expect(await attempt("waiting", deliver)).toBe("later");
    expect(await readMailing(sql, "waiting")).toEqual({ status: "running", waitingSince: began });
    clock.advance(1);
    expect(await attempt("waiting", deliver)).toBe("done");
    expect(await readLetters(sql, "waiting")).toEqual({ a: "first", b: "given up: no_probe" });
    expect(await readMailing(sql, "waiting")).toMatchObject({ status: "completed" });
  });

  it("fails a run if every unit was given up", async () => {
    await insertMailing(sql, "nobody", ["a"], START);
    expect(await attempt("nobody", () => Promise.resolve(null))).toBe("later");
    clock.advance(30_000);
    expect(await attempt("nobody", () => Promise.resolve(null))).toBe("done");
    expect(await readMailing(sql, "nobody")).toMatchObject({ status: "failed" });
  });

  it("puts the job back while the database is away", async () => {
    const closed = connect(database.url, { name: "test", connections: 1, statementTimeoutMs: 10_000 });
    await closed.end();
    const work = createMailingWork(closed, () => Promise.resolve(""));
    expect(await runDurably({ clock, watch }, work, "away", never)).toBe("later");
  });
});

it("housekeeping fails runs that lost their job and deletes expired runs with their units", async () => {
  await insertMailing(sql, "old", ["a"], START);
  const hour = 3_600_000;
  const at = (hours: number) => new Date(START.getTime() + hours * hour);
  const ages = { forgottenMs: 2 * hour, deletedAtOnce: 1 };
  await sweepRuns(sql, MAILINGS, ages, at(1));
  expect(await readMailing(sql, "old")).toMatchObject({ status: "pending" });
  await sweepRuns(sql, MAILINGS, ages, at(3));
  expect(await readMailing(sql, "old")).toMatchObject({ status: "failed" });
  await insertMailing(sql, "young", ["a"], at(23));
  await insertMailing(sql, "old-too", ["a"], START);
  await sweepRuns(sql, MAILINGS, ages, at(24));
  expect(await sql`select id, status from mailings`).toEqual([{ id: "young", status: "pending" }]);
  expect(await sql`select mailing_id from letters`).toEqual([{ mailing_id: "young" }]);
});
