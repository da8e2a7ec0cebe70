import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { fieldsOfForm, joinAccount, signInOwner, type Browser } from "#test/support/dashboard.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";

const HOSTILE = `<script>alert("1")</script>`;
const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));
let plane: TestControlPlane;
let owner: Browser;
let viewer: Browser;
let stranger: Browser;
let accountId: number;
let id: number;
let other: number;

beforeAll(async () => {
  plane = await startControlPlane({ overrides: { clock } });
  const account = await createWatchedAccount(plane, plane.app.sql, 2);
  ({ accountId } = account);
  [id = 0, other = 0] = account.ids;
  const { sql } = plane.app;
  // Nothing is checked: states and checks stay as they are set here.
  await sql`delete from monitor_slots`;
  await sql`update monitors set created_at = ${new Date("2026-11-20T00:00:00Z")}`;
  await sql`update monitors set name = ${HOSTILE} where id = ${id}`;
  ({ browser: owner } = await signInOwner(plane, "owner@example.com", { accountId }));
  ({ browser: stranger } = await signInOwner(plane, "stranger@example.com"));
  viewer = await joinAccount(plane, accountId, "viewer");
});

afterAll(() => plane?.stop());

/** Expects that a page is there for members, viewers included, that nobody else finds it, and that names are escaped. */
async function expectShown(path: string): Promise<string> {
  const page = await owner.get(path);
  expect([page.status, page.html.includes("<script>alert")], page.html).toEqual([200, false]);
  const seen = await viewer.get(path);
  expect(seen.status).toBe(200);
  expect(seen.html.replace(/<form method="post" action="\/sign-out">.*?<\/form>/s, "")).not.toMatch(/method="post"/);
  expect((await stranger.get(path)).status).toBe(404);
  return page.html;
}

describe("the log of checks", () => {
  it("has fifty rows and goes on by its links, filtered by its address", async () => {
    await plane.app.sql`
      insert into checks (monitor_id, checked_at, location, status, response_ms, http_status, lag_ms, is_recheck, missed, fault)
      select ${id}, ${clock.now()}::timestamptz - n * interval '1 minute', case when n % 2 = 0 then 'eu' else 'us' end,
        case when n = 3 then 2 else 1 end, n, case when n = 3 then 503 else 200 end, 0, false, 0,
        case when n = 3 then '{"stage":"response","source":"target","reason":"unexpected_status","message":"503"}' end
      from generate_series(1, 120) as n`;
    const path = `/app/monitors/${id}/checks`;
    const html = await expectShown(path);
    expect(html.match(/<tr><td>/g)).toHaveLength(50);
    const older = /rel="next" href="([^"]*)"/.exec(html)?.[1] ?? "";
    const second = await owner.get(older.replaceAll("&amp;", "&"));
    expect(second.html).toContain(">51 ms<");
    expect(second.html).toMatch(/rel="prev"/);
    const down = await owner.get(`${path}?verdict=down&location=us`);
    expect(down.html.match(/<tr><td>/g)).toHaveLength(1);
    // How long the page of the error took is no response time.
    expect(down.html).toMatch(
      /<td class="number"[^>]*><\/td>\s*<td class="number" data-label="HTTP">503<\/td>\s*<td[^>]*>Unexpected HTTP status<\/td>/,
    );
    expect(down.html).toMatch(/<tr><td[^>]*><time [^>]*>27 Nov 19:57:00</);
    expect(down.html).toMatch(/<option value="us" selected>/);
    expect(down.html).toMatch(/<option value="down" selected>/);
    const none = await owner.get(`${path}?verdict=down&location=${encodeURIComponent(HOSTILE)}`);
    expect([none.html.includes("No check matches."), none.html.includes("<script>alert")]).toEqual([true, false]);
    expect(none.html).toContain("Search further back");
    expect((await owner.get(`${path}?before=nonsense&verdict=odd`)).status).toBe(200);
  });

  it("is linked from the page of the monitor, which shows the newest twenty", async () => {
    const html = await expectShown(`/app/monitors/${id}`);
    expect(html).toContain(`href="/app/monitors/${id}/checks"`);
    expect(html.match(/<tr><td><time/g)).toHaveLength(20);
    expect((await owner.get(`/app/monitors/${other}/checks`)).html).toContain("Checks of");
    for (const odd of ["x", "0", "-1", "9999999999999999"])
      expect((await owner.get(`/app/monitors/${odd}/checks`)).status).toBe(404);
  });
});

describe("a check that somebody has asked for", () => {
  const storeCheck = (location: string, status: 1 | 2, code: number) => plane.app.sql`
    insert into checks (monitor_id, checked_at, location, status, response_ms, http_status, lag_ms, is_recheck, missed, fault)
    values (${other}, ${clock.now()}, ${location}, ${status}, 41, ${code}, 0, false, 0, ${
      status === 1 ? null : '{"stage":"response","source":"target","reason":"unexpected_status","message":"503"}'
    })`;

  it("is on its way until its result is there, which a page that is loaded again shows, too", async () => {
    await storeCheck("eu-west", 1, 200);
    clock.advance(1_000);
    const { location } = await owner.post(`/app/monitors/${other}/run`);
    const path = location ?? "";
    const waiting = await owner.get(path);
    expect(waiting.html).toContain("The check is on its way.");
    expect(waiting.html).toContain('data-live="1"');
    await storeCheck("eu-west", 1, 200);
    clock.advance(2_000);
    const first = await owner.get(path);
    expect(first.html).toMatch(/<p class="note good flash" role="status">Checked 2 s ago: 200 in 41 ms<\/p>/);
    expect(first.html).not.toContain("The check is on its way");
    // The other locations are still awaited.
    expect(first.html).toContain('data-live="1"');
    await storeCheck("us-east", 2, 503);
    await storeCheck("ap-south", 1, 200);
    const all = await owner.get(path);
    expect(all.html).toContain(
      "Checked 0 s ago: 503 in 41 ms from us-east, unexpected HTTP status; 200 in 41 ms from eu-west; 200 in 41 ms from ap-south<",
    );
    expect(all.html).toMatch(/<p class="note bad flash"/);
    expect(all.html).toContain('data-live="10"');
  });

  it("is asked for each second for 15 s, then as rarely as the rest of the page", async () => {
    clock.advance(10_000);
    const path = (await owner.post(`/app/monitors/${other}/run`)).location ?? "";
    clock.advance(15_000);
    const late = await owner.get(path);
    expect(late.html).toContain("The check is on its way.");
    expect(late.html).toContain('data-live="10"');
    for (const odd of ["x", "-1", "999999999999999"])
      expect((await owner.get(`/app/monitors/${other}?asked=${odd}`)).html).not.toContain("The check is");
  });
});

describe("what is known of a monitor", () => {
  it("says what each location found, with words of strangers escaped, while one fails", async () => {
    const at = clock.now().getTime() - 600_000;
    const state = {
      status: "down",
      locations: [
        ["eu-west", "up", at, 3, at],
        ["us-east", "down", at, 2, at, ["response", "target", "unexpected_status", HOSTILE]],
      ],
    };
    await plane.app.sql`update monitor_states set state = ${JSON.stringify(state)} where monitor_id = ${id}`;
    const html = await expectShown(`/app/monitors/${id}`);
    const table = html.split("<h2>Locations</h2>")[1]?.split("</section>")[0] ?? "";
    expect(table.indexOf("us-east")).toBeLessThan(table.indexOf("eu-west"));
    expect(table).toContain("10 min ago");
    expect(table).toContain("&lt;script&gt;");
    expect((await owner.get(`/app/monitors/${other}`)).html).not.toContain("<h2>Locations</h2>");
  });

  it("says at its top what is wrong, since when, and who gets notifications", async () => {
    const at = clock.now().getTime() - 90_000;
    const fault = ["response", "target", "unexpected_status", `expected 200, got ${HOSTILE}`];
    const state = { status: "down", changed: at, locations: [["us-east", "down", at, 2, at, fault]] };
    await plane.app.sql`update monitor_states set state = ${JSON.stringify(state)} where monitor_id = ${id}`;
    const html = await expectShown(`/app/monitors/${id}`);
    const top = html.slice(html.indexOf("<h1>"));
    expect(top).toContain("<b>Expected 200, got &lt;script&gt;");
    expect(top).toMatch(/<dt>Down for<\/dt><dd><time [^>]*title="27 Nov 19:58 2026, UTC">1 min 30 s</);
    expect(top).toMatch(/<dt>Notifications go to<\/dt><dd><a [^>]*href="#told">Nobody/);
    // A location alone has nothing to add.
    expect(html).not.toContain("<h2>Locations</h2>");
  });

  it("names its settings as the form does, and links the monitors that it depends on", async () => {
    await plane.app.sql`update monitors set depends_on = ${id} where id = ${other}`;
    const html = await expectShown(`/app/monitors/${other}`);
    const settings = html.split("<summary>Settings</summary>")[1] ?? "";
    expect(settings).toContain('<th scope="row">Check every (minutes)</th><td class="lines">1</td>');
    expect(settings).toMatch(
      new RegExp(`Depends on monitor</th><td class="lines"><a href="/app/monitors/${id}">&lt;script`),
    );
    expect(settings).toContain("Follow redirects");
  });

  it("shows the pictures of a visual monitor to the members of its account alone", async () => {
    const { sql } = plane.app;
    const visual = {
      viewport: { width: 800, height: 600 },
      full_page: false,
      wait_ms: 0,
      threshold_percent: 1,
      ignore: [],
    };
    await sql`
      update monitors set check_type = 'visual',
        settings = (settings::jsonb || ${JSON.stringify({ visual })}::text::jsonb)::text where id = ${other}`;
    await sql`insert into visual_states (monitor_id, basis) values (${other}, '')`;
    const [picture] = await sql<{ id: number }[]>`
      insert into pictures (monitor_id, kind, taken_at, sha256, width, height, size, content)
      values (${other}, 'taken', ${clock.now()}, decode(repeat('ab', 32), 'hex'), 1, 1, 3, decode('010203', 'hex'))
      returning id`;
    await sql`
      update visual_states set latest_id = ${picture?.id ?? 0}, latest_at = ${clock.now()}, latest_ratio = 4.5
      where monitor_id = ${other}`;
    const path = `/app/monitors/${other}/pictures/${picture?.id ?? 0}`;
    const html = await expectShown(`/app/monitors/${other}`);
    expect(html).toContain(`src="${path}"`);
    expect(html).toContain("4.5 % differ");
    const image = await viewer.get(path);
    expect([image.status, image.headers.get("content-type")]).toEqual([200, "image/png"]);
    // The browser asks again, and is answered no more after the session: a copy is of no use to the next member.
    expect(image.headers.get("cache-control")).toBe("private, no-cache");
    const again = { "if-none-match": image.headers.get("etag") ?? "" };
    expect([(await viewer.get(path, again)).status, (await stranger.get(path, again)).status]).toEqual([304, 404]);
    expect((await stranger.get(path)).status).toBe(404);
    expect((await fetch(`${plane.url}${path}`, { redirect: "manual" })).status).toBe(303);
    expect((await owner.get(`/app/monitors/${id}/pictures/${picture?.id ?? 0}`)).status).toBe(404);
    expect((await viewer.post(`/app/monitors/${other}/accept`)).status).toBe(403);
    expect((await owner.post(`/app/monitors/${other}/accept`)).location).toBe(`/app/monitors/${other}?done=accepted`);
    expect((await owner.get(`/app/monitors/${other}`)).html).not.toContain("Accept the newest");
  });
});

describe("the uptime of a monitor", () => {
  const uptimesOf = (html: string) =>
    Object.fromEntries(
      Array.from(html.matchAll(/<span>([^<]*) <b>([^<]*)<\/b><\/span>/g), ([, range, value]) => [range, value]),
    );

  it("says since when it is known, and has a dash for a range that holds no more than the shorter one", async () => {
    const made = await createWatchedAccount(plane, plane.app.sql, 1);
    const [young = 0] = made.ids;
    const { browser } = await signInOwner(plane, "young@example.com", { accountId: made.accountId });
    const none = "\u2013";
    for (const [days, expected] of [
      [0.01, { "24 hours": "100.00 %", "7 days": none, "30 days": none, "90 days": none }],
      [2, { "24 hours": "100.00 %", "7 days": "100.00 %", "30 days": none, "90 days": none }],
      [8, { "24 hours": "100.00 %", "7 days": "100.00 %", "30 days": "100.00 %", "90 days": none }],
      [91, { "24 hours": "100.00 %", "7 days": "100.00 %", "30 days": "100.00 %", "90 days": "100.00 %" }],
    ] as const) {
      const createdAt = new Date(clock.now().getTime() - days * 86_400_000);
      await plane.app.sql`update monitors set created_at = ${createdAt} where id = ${young}`;
      await plane.app.sql`delete from monitor_status_changes where monitor_id = ${young}`;
      await plane.app.sql`
        insert into monitor_status_changes (monitor_id, at, status) values (${young}, ${createdAt}, 1)`;
      const { html } = await browser.get(`/app/monitors/${young}`);
      expect([days, uptimesOf(html)]).toEqual([days, expected]);
      expect([days, /<dt>Uptime since /.test(html)]).toEqual([days, days < 1]);
      expect([days, /<p class="faint">Uptime since /.test(html)]).toEqual([days, days < 90]);
    }
  });
});

describe("the mute of a monitor", () => {
  it("is a maintenance window for it alone, which is shown while it runs and ended there", async () => {
    const path = `/app/monitors/${id}`;
    expect((await viewer.post(`${path}/mute`, { minutes: "30" })).status).toBe(403);
    expect((await stranger.post(`${path}/mute`, { minutes: "30" })).status).toBe(404);
    expect((await owner.post(`${path}/mute`, { minutes: "120" })).location).toBe(`${path}?done=muted`);
    const html = await expectShown(path);
    expect(html).toMatch(/Maintenance until <time datetime="2026-11-27T22:0/);
    const window = /name="window" value="(\d+)"/.exec(html)?.[1] ?? "";
    expect((await stranger.post(`${path}/unmute`, { window })).status).toBe(404);
    expect((await owner.post(`/app/monitors/${other}/unmute`, { window })).status).toBe(404);
    expect((await owner.post(`${path}/unmute`, { window })).location).toBe(`${path}?done=unmuted`);
    expect(await expectShown(path)).not.toContain("Maintenance until");
  });

  it("ends when a member says, in the time zone of the member", async () => {
    const path = `/app/monitors/${id}`;
    await owner.post("/app/profile/time-zone", { timezone: "Asia/Kathmandu" });
    expect((await owner.post(`${path}/mute`, { until: "2026-11-28 06:00" })).status).toBe(303);
    expect((await owner.get(path)).html).toContain('<time datetime="2026-11-28T00:15:00.000Z"');
  });

  it.each([
    ["yesterday", "Must be a "],
    ["2026-02-31 10:00", "Names a day or time that does not exist."],
    ["2020-01-01 00:00", "Must be a time that is 1 minute to 30 days from now."],
    ["2027-11-28 06:00", "Must be a time that is 1 minute to 30 days from now."],
    ["", "Must be "],
    [HOSTILE, "Must be "],
  ])("that ends at %s is refused beside its field, where what was typed stays", async (until, problem) => {
    const path = `/app/monitors/${other}`;
    const refused = await owner.post(`${path}/mute`, { until });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain('<details class="part" id="mute" open>');
    expect(/id="p-until" role="alert">([^<]*)/.exec(refused.html)?.[1]).toMatch(new RegExp(`^${problem}`));
    expect(refused.html).toMatch(/aria-describedby="h-until p-until" aria-invalid="true"/);
    expect(fieldsOfForm(refused.html, `${path}/mute`)["until"]).toBe(until);
    expect(refused.html).not.toContain("<script>alert");
    // The answer stays: the address of a form is no page that could be loaded again.
    expect(refused.html).not.toContain("data-live");
    expect((await owner.get(path)).html).not.toMatch(/Maintenance until|p-until/);
  });
});
