import { createLeastRecent } from "#control-plane/core/least-recent.ts";
import type { Clock } from "#shared/time/clock.ts";
import { renderBars, toStrip, type Strip } from "#control-plane/core/charts/bars.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { type Html } from "#control-plane/core/pages/html.ts";
import type { History } from "#control-plane/outages/history/history.ts";
import { createYielder, type Yielder } from "#control-plane/core/yielder.ts";
import type { ListedMonitor } from "#control-plane/monitors/overview.ts";

/** How long strips are used at most, milliseconds. Their steps are half an hour long. */
const KEPT_MS = 60_000;
const MOST_STRIPS = 20_000;
/** Views whose strips wait to be read; the next ones have rows without strips, or with old ones. */
const MOST_WAITING = 100;

/** Strips of the last 24 hours of monitors by id, read together by one load. */
type Read = ReadonlyMap<number, Strip>;

/** A monitor's strip, or the load that reads it. */
interface Kept {
  readonly until: number;
  readonly read: Promise<Read>;
}

/** Strips that views of any number of rows share. */
interface Strips {
  /** Returns strips of monitors of an account by id; those that too many views wait for are missing or old. */
  of(accountId: number, ids: readonly number[]): Promise<Read>;
}

/** Creates the strips of one replica. */
export function createStrips({
  clock,
  history,
  monitorsOf,
}: {
  readonly clock: Pick<Clock, "monotonic">;
  readonly history: Pick<History, "halfHours">;
  readonly monitorsOf: (accountId: number) => Promise<readonly ListedMonitor[]>;
}): Strips {
  const kept = createLeastRecent<string, Kept>(MOST_STRIPS);
  const keyOf = (accountId: number, id: number) => `${accountId} ${id}`;
  let lastLoad: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function load(accountId: number, ids: ReadonlySet<number>): Promise<Read> {
    const monitors = (await monitorsOf(accountId)).filter(({ id }) => ids.has(id));
    const steps = await history.halfHours(monitors);
    const read = new Map<number, Strip>();
    const yielder = createYielder(clock);
    for (const [id, halfHours] of steps) {
      if (yielder.isDue()) await yielder.rest();
      read.set(id, toStrip("24 hours", "minute", halfHours));
    }
    return read;
  }

  /** Reads strips after those that others wait for, so that one connection at most is taken. */
  function loadInTurn(accountId: number, ids: readonly number[]): Promise<Read> {
    waiting += 1;
    const read = lastLoad.then(() => load(accountId, new Set(ids))).finally(() => (waiting -= 1));
    lastLoad = read.catch(() => {
      for (const id of ids) kept.delete(keyOf(accountId, id));
    });
    return read;
  }

  return {
    async of(accountId, ids) {
      const now = clock.monotonic();
      const missing = ids.filter((id) => (kept.get(keyOf(accountId, id))?.until ?? now) <= now);
      if (missing.length > 0 && waiting < MOST_WAITING) {
        // All end at the same times: rows that were read one after the other are read again together.
        const until = (Math.floor(now / KEPT_MS) + 1) * KEPT_MS;
        const read = loadInTurn(accountId, missing);
        for (const id of missing) kept.set(keyOf(accountId, id), { until, read });
      }
      const reads = ids.map((id) => kept.get(keyOf(accountId, id))?.read);
      const found = new Map<Promise<Read>, Read>();
      for (const read of new Set(reads)) if (read !== undefined) found.set(read, await read);
      return new Map(
        ids.flatMap((id, index) => {
          const read = reads[index];
          const strip = read === undefined ? undefined : found.get(read)?.get(id);
          return strip === undefined ? [] : [[id, strip] as const];
        }),
      );
    },
  };
}

/** Markup of strips, each written once for those who look at it in the same time zone. */
const written = new WeakMap<Strip, { readonly zone: string; readonly bars: Html }>();

/** Renders strips by the ids of their monitors. */
export async function renderStrips(
  strips: ReadonlyMap<number, Strip>,
  viewer: ViewerTime,
  yielder: Yielder,
): Promise<ReadonlyMap<number, Html>> {
  const rendered = new Map<number, Html>();
  for (const [id, strip] of strips) {
    if (yielder.isDue()) await yielder.rest();
    rendered.set(id, renderStrip(strip, viewer));
  }
  return rendered;
}

function renderStrip(strip: Strip, viewer: ViewerTime): Html {
  const known = written.get(strip);
  if (known?.zone === viewer.zone.name) return known.bars;
  const bars = renderBars(strip, viewer);
  written.set(strip, { zone: viewer.zone.name, bars });
  return bars;
}
