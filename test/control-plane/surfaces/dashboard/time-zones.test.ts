import { describe, expect, it } from "vitest";
import { toLocalTimes } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createAccount, openBrowser, PASSWORD, startPath } from "#test/support/dashboard.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane());

/** Starts an account in a browser of a time zone, which its script has written into the form. */
async function start(email: string, timezone: string, accountId?: number) {
  const browser = openBrowser(plane);
  const path = await startPath(plane, accountId ?? (await createAccount(plane)));
  expect((await browser.get(path)).html).toContain('<input type="hidden" name="timezone" data-zone>');
  expect((await browser.post(path, { email, password: PASSWORD, timezone })).status).toBe(303);
  return browser;
}

/** The zone that a page names, each time that it does. */
const zonesOf = (html: string) => Array.from(html.matchAll(/Times are in <a [^>]*>([^<]*)</g), ([, name]) => name);

describe("the time zone of a user who has chosen none", () => {
  it("is that of the browser at the start, and stays that one in other browsers", async () => {
    const browser = await start("berlin@example.com", "Europe/Berlin");
    for (const path of ["/app/monitors", "/app/incidents", "/app/maintenance", "/app/changes", "/app/profile"])
      expect([path, zonesOf((await browser.get(path)).html)]).toEqual([path, ["Europe/Berlin"]]);
    const other = openBrowser(plane);
    await other.post("/sign-in", { email: "berlin@example.com", password: PASSWORD, timezone: "Asia/Tokyo" });
    expect(zonesOf((await other.get("/app/monitors")).html)).toEqual(["Europe/Berlin"]);
  });

  it("is that of the browser at a sign-in; without a script, and for what is no zone, it is UTC", async () => {
    const browser = await start("odd@example.com", `Mars/"<b>`);
    expect(zonesOf((await browser.get("/app/monitors")).html)).toEqual(["UTC"]);
    const signIn = { email: "odd@example.com", password: PASSWORD };
    await browser.post("/sign-in", signIn);
    expect(zonesOf((await browser.get("/app/monitors")).html)).toEqual(["UTC"]);
    await browser.post("/sign-in", { ...signIn, timezone: "Asia/Kolkata" });
    expect(zonesOf((await browser.get("/app/monitors")).html)).toEqual(["Asia/Kolkata"]);
  });

  it("is chosen from a list, and UTC stays the zone of who has chosen it", async () => {
    const browser = await start("utc@example.com", "Europe/Berlin");
    const list = (await browser.get("/app/profile")).html;
    expect(list).toMatch(/<select id="f-timezone" name="timezone">/);
    expect(list).toContain('<option value="Europe/Berlin" selected>Europe/Berlin</option>');
    const utc = /<option value="([^"]*)">UTC<\/option>/.exec(list)?.[1] ?? "";
    expect((await browser.post("/app/profile/time-zone", { timezone: utc })).status).toBe(303);
    await browser.post("/sign-in", { email: "utc@example.com", password: PASSWORD, timezone: "Europe/Berlin" });
    const page = await browser.get("/app/profile");
    expect(zonesOf(page.html)).toEqual(["UTC"]);
    expect(page.html).toContain(`<option value="${utc}" selected>UTC</option>`);
  });
});

describe("an incident", () => {
  it("has its times and those of our own texts in one zone; what people write stays as it is", async () => {
    const { sql } = plane.app;
    const { accountId, ids } = await createWatchedAccount(plane, sql, 1);
    const browser = await start("nepal@example.com", "Asia/Kathmandu", accountId);
    const at = new Date("2026-11-27T20:14:30Z");
    const message = "no ping arrived by 2026-11-27 20:14:30 UTC";
    const [incident] = await sql<{ id: number }[]>`
      insert into incidents (account_id, monitor_id, monitor_name, monitor_url, check_type, monitor_ids, page_ids, title,
        status, impact, is_public, started_at, confirmed_at, cause_code, cause_message, locations, entry_count)
      values (${accountId}, ${ids[0] ?? 0}, 'Backup', '', 'heartbeat', ${[...ids]}::bigint[], '{}', 'Backup is down',
        'investigating', 'major', false, ${at}, ${at}, 'heartbeat_late', ${message}, '[]', 2)
      returning id`;
    await sql`
      insert into incident_entries (incident_id, occurred_at, kind, author, text, is_public)
      values
        (${incident?.id ?? 0}, ${at}, 'detail', null, 'Changed since the good check at 2026-11-27 20:14 UTC: status 200', false),
        (${incident?.id ?? 0}, ${at}, 'note', 'me@example.com', 'seen at 2026-11-27 20:14 UTC', false)`;
    const { html } = await browser.get(`/app/incidents/${incident?.id}`);
    expect(html).toContain("no ping arrived by 2026-11-28 01:59:30");
    expect(html).toContain("Since 2026-11-28 01:59:30");
    expect(html).toContain("Changed since the good check at 2026-11-28 01:59: status 200");
    expect(html).toContain("seen at 2026-11-27 20:14 UTC (me@example.com)");
    expect(html.match(/ UTC/g)).toHaveLength(1);
  });
});

it.each([
  ["late since 2026-11-27 20:14:05 UTC", "late since 2026-11-28 01:59:05"],
  [
    "since the good check at 2026-11-27 20:14 UTC (records: since the check at 19:10)",
    "since the good check at 2026-11-28 01:59 (records: since the check at 2026-11-28 00:55)",
  ],
  ["the check at 19:10", "the check at 19:10"],
  ["9999-99-99 99:99 UTC", "9999-99-99 99:99 UTC"],
])("a text of ours with %j is %j in Nepal", (text, local) => {
  expect(toLocalTimes(text, "Asia/Kathmandu")).toBe(local);
});
