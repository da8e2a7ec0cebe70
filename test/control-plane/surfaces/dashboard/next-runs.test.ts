import { describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createManualClock } from "#test/support/clock.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { createAccountKey, fieldsOfForm, signInOwner } from "#test/support/dashboard.ts";
import { brokenOutOf, HOSTILE_TEXT } from "#test/support/dashboard-world.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const NOW = new Date("2026-11-28T00:00:00Z");
const PREVIEW = /<div aria-live="polite">(.*?)<\/div>/s;

const plane = await stopAfterAll(startControlPlane({ overrides: { clock: createManualClock(NOW) } }));
const signedIn = await signInOwner(plane);
const owner = signedIn.browser;
const key = await createAccountKey(plane, signedIn.accountId);

/** Asks for the next runs of what a form has in its fields. */
async function preview(fields: Readonly<Record<string, string>>) {
  const { status, html } = await owner.get(`/app/monitors/next-runs?${new URLSearchParams(fields).toString()}`);
  return { status, html, runs: runsIn(html) };
}

/** The lines of a list, without markup. */
const runsIn = (html: string) =>
  Array.from(html.matchAll(/<li>(.*?)<\/li>/g), ([, line = ""]) =>
    line.replaceAll(/<[^>]*>/g, "").replace("&#32;", " "),
  );

/** What the API says against a schedule. */
async function refusalOf(heartbeat: object): Promise<string> {
  const { body } = await plane.call("/api/v4/monitors?action=try", {
    key,
    method: "POST",
    body: JSON.stringify({ check_type: "heartbeat", heartbeat }),
    headers: { "content-type": "application/json" },
  });
  return (body.error as { message: string }).message;
}

const schedule = (cron: string, timezone = "", grace = "") => ({
  "heartbeat.cron": cron,
  "heartbeat.timezone": timezone,
  "heartbeat.grace_seconds": grace,
});

describe("the next runs of a schedule that is typed", () => {
  it("are five, in the zone of the member, with the zone of the schedule where it is another", async () => {
    const { runs, html } = await preview(schedule("30 2 * * sat,sun", "Europe/Berlin", "600"));
    expect(runs).toEqual([
      "Sat 28 Nov 01:30 (Sat 28 Nov 02:30 in Europe/Berlin)",
      "Sun 29 Nov 01:30 (Sun 29 Nov 02:30 in Europe/Berlin)",
      "Sat 5 Dec 01:30 (Sat 5 Dec 02:30 in Europe/Berlin)",
      "Sun 6 Dec 01:30 (Sun 6 Dec 02:30 in Europe/Berlin)",
      "Sat 12 Dec 01:30 (Sat 12 Dec 02:30 in Europe/Berlin)",
    ]);
    expect(html).toContain("Times are in your zone, UTC. A run is late 10 min after its time.");
    expect((await preview(schedule("@yearly"))).runs.slice(0, 2)).toEqual([
      "Fri 1 Jan 2027 00:00",
      "Sat 1 Jan 2028 00:00",
    ]);
  });

  it("are in the zone that the member has chosen", async () => {
    expect((await owner.post("/app/profile/time-zone", { timezone: "Asia/Kolkata" })).status).toBe(303);
    const { runs } = await preview(schedule("0 0 * * *", "utc"));
    expect(runs[0]).toBe("Sun 29 Nov 05:30 (Sun 29 Nov 00:00 in utc)");
    expect((await preview(schedule("0 0 * * *", "asia/kolkata"))).runs[0]).toBe("Sun 29 Nov 00:00");
    expect((await owner.post("/app/profile/time-zone", { timezone: "UTC" })).status).toBe(303);
  });

  it("are a sentence for a period, with the defaults of what is empty", async () => {
    const none = await preview({});
    expect(none.runs).toEqual([]);
    expect(none.html).toContain("is due within 5 min, and late 1 min after that.");
    const { html } = await preview({ "heartbeat.period_seconds": "3600", "heartbeat.grace_seconds": "90" });
    expect(html).toContain("is due within 1 h, and late 1 min 30 s after that.");
  });

  it.each([
    ["30 2 * *", "UTC", "Schedule"],
    ["0 0 30 2 *", "UTC", "Schedule"],
    [`<b>"x"</b> * * * *`, "UTC", "Schedule"],
    ["x".repeat(201), "UTC", "Schedule"],
    ["@reboot", "UTC", "Schedule"],
    ["0 0 * * *", "Mars/Olympus", "Time zone of the schedule"],
    ["0 0 * * *", "y".repeat(65), "Time zone of the schedule"],
  ])("of %s in %s are the sentence with which the API refuses it", async (cron, timezone, label) => {
    const refusal = await refusalOf({ cron, timezone });
    const { status, html, runs } = await preview(schedule(cron, timezone));
    expect([status, runs]).toEqual([200, []]);
    const shown = html
      .replaceAll(/<[^>]*>/g, "")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"');
    expect(shown).toBe(refusal.replace(/^heartbeat\.[a-z]+/, label));
  });

  it("of a number that is none are the sentence of the API too", async () => {
    const { html } = await preview(schedule("0 0 * * *", "UTC", "soon"));
    const refusal = await refusalOf({ cron: "0 0 * * *", grace_seconds: "soon" });
    expect(html).toContain(refusal.replace("heartbeat.grace_seconds", "Grace (seconds)"));
  });

  it("escape what is typed, and are in no cache, whatever the address has", async () => {
    for (const name of ["heartbeat.cron", "heartbeat.timezone", "heartbeat.grace_seconds"]) {
      // oxlint-disable-next-line no-await-in-loop -- a session has one view after the other
      const { status, html } = await preview({ "heartbeat.cron": "0 0 * * *", [name]: HOSTILE_TEXT });
      expect([status, brokenOutOf(html)]).toEqual([200, []]);
      expect(html).not.toContain("<script");
    }
    const long = await owner.get(`/app/monitors/next-runs?heartbeat.cron=${"*".repeat(8_000)}`);
    expect([long.status, long.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(long.headers.get("content-security-policy")).toContain("default-src 'none'");
    const twice = await owner.get("/app/monitors/next-runs?heartbeat.cron=a&heartbeat.cron=b");
    expect(twice.status).toBe(200);
  });
});

describe("the form of a heartbeat without scripts", () => {
  const path = "/app/monitors/new";

  it("shows the next runs when asked, creates nothing, and keeps what was typed", async () => {
    const fields = fieldsOfForm((await owner.get(`${path}?kind=heartbeat`)).html, path);
    const typed = { ...fields, ...schedule("15 6 * * 1", "UTC", "120"), name: "Weekly" };
    const shown = await owner.post(path, { ...typed, do: "runs" });
    expect(shown.status).toBe(200);
    expect(runsIn(PREVIEW.exec(shown.html)?.[1] ?? "")[0]).toBe("Mon 30 Nov 06:15");
    expect(fieldsOfForm(shown.html, path)).toMatchObject(typed);
    const { body } = await plane.call("/api/v4/monitors", { key });
    expect(body.data).toEqual([]);
  });

  it("says beside its field what is wrong with a schedule, when asked and when saved", async () => {
    for (const action of ["runs", "save"]) {
      // oxlint-disable-next-line no-await-in-loop -- one form after the other
      const refused = await owner.post(path, { check_type: "heartbeat", ...schedule("61 * * * *"), do: action });
      expect(refused.status).toBe(400);
      expect(refused.html).toContain(`id="p-heartbeat-cron">The minute field has &quot;61&quot;;`);
      expect(PREVIEW.exec(refused.html)?.[1]).toBe("");
    }
  });

  it("shows the next runs of a monitor, and when another field is refused", async () => {
    const heartbeat = { cron: "0 4 * * *", timezone: "UTC", grace_seconds: 60 };
    const { id } = await createMonitor(plane, key, { check_type: "heartbeat", name: "Backup", heartbeat });
    const edit = `/app/monitors/${id}/edit`;
    const page = await owner.get(edit);
    expect(runsIn(PREVIEW.exec(page.html)?.[1] ?? "")).toHaveLength(5);
    const refused = await owner.post(edit, { ...fieldsOfForm(page.html, edit), repeat_minutes: "often", do: "save" });
    expect(refused.status).toBe(400);
    expect(runsIn(PREVIEW.exec(refused.html)?.[1] ?? "")[0]).toBe("Sat 28 Nov 04:00");
  });

  it("offers the time zones that there are, and keeps one that is none as it was typed", async () => {
    const refused = await owner.post(path, {
      check_type: "heartbeat",
      ...schedule("0 4 * * *", "Mars/Phobos"),
      do: "save",
    });
    for (const { html } of [await owner.get(`${path}?kind=heartbeat`), refused]) {
      expect(html).toMatch(/<input [^>]*name="heartbeat\.timezone"[^>]* list="zones"/);
      expect(html).toMatch(/<datalist id="zones">.*<option value="Europe\/Berlin">/);
    }
    const [input = ""] = /<input [^>]*name="heartbeat\.timezone"[^>]*>/.exec(refused.html) ?? [];
    expect([input.includes('value="Mars/Phobos"'), input.includes('aria-invalid="true"')]).toEqual([true, true]);
  });

  it("gives an emptied field of a monitor that exists its default, as its hint says", async () => {
    const heartbeat = { cron: "0 4 * * *", timezone: "Europe/Berlin", period_seconds: 900, grace_seconds: 600 };
    const { id } = await createMonitor(plane, key, { check_type: "heartbeat", name: "Emptied", heartbeat });
    const edit = `/app/monitors/${id}/edit`;
    const fields = fieldsOfForm((await owner.get(edit)).html, edit);
    const emptied = { ...fields, ...schedule("0 4 * * *"), "heartbeat.period_seconds": "" };
    expect((await owner.post(edit, { ...emptied, do: "save" })).status).toBe(303);
    const { body } = await plane.call(`/api/v4/monitors?id=${id}`, { key });
    expect((body.data as { heartbeat: object }).heartbeat).toMatchObject({
      timezone: "UTC",
      period_seconds: 300,
      grace_seconds: 60,
    });
  });
});
