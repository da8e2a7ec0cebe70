import { tracingChannel } from "node:diagnostics_channel";
import { gunzipSync } from "node:zlib";
import type { FastifyRequest } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rollUpHours } from "#control-plane/history/roll-up/hours.ts";
import { connect } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { COOKIE, signInOwner, type Browser } from "#test/support/dashboard.ts";
import { repeat } from "#test/support/history.ts";
import { askWire } from "#test/support/raw-http.ts";
import { until } from "#test/support/until.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";

const MONITORS = 1_000;
/** Octets of the first view, as sent. */
const MOST_OCTETS = 100 * 1_024;
const VIEWS = 20;

const clock = createManualClock(new Date());
let plane: TestControlPlane;
let owner: Browser;

beforeAll(async () => {
  // Its monitors are due, but nothing checks them in the middle of a test.
  plane = await startControlPlane({ overrides: { clock } });
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
    console.log(`octets of the first view: ${html.length}, compressed ${first.body.length}; of all: ${all.length}`);
  });

  it(`is read once for ${VIEWS} views at the same time`, async () => {
    // What was read before is over.
    clock.advance(60_000);
    let begun = 0;
    const channel = tracingChannel("fastify.request.handler");
    const count = (message: unknown): void => {
      if ((message as { readonly request: FastifyRequest }).request.url === "/app/monitors") begun += 1;
    };
    channel.start.subscribe(count);
    // A connection of its own: readings that wait can hold all of the plane's.
    const sql = connect(plane.databaseUrl, { name: "test list", connections: 2, statementTimeoutMs: 30_000 });
    const readers = async () => {
      const rows = await sql<{ query: string }[]>`
        select query from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%from monitors where account_id = % order by id desc'`;
      return rows.map(({ query }) => query);
    };
    const { views, waiting } = await transact(sql, async (tx) => {
      await tx`lock table monitors in access exclusive mode`;
      const loads = Array.from({ length: VIEWS }, () => view("/app/monitors"));
      await until(() => begun === VIEWS, "all views at the list");
      await until(async () => (await readers()).length > 0, "a reading that waits for the lock");
      return { views: loads, waiting: await readers() };
    });
    channel.start.unsubscribe(count);
    const answers = await Promise.all(views);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: VIEWS }, () => 200));
    await sql.end();
    expect(waiting).toHaveLength(1);
  });
});
