import { describe, expect, it } from "vitest";
import { insertMonitor } from "#test/control-plane/outages/incidents/database.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { planMaintenance } from "#test/support/dashboard-world.ts";
import { signInOwner } from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));

const plane = await stopAfterAll(startControlPlane({ overrides: { clock } }));
const { browser: owner, accountId } = await signInOwner(plane, "owner@example.com");
const made = await plane.operate("POST", "/api/admin/keys", { account_id: accountId, name: "test" });
const { key } = made.body.data;
const { id: monitorId } = await insertMonitor(plane.app.sql, accountId, "Shop");
clock.advance(6_000);

/** Returns a window as the API shows it. */
async function read(id: number): Promise<Record<string, unknown>> {
  const answer = await fetch(`${plane.url}/api/v4/maintenance?id=${id}`, { headers: { "x-api-key": key } });
  const { data } = (await answer.json()) as { readonly data: Record<string, unknown> };
  return data;
}

/** Returns what the form of a window sends if nobody changes it. */
function fieldsOf(html: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [input] of html.matchAll(/<input [^>]*>/g)) {
    const name = / name="([^"]*)"/.exec(input)?.[1];
    const value = / value="([^"]*)"/.exec(input)?.[1] ?? "";
    if (name === undefined || name === "_csrf") continue;
    if (input.includes('type="checkbox"') && !input.includes(" checked")) continue;
    fields[name] = value;
  }
  for (const [, name = "", options = ""] of html.matchAll(/<select [^>]*name="([^"]*)"[^>]*>(.*?)<\/select>/gs))
    fields[name] = /value="([^"]*)" selected/.exec(options)?.[1] ?? "";
  return fields;
}

describe("the form of maintenance", () => {
  it("plans a window in its time zone, which the API shows and the log of changes names", async () => {
    const id = await planMaintenance(owner, {
      title: "Database updates",
      monitor_ids: [String(monitorId)],
      tags: "database, shop",
      starts: "2026-12-05T02:00",
      lasts: "90",
      unit: "minutes",
      timezone: "Europe/Berlin",
      public: "yes",
    });
    expect(await read(id)).toMatchObject({
      title: "Database updates",
      monitor_ids: [monitorId],
      tags: ["database", "shop"],
      starts_at: "2026-12-05T01:00:00.000Z",
      ends_at: "2026-12-05T02:30:00.000Z",
      rrule: null,
      timezone: "Europe/Berlin",
      public: true,
      status: "scheduled",
    });
    const page = await owner.get(`/app/maintenance/${id}`);
    expect(page.html).toContain("Database updates");
    expect(page.html).toContain("Planned");
    expect(page.html).toContain(`/app/monitors/${monitorId}`);
    const changes = await owner.get("/app/changes");
    expect(changes.html).toContain("Database updates");
  });

  it("repeats every week on the day of its start, and shows the next five starts", async () => {
    const id = await planMaintenance(owner, {
      monitor_ids: [String(monitorId)],
      starts: "2026-12-05T02:00",
      repeats: "weekly",
    });
    expect(await read(id)).toMatchObject({ rrule: "FREQ=WEEKLY", duration_seconds: 7_200 });
    const { html } = await owner.get(`/app/maintenance/${id}`);
    for (const day of ["5 Dec", "12 Dec", "19 Dec", "26 Dec", "2 Jan"]) expect(html).toContain(`${day} 02:00</time>`);
    expect(html).not.toContain("9 Jan");
  });

  it("takes a rule, and says what is wrong with one", async () => {
    const fields = { monitor_ids: [String(monitorId)], repeats: "custom" };
    const id = await planMaintenance(owner, { ...fields, rule: "freq=monthly;byday=1su" });
    expect(await read(id)).toMatchObject({ rrule: "FREQ=MONTHLY;BYDAY=1SU" });
    const when = { starts: "2031-01-04T02:00", lasts: "2", unit: "hours", timezone: "UTC" };
    const wrong = await owner.post("/app/maintenance/new", {
      title: "Updates",
      ...when,
      ...fields,
      rule: "FREQ=HOURLY",
    });
    expect(wrong.status).toBe(400);
    expect(wrong.html).toMatch(/id="p-rule">FREQ must be/);
    expect(wrong.html).toContain('value="FREQ=HOURLY"');
  });

  it.each([
    ["starts", { starts: "" }, "Choose a day and a time."],
    ["starts", { starts: "tomorrow" }, ""],
    ["lasts", { lasts: "soon" }, "Must be from 1 minute to 30 days."],
    ["lasts", { lasts: "31", unit: "days" }, "Must be from 1 minute to 30 days."],
    ["lasts", { starts: "2025-01-01T00:00" }, "The window is over already."],
    ["timezone", { timezone: "Europe/Atlantis" }, "Must be the name of a time zone"],
    ["monitor_ids", { monitor_ids: [] }, "Give the id of at least one monitor, or a tag"],
    ["monitor_ids", { monitor_ids: ["999999"] }, "You have no monitor with the id 999999"],
    ["tags", { tags: "Not*A*Tag" }, "Must be 1 to 50 of the characters"],
    ["title", { title: "" }, ""],
  ])("says beside %s what is wrong with %o, and keeps what was typed", async (input, fields, words) => {
    const answer = await owner.post("/app/maintenance/new", {
      title: "Kept title",
      monitor_ids: [String(monitorId)],
      starts: "2031-01-04T02:00",
      lasts: "2",
      unit: "hours",
      repeats: "once",
      timezone: "UTC",
      ...fields,
    });
    expect(answer.status).toBe(400);
    expect(answer.html).toContain(`id="p-${input}">${words}`);
    if (input !== "title") expect(answer.html).toContain('value="Kept title"');
  });

  it("saves a window that nobody has changed as it was, to the millisecond and in the second hour of an autumn night", async () => {
    const answer = await fetch(`${plane.url}/api/v4/maintenance`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({
        title: "Second hour",
        monitor_ids: [monitorId],
        starts_at: "2027-10-31T01:30:07.125Z",
        duration_seconds: 4_001,
        timezone: "Europe/Berlin",
      }),
    });
    const { data: before } = (await answer.json()) as { readonly data: { readonly id: number } };
    const { html } = await owner.get(`/app/maintenance/${before.id}/edit`);
    const saved = await owner.post(`/app/maintenance/${before.id}/edit`, fieldsOf(html));
    expect([saved.status, saved.location]).toEqual([303, `/app/maintenance/${before.id}?done=window_saved`]);
    expect({ ...(await read(before.id)), updated_at: null }).toEqual({ ...before, updated_at: null });
  });

  it("moves a window and keeps how long it lasts", async () => {
    const id = await planMaintenance(owner, { monitor_ids: [String(monitorId)] });
    const { html } = await owner.get(`/app/maintenance/${id}/edit`);
    await owner.post(`/app/maintenance/${id}/edit`, { ...fieldsOf(html), starts: "2031-02-01T10:00" });
    expect(await read(id)).toMatchObject({
      starts_at: "2031-02-01T10:00:00.000Z",
      ends_at: "2031-02-01T12:00:00.000Z",
    });
  });
});

describe("a maintenance window", () => {
  it("is ended, planned again if it can be, and deleted after a question", async () => {
    const id = await planMaintenance(owner, { title: "Short one", monitor_ids: [String(monitorId)] });
    expect((await owner.post(`/app/maintenance/${id}/cancel`, {})).location).toBe(
      `/app/maintenance/${id}?done=window_cancelled`,
    );
    expect(await read(id)).toMatchObject({ status: "cancelled" });
    expect((await owner.get("/app/maintenance?show=cancelled")).html).toContain("Short one");
    expect((await owner.get("/app/maintenance")).html).not.toContain("Short one");
    await owner.post(`/app/maintenance/${id}/restore`, {});
    expect(await read(id)).toMatchObject({ status: "scheduled" });
    const question = await owner.get(`/app/maintenance/${id}/delete`);
    expect(question.html).toContain("Short one");
    expect((await owner.post(`/app/maintenance/${id}/delete`, {})).location).toBe(
      "/app/maintenance?done=window_deleted",
    );
    expect((await owner.get(`/app/maintenance/${id}`)).status).toBe(404);
  });

  it("is in progress from its start, is listed first, and can be ended", async () => {
    const id = await planMaintenance(owner, {
      title: "Now",
      monitor_ids: [String(monitorId)],
      starts: "2026-11-27T19:00",
    });
    const { html } = await owner.get("/app/maintenance");
    expect(/id="w-(\d+)"/.exec(html)?.[1]).toBe(String(id));
    expect(html).toContain("In progress");
    expect((await owner.get(`/app/maintenance/${id}`)).html).toContain("End now");
  });

  it("is on the page of each monitor that it covers, by its name or by a tag", async () => {
    await plane.app.sql`update monitors set tags = '{shop}' where id = ${monitorId}`;
    const start = { starts: "2026-11-27T19:00", lasts: "30", unit: "days" };
    await planMaintenance(owner, { title: "By its tag", tags: "shop", ...start });
    await planMaintenance(owner, { title: "By another tag", tags: "office", ...start });
    const { html } = await owner.get(`/app/monitors/${monitorId}`);
    expect(html).toContain("By its tag");
    expect(html).not.toContain("By another tag");
  });

  it("has a form that opens with the monitor of the page that led to it", async () => {
    const monitor = await owner.get(`/app/monitors/${monitorId}`);
    expect(monitor.html).toContain(`/app/maintenance/new?monitor=${monitorId}`);
    const { html } = await owner.get(`/app/maintenance/new?monitor=${monitorId}`);
    expect(html).toMatch(new RegExp(`name="monitor_ids" value="${monitorId}" checked`));
  });

  it("lists those that are over by pages", async () => {
    await plane.app.sql`
      with old as (insert into maintenance (account_id, title, starts_at, duration_seconds, timezone, is_public, cancelled_at,
        planned_until, created_at, updated_at)
      select ${accountId}, 'Old ' || n, now(), 60, 'UTC', false, now(), now(), now(), now() from generate_series(1, 60) n
        returning id)
      insert into maintenance_scopes (maintenance_id, monitor_ids, tags)
      select id, '{}', '{shop}' from old`;
    const first = await owner.get("/app/maintenance?show=cancelled");
    expect(first.html).toContain("/app/maintenance?show=cancelled&amp;page=2");
    const second = await owner.get("/app/maintenance?show=cancelled&page=2");
    expect(second.html).toContain('rel="prev"');
    expect(second.html).not.toContain('rel="next"');
    expect(second.html).toContain(">Old 1<");
    expect((await owner.get("/app/maintenance?show=cancelled&page=99999")).status).toBe(200);
  });
});
