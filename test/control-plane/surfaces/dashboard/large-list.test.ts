import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { rollUpHours } from "#control-plane/outages/history/roll-up/hours.ts";
import { createOverviews, type Overviews } from "#control-plane/surfaces/dashboard/monitors/overviews.ts";
import { readOverview } from "#control-plane/monitors/overview.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { COOKIE, signInOwner } from "#test/support/dashboard.ts";
import { repeat } from "#test/support/history.ts";
import { askWire } from "#test/support/raw-http.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const MONITORS = 1_000;
/** Octets of the first view, as sent. */
const MOST_OCTETS = 100 * 1_024;
const VIEWS = 20;
const FIRST_ROWS = 100;

const clock = createManualClock(new Date());

// Its monitors are due, but nothing checks them in the middle of a test.
const plane = await stopAfterAll(startControlPlane({ overrides: { clock } }));
const { accountId } = await createWatchedAccount(plane, plane.app.sql, MONITORS);
// Texts that do not compress, and a day of checks of which some fail.
await plane.app.sql`
  update monitors set name = md5(id::text), url = 'https://' || md5(name) || '.example.com/', created_at = now() - interval '9 days'
  where account_id = ${accountId}`;
await plane.app.sql`
  insert into checks (monitor_id, checked_at, location, status, response_ms, http_status, lag_ms, is_recheck, missed)
  select id, ${clock.now()}::timestamptz - half * interval '30 minutes', 'eu-west', 1 + (id + half * half) % 7 / 6, 50, 200, 0,
    false, 0
  from monitors, generate_series(0, 47) as half where account_id = ${accountId}`;
await repeat(() => rollUpHours(plane.app.sql, clock.now(), MONITORS));
const { browser: owner } = await signInOwner(plane, "owner@example.com", { accountId });

const view = (path: string) =>
  askWire(`${plane.url}${path}`, { cookie: `${COOKIE}=${owner.cookie}`, "accept-encoding": "gzip" });

describe(`the list of ${MONITORS} monitors`, () => {
  it(`has a first view of at most ${MOST_OCTETS / 1_024} KB, and the rest on demand`, async () => {
    const first = await view("/app/monitors");
    const html = gunzipSync(first.body).toString();
    expect([first.status, first.headers["content-encoding"]]).toEqual([200, "gzip"]);
    expect(html.match(/<li id="m-/g)).toHaveLength(100);
    expect(first.body.length).toBeLessThan(MOST_OCTETS);
    const all = gunzipSync((await view(`/app/monitors?rows=${MONITORS}`)).body).toString();
    expect(all.match(/<li id="m-/g)).toHaveLength(MONITORS);
  });

  it("is reached by its links alone, 100 rows at a time, each link at the last row that was there", async () => {
    let path: string | undefined = "/app/monitors?q=example";
    let shown: string[] = [];
    for (let pages = 1; path !== undefined; pages += 1) {
      const html: string = gunzipSync((await view(path)).body).toString();
      const ids = Array.from(html.matchAll(/<li id="(m-\d+)"/g), ([, id]) => id ?? "");
      expect(ids).toHaveLength(pages * FIRST_ROWS);
      expect(ids.slice(0, shown.length)).toEqual(shown);
      shown = ids;
      const [, more, last]: readonly (string | undefined)[] = /<a href="([^"#]*)#([^"]*)" data-more>/.exec(html) ?? [];
      if (more !== undefined) expect(last).toBe(ids.at(-1));
      path = more?.replaceAll("&amp;", "&");
    }
    expect(new Set(shown).size).toBe(MONITORS);
  });

  it("keeps rows in an open view that are not among the first any more, if they still match", async () => {
    const idsIn = async (path: string, rows: string) => {
      const { html } = await owner.get(path, { "x-view": "live", "x-rows": rows });
      return Array.from(html.matchAll(/<li id="(m-\d+)"/g), ([, id]) => id ?? "");
    };
    const all = await idsIn(`/app/monitors?rows=${MONITORS}`, "");
    const last = all.slice(-2);
    expect(await idsIn("/app/monitors", [...last, all[0], "m-0", "m-x", "<b>"].join())).toEqual([
      ...all.slice(0, FIRST_ROWS),
      ...last,
    ]);
    expect(await idsIn("/app/monitors?state=down", last.join())).toEqual([]);
    expect(await idsIn("/app/monitors", all.join())).toHaveLength(200);
  });

  it(`is read once for ${VIEWS} views at the same time, and again when the account has changed`, async () => {
    const { overviews, reads, change } = countReads();
    const open = () => openList(overviews, FIRST_ROWS);
    const views = await Promise.all(Array.from({ length: VIEWS }, open));
    expect(views).toEqual(Array.from({ length: VIEWS }, () => MONITORS));
    expect(reads).toMatchObject({ lists: 1, strips: [FIRST_ROWS] });
    change();
    await open();
    expect(reads).toMatchObject({ lists: 2, strips: [FIRST_ROWS] });
    clock.advance(60_000);
    await open();
    expect(reads).toMatchObject({ lists: 3, strips: [FIRST_ROWS, FIRST_ROWS] });
  });

  it(`is read once for ${VIEWS} views with different numbers of loaded rows, each row once`, async () => {
    const { overviews, reads } = countReads();
    const tabs = Array.from({ length: VIEWS }, (_, index) => FIRST_ROWS * (1 + (index % 10)));
    await Promise.all(tabs.map((rows) => openList(overviews, rows)));
    expect(reads.lists).toBe(1);
    expect(reads.strips.reduce((sum, count) => sum + count, 0)).toBe(MONITORS);
    await Promise.all(tabs.map((rows) => openList(overviews, rows)));
    expect(reads.strips).toHaveLength(10);
    // Rows that were loaded one after the other are read again together.
    clock.advance(60_000);
    await openList(overviews, MONITORS);
    await Promise.all(tabs.map((rows) => openList(overviews, rows)));
    expect(reads.lists).toBe(2);
    expect(reads.strips.slice(10)).toEqual([MONITORS]);
  });

  it(`is refreshed in ${VIEWS} open tabs without a statement for each`, async () => {
    const { overviews, reads } = countReads();
    await openList(overviews, FIRST_ROWS);
    clock.advance(6_000);
    const before = reads.changes;
    await Promise.all(Array.from({ length: VIEWS }, () => openList(overviews, FIRST_ROWS, { isRefresh: true })));
    expect(reads).toMatchObject({ lists: 2, strips: [FIRST_ROWS] });
    // The one that reads the list.
    expect(reads.changes - before).toBe(1);
  });

  it("is read again after a reading that failed", async () => {
    let isAway = true;
    const { overviews, reads } = countReads(() => {
      if (isAway) throw new Error("the database is away");
    });
    await expect(openList(overviews, FIRST_ROWS)).rejects.toThrow("the database is away");
    isAway = false;
    await openList(overviews, FIRST_ROWS);
    expect(reads.strips).toEqual([FIRST_ROWS]);
  });
});

/** Creates overviews that note how often lists are read, and of how many monitors strips are read each time. */
function countReads(before: () => void = () => {}) {
  const reads = { lists: 0, strips: [] as number[], changes: 0 };
  let newest = 1;
  const overviews = createOverviews({
    clock,
    monitors: {
      overview(id) {
        reads.lists += 1;
        return readOverview(plane.app.sql, id, clock.now());
      },
    },
    history: {
      async halfHours(monitors) {
        before();
        reads.strips.push(monitors.length);
        return new Map();
      },
    },
    changes: {
      async newest() {
        reads.changes += 1;
        return newest;
      },
    },
  });
  return { overviews, reads, change: () => (newest += 1) };
}

/** Reads what a list of so many rows shows; returns the number of all monitors. */
async function openList(overviews: Overviews, rows: number, { isRefresh = false } = {}): Promise<number> {
  const monitors = await overviews.of(accountId, { isRefresh });
  await overviews.stripsOf(
    accountId,
    monitors.slice(0, rows).map(({ id }) => id),
  );
  return monitors.length;
}
