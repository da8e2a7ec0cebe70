import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { App } from "#control-plane/core/app.ts";
import { readExpiryTimes } from "#control-plane/watching/expiry/read/times.ts";
import { readPingTimes } from "#control-plane/watching/heartbeats/ping-times.ts";
import { readSnapshots } from "#control-plane/watching/checking/snapshots/snapshots.ts";
import { createYielder, type Yielder } from "#control-plane/core/yielder.ts";
import { createSharedCache } from "#control-plane/core/shared-cache.ts";
import { MOST_SAMPLES, SAMPLES } from "#control-plane/surfaces/account-metrics/families.ts";
import { renderScrape } from "#control-plane/surfaces/account-metrics/render.ts";
import { createUptimeCache, type ReadUptimes } from "#control-plane/surfaces/account-metrics/uptimes.ts";

/** Maximum number of monitors in one statement. What becomes of its rows holds the event loop for a few milliseconds. */
const AT_ONCE = 500;

/** Reads facts about any number of monitors, some hundreds at a time. */
async function readInParts<Q, T>(
  questions: readonly Q[],
  read: (part: readonly Q[]) => Promise<ReadonlyMap<number, T>>,
): Promise<ReadonlyMap<number, T>> {
  const all = new Map<number, T>();
  for (let at = 0; at < questions.length; at += AT_ONCE) {
    for (const [id, facts] of await read(questions.slice(at, at + AT_ONCE))) all.set(id, facts);
  }
  return all;
}

/** The metrics of an account's monitors in Prometheus' text format. */
interface Scrape {
  readonly text: Buffer;
  /** Returns the text compressed with gzip. It is compressed once, for the first who asks. */
  readonly compressed: () => Promise<Buffer>;
}

/**
 * Returns the metrics of an account's monitors, of those with this tag if one is given. Scrapes of the same at the same
 * time, and within a second, share one computation. Rejects with DatabaseAway if too many accounts wait.
 */
export type ScrapeAccount = (accountId: number, tag: string | null) => Promise<Scrape>;

/** How long an answer is used, in milliseconds: two Prometheus servers of one account cost little more than one. */
const FRESH_MS = 1_000;
/** Maximum number and size, in octets, of the answers that are kept. */
const KEPT = { most: 500, mostSize: 32 * 1024 ** 2 } as const;
/** Maximum number of computations at the same time: while one waits for the database, another one renders. */
const MOST_LOADS = 2;
/** Maximum number of accounts that wait for the first scrape of their lives; others always wait. */
const MOST_WAITING = 1_000;
/** The lowest level: a scrape of 3 MB takes 12 ms of Node's thread pool and becomes a twentieth of its size. */
const GZIP_LEVEL = 1;

const compress = promisify(gzip);

/**
 * Creates the scrapes of accounts. Each takes a few statements, and a few more for each 500 monitors. A scrape has at
 * most `mostSamples` samples.
 */
export function createScrapes({
  sql,
  clock,
  readUptimes,
  mostSamples = MOST_SAMPLES,
}: Pick<App, "sql" | "clock"> & { readonly readUptimes: ReadUptimes; readonly mostSamples?: number }): ScrapeAccount {
  const uptimesOf = createUptimeCache(clock, readUptimes);
  const budget = { ...SAMPLES, most: mostSamples };

  async function compute(accountId: number, tag: string | null): Promise<Scrape> {
    const yielder = createYielder(clock);
    const { monitors, omitted } = await readSnapshots(sql, { accountId, tag, now: clock.now(), budget, yielder });
    const heartbeats = monitors.filter(({ checkType }) => checkType === "heartbeat").map(({ id }) => id);
    const owned = monitors.map(({ id, tags, createdAt, status }) => ({ id, accountId, tags, createdAt, status }));
    const ids = monitors.map(({ id }) => id);
    const [uptimes, pings, expiries] = await Promise.all([
      readInParts(owned, uptimesOf),
      readInParts(heartbeats, (part) => readPingTimes(sql, part)),
      readInParts(ids, (part) => readExpiryTimes(sql, part)),
    ]);
    const scraped = monitors.map((monitor) => ({
      ...monitor,
      uptime: uptimes.get(monitor.id) ?? null,
      pings: pings.get(monitor.id) ?? null,
      expiry: expiries.get(monitor.id) ?? null,
    }));
    const text = await join(renderScrape({ monitors: scraped, omitted }, clock.now().getTime()), yielder);
    let compressed: Promise<Buffer> | null = null;
    return { text, compressed: () => (compressed ??= compress(text, { level: GZIP_LEVEL })) };
  }

  const scrapes = createSharedCache<Scrape>({
    clock,
    ttlMs: FRESH_MS,
    ...KEPT,
    sizeOf: ({ text }) => text.length,
    mostLoads: MOST_LOADS,
    mostWaiting: MOST_WAITING,
    load(name) {
      const [accountId, tag] = JSON.parse(name) as [number, string | null];
      return compute(accountId, tag);
    },
  });

  return async (accountId, tag) => {
    const scrape = await scrapes.get(JSON.stringify([accountId, tag]));
    if (scrape === null) throw new Error("a scrape was not computed");
    return scrape;
  };
}

/** Characters that become octets at a time: a text in many parts is copied when it is used as a whole. */
const JOINED = 65_536;

/** Joins the parts of a text. Other work runs between them. */
async function join(parts: Iterable<string>, yielder: Yielder): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let text = "";
  for (const part of parts) {
    text += part;
    if (text.length >= JOINED) {
      pieces.push(Buffer.from(text));
      text = "";
    }
    if (yielder.isDue()) await yielder.rest();
  }
  return Buffer.concat([...pieces, Buffer.from(text)]);
}
