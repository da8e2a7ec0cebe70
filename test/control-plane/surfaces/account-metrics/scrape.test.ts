import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Clock } from "#shared/time/clock.ts";
import { connect } from "#control-plane/core/database/connect.ts";
import type { UptimeFacts } from "#control-plane/surfaces/account-metrics/scraped.ts";
import { FAMILIES, SAMPLES } from "#control-plane/surfaces/account-metrics/families.ts";
import { createScrapes } from "#control-plane/surfaces/account-metrics/scrape.ts";
import type { ReadUptimes } from "#control-plane/surfaces/account-metrics/uptimes.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const MONITORS = 6;
/** Samples of a monitor at the three locations of these tests, as the limit counts them. */
const EACH = SAMPLES.perMonitor + 3 * SAMPLES.perLocation;
const UPTIME: UptimeFacts = { d1: 100, d7: null, d30: null, d90: null };

const service = await stopAfterAll(startMonitorService());
const sql = await stopAfterAll(
  connect(service.databaseUrl, { name: "test", connections: 4, statementTimeoutMs: 30_000 }),
);
const account = await createWatchedAccount(service, sql, MONITORS);
const other = await createWatchedAccount(service, sql, 1);
await sql`update monitor_slots set checked_at = now(), lag_ms = 5, response_ms = 100, phases = '0,1,2,3,4'`;

const known: ReadUptimes = (monitors) => Promise.resolve(new Map(monitors.map(({ id }) => [id, UPTIME])));

/** Returns the ids of the monitors that a text shows, and what it says about the others. */
function read(text: Buffer): { readonly ids: readonly number[]; readonly omitted: number; readonly samples: number } {
  const lines = text.toString().split("\n");
  const ids = lines.flatMap((line) => /^vantage_monitor_info\{monitor_id="(\d+)"/.exec(line)?.[1] ?? []).map(Number);
  const omitted = Number(/^vantage_metrics_omitted_monitors (\d+)$/m.exec(text.toString())?.[1]);
  return { ids, omitted, samples: lines.filter((line) => line.includes("monitor_id=")).length };
}

describe("a scrape of more samples than its limit", () => {
  const clock = createManualClock(new Date());
  const scrapeOf = (mostSamples: number, tag: string | null = null) =>
    createScrapes({ sql, clock, readUptimes: known, mostSamples })(account.accountId, tag);

  it("shows whole monitors by id, and says how many are left out", async () => {
    for (const [most, shown] of [
      [MONITORS * EACH, MONITORS],
      [MONITORS * EACH - 1, MONITORS - 1],
      [2 * EACH, 2],
      [2 * EACH - 1, 1],
      [EACH - 1, 0],
    ] as const) {
      const { ids, omitted, samples } = read((await scrapeOf(most)).text);
      expect({ most, ids, omitted }).toEqual({ most, ids: account.ids.slice(0, shown), omitted: MONITORS - shown });
      expect(samples).toBeLessThanOrEqual(most);
    }
  });

  it("counts the monitors of its tag only", async () => {
    const [first = 0, second = 0] = account.ids.slice(2);
    await sql`update monitors set tags = '{few}' where id in (${first}, ${second})`;
    expect(read((await scrapeOf(EACH, "few")).text)).toMatchObject({ ids: [first], omitted: 1 });
  });
});

describe("scrapes of one account at the same time", () => {
  /** Uptimes that are read when a test says so. */
  function createHeld() {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const state = { reads: 0 };
    const readUptimes: ReadUptimes = async (monitors) => {
      state.reads += 1;
      await promise;
      return known(monitors);
    };
    return { readUptimes, state, resolve: () => resolve(undefined), reject };
  }

  it("share one computation, also with those that follow within a second", async () => {
    const clock = createManualClock(new Date());
    const { readUptimes, state, resolve } = createHeld();
    const scrape = createScrapes({ sql, clock, readUptimes });
    const begun = Array.from({ length: 5 }, () => scrape(account.accountId, null));
    await expect.poll(() => state.reads).toBe(1);
    begun.push(scrape(account.accountId, null));
    resolve();
    const answers = new Set(await Promise.all(begun));
    expect(answers.size).toBe(1);
    clock.advance(999);
    expect(answers.has(await scrape(account.accountId, null))).toBe(true);
    clock.advance(2);
    expect(answers.has(await scrape(account.accountId, null))).toBe(false);
    expect(state.reads).toBe(1); // uptimes are kept for longer
  });

  it("fail together, and the next one begins again", async () => {
    const { readUptimes, state, reject } = createHeld();
    const scrape = createScrapes({ sql, clock: createManualClock(new Date()), readUptimes });
    const begun = [scrape(account.accountId, null), scrape(account.accountId, null)];
    await expect.poll(() => state.reads).toBe(1);
    reject(new Error("the database is away"));
    for (const { status } of await Promise.allSettled(begun)) expect(status).toBe("rejected");
    await expect(scrape(account.accountId, null)).rejects.toThrow("away");
    expect(state.reads).toBe(2);
  });

  it("are not those of another account, or of another tag", async () => {
    const scrape = createScrapes({ sql, clock: createManualClock(new Date()), readUptimes: known });
    const answers = await Promise.all([
      scrape(account.accountId, null),
      scrape(account.accountId, "shop"),
      scrape(other.accountId, null),
    ]);
    expect(new Set(answers).size).toBe(3);
    expect(read(answers[2].text).ids).toEqual(other.ids);
  });

  it("are compressed once", async () => {
    const scrape = createScrapes({ sql, clock: createManualClock(new Date()), readUptimes: known });
    const { text, compressed } = await scrape(account.accountId, null);
    expect(gunzipSync(await compressed()).equals(text)).toBe(true);
    expect(compressed()).toBe(compressed());
  });
});

it("the event loop turns between the steps of a scrape", async () => {
  let looks = 0;
  let total = 0;
  let most = 0;
  /** A clock on which each look takes half a millisecond, so that a piece of 4 ms has eight steps. */
  const clock: Clock = {
    now: () => new Date(),
    monotonic: () => {
      looks += 1;
      total += 1;
      return total / 2;
    },
  };
  let isDone = false;
  const turn = (): void => {
    most = Math.max(most, looks);
    looks = 0;
    if (!isDone) setImmediate(turn);
  };
  const begun = createScrapes({ sql, clock, readUptimes: known })(account.accountId, null);
  turn();
  await begun;
  isDone = true;
  turn();
  // A step is a family of eight monitors. The caches look at the clock, too.
  expect(total).toBeGreaterThan(Math.ceil(MONITORS / 8) * FAMILIES.length);
  expect(most).toBeLessThan(MONITORS * 5);
});
