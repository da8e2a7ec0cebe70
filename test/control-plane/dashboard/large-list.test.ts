import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rollUpHours } from "#control-plane/history/roll-up/hours.ts";
import { createOverviews } from "#control-plane/dashboard/monitors/overviews.ts";
import { readOverview } from "#control-plane/monitors/overview.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { COOKIE, signInOwner, type Browser } from "#test/support/dashboard.ts";
import { repeat } from "#test/support/history.ts";
import { askWire } from "#test/support/raw-http.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";

const MONITORS = 1_000;
/** Octets of the first view, as sent. */
const MOST_OCTETS = 100 * 1_024;
const VIEWS = 20;

const clock = createManualClock(new Date());
let plane: TestControlPlane;
let owner: Browser;
let accountId: number;

beforeAll(async () => {
  // Its monitors are due, but nothing checks them in the middle of a test.
  plane = await startControlPlane({ overrides: { clock } });
  ({ accountId } = await createWatchedAccount(plane, plane.app.sql, MONITORS));
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
  ({ browser: owner } = await signInOwner(plane, "owner@example.com", { accountId }));
});

afterAll(() => plane.stop());

const view = (path: string) =>
  askWire(`${plane.url}${path}`, { cookie: `${COOKIE}=${owner.cookie}`, "accept-encoding": "gzip" });

describe(`the list of ${MONITORS} monitors`, () => {
  it(`has a first view of at most ${MOST_OCTETS / 1_024} KB, and the rest on demand`, async () => {
    const first = await view("/app/monitors");
    const html = gunzipSync(first.body).toString();
    expect([first.status, first.headers["content-encoding"]]).toEqual([200, "gzip"]);
    expect(html.match(/<li id="m-/g)).toHaveLength(100);
    expect(html).toContain(`/app/monitors?rows=${MONITORS}`);
    expect(first.body.length).toBeLessThan(MOST_OCTETS);
    const all = gunzipSync((await view(`/app/monitors?rows=${MONITORS}`)).body).toString();
    expect(all.match(/<li id="m-/g)).toHaveLength(MONITORS);
  });

  it(`is read once for ${VIEWS} views at the same time, and again when the account has changed`, async () => {
    const { sql } = plane.app;
    const reads = { lists: 0, strips: 0 };
    let newest = 1;
    const overviews = createOverviews({
      clock,
      monitors: {
        overview(id) {
          reads.lists += 1;
          return readOverview(sql, id, clock.now());
        },
      },
      history: {
        halfHours() {
          reads.strips += 1;
          return Promise.resolve(new Map());
        },
      },
      changes: { newest: () => Promise.resolve(newest) },
    });
    const open = async () => {
      const monitors = await overviews.of(accountId);
      await overviews.stripsOf(
        accountId,
        monitors.slice(0, 100).map(({ id }) => id),
      );
      return monitors.length;
    };
    const views = await Promise.all(Array.from({ length: VIEWS }, open));
    expect(views).toEqual(Array.from({ length: VIEWS }, () => MONITORS));
    expect(reads).toEqual({ lists: 1, strips: 1 });
    newest = 2;
    await open();
    expect(reads).toEqual({ lists: 2, strips: 1 });
    clock.advance(60_000);
    await open();
    expect(reads).toEqual({ lists: 3, strips: 2 });
  });
});
