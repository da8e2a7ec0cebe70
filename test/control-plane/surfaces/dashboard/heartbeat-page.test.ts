import { beforeAll, describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createManualClock } from "#test/support/clock.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { brokenOutOf } from "#test/support/dashboard-world.ts";
import { until } from "#test/support/until.ts";
import { createAccountKey, joinAccount, signInOwner, type DashboardAnswer } from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const HOSTILE = `</pre><script>alert(1)</script>`;
const clock = createManualClock(new Date());

const plane = await stopAfterAll(startControlPlane({ overrides: { clock } }));
const signedIn = await signInOwner(plane);
const owner = signedIn.browser;
const key = await createAccountKey(plane, signedIn.accountId);
const viewer = await joinAccount(plane, signedIn.accountId, "viewer");
const nightly = { cron: "30 2 * * *", timezone: "Europe/Berlin", grace_seconds: 600 };
const made = await createMonitor(plane, key, { check_type: "heartbeat", name: "Backup", heartbeat: nightly });
const id = made.id;
const url = made.heartbeat_url;
const composite = {
  monitor_ids: [id, (await createMonitor(plane, key, { check_type: "heartbeat", name: "Second" })).id],
  down_when: "any",
};
/** A composite. */
const other = (await createMonitor(plane, key, { check_type: "composite", name: "Both", composite })).id;

/** Sends a ping to the address, at this control plane. */
const ping = (
  address: string,
  tail: string,
  { body, agent = "test" }: { readonly body: string; readonly agent?: string },
) =>
  fetch(`${plane.url}${new URL(address).pathname}${tail}`, {
    method: "POST",
    body,
    headers: { "content-type": "text/plain", "user-agent": agent },
  });

/** The pings of a page. */
const rowsOf = (html: string) => /<ul class="pings">(.*?)<\/ul>/s.exec(html)?.[1]?.match(/<li>.*?<\/li>/gs) ?? [];

/** The text of markup. */
const textOf = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"');

it("the page of a heartbeat has its address and the line for a crontab, for those who may change it", async () => {
  const page = await owner.get(`/app/monitors/${id}`);
  expect(page.html).toContain(`readonly value="${url}"`);
  expect(page.html).toContain(`30 2 * * * /path/to/job; curl`);
  expect(
    page.html
      .split("<h2>Next runs</h2>")[1]
      ?.split("</section>")[0]
      ?.match(/<time /g),
  ).toHaveLength(5);
  const seen = await viewer.get(`/app/monitors/${id}`);
  expect([seen.status, seen.html.includes(new URL(url).pathname), seen.html.includes("curl")]).toEqual([
    200,
    false,
    false,
  ]);
  expect((await viewer.get(`/app/monitors/${id}/rotate`)).status).toBe(403);
});

it("the page shows the newest pings with what they sent, escaped, to viewers too", async () => {
  expect((await owner.get(`/app/monitors/${id}`)).html).toContain("No ping has come yet.");
  const body = `${HOSTILE}\nsecond line ${HOSTILE}`;
  expect((await ping(url, "/3?rid=<b>night", { body, agent: `curl ${HOSTILE}` })).status).toBe(200);
  const log = (await viewer.get(`/app/monitors/${id}`)).html.split("<h2>Newest pings</h2>")[1] ?? "";
  const [row = ""] = rowsOf(log);
  expect(row).toContain('<span class="badge bad">Failure</span> exit code 3');
  const texts = textOf(row);
  expect(texts).toContain(`run <b>night, 127.0.0.1, POST, curl ${HOSTILE}`);
  expect(texts).toContain(`${body.length} characters`);
  expect(texts).toContain(body);
  expect(brokenOutOf(log)).toEqual([]);
});

it("the page says what pings have come, which run is open and when the next ping is late", async () => {
  const heartbeat = { cron: "0 0 1 1 *", timezone: "UTC", grace_seconds: 7_200 };
  const path = "/app/monitors/new";
  const typed = {
    check_type: "heartbeat",
    name: "Yearly",
    "heartbeat.cron": heartbeat.cron,
    "heartbeat.grace_seconds": "7200",
    "heartbeat.methods": "any",
  };
  const created = await owner.post(path, { ...typed, do: "save" });
  const shown = async () => textOf((await owner.get(created.location ?? "")).html);
  expect(await shown()).toContain("It waits for the first ping.");
  expect(await shown()).toContain("Last pingnone yet");
  const { html } = await owner.get(created.location ?? "");
  const address = /id="ping-url"[^>]*value="([^"]*)"/.exec(html)?.[1] ?? "";
  await ping(address, "/0", { body: "" });
  await until(async () => (await shown()).includes("Up"), "the success");
  const year = clock.now().getUTCFullYear() + 1;
  expect(await shown()).toMatch(new RegExp(`Last ping\\d+ s ago.*Late without a ping at\\w{3} 1 Jan ${year} 02:00`));
  await ping(address, "/start", { body: "" });
  expect(await shown()).toMatch(/Run started\d+ s ago/);
  // The run does not end within its grace time.
  clock.advance(7_201_000);
  expect(await shown()).toMatch(/Run started2 h ago.*Late since/);
  await ping(address, "/fail", { body: "" });
  await until(async () => (await shown()).includes("The run reported a failure"), "the failure");
  expect(await shown()).not.toMatch(/Run started|Late since|Late without a ping/);
});

describe("the log of pings", () => {
  let heartbeat: { readonly id: number; readonly heartbeat_url: string };
  const show = (query = "") => viewer.get(`/app/monitors/${heartbeat.id}/pings${query}`);
  /** The page to which a link of a page leads. */
  const follow = async ({ html }: DashboardAnswer, label: string): Promise<DashboardAnswer> => {
    const path = new RegExp(`href="([^"]*)">${label}</a>`).exec(html)?.[1]?.replaceAll("&amp;", "&");
    if (path === undefined) throw new Error(`no link ${label}`);
    return viewer.get(path);
  };
  const bodiesOf = ({ html }: DashboardAnswer) => rowsOf(html).map((row) => textOf(row).match(/body \d+/)?.[0]);
  const bodies = (from: number, to: number, step = 1) =>
    Array.from({ length: Math.floor((from - to) / step) + 1 }, (_, index) => `body ${from - index * step}`);

  beforeAll(async () => {
    heartbeat = await createMonitor(plane, key, { check_type: "heartbeat", name: HOSTILE });
    // Of more than 30 in a minute from one address the bodies are not kept.
    const tails = ["/start", "/0", "/fail", "/log", "/7"];
    for (let number = 1; number <= 120; number += 1) {
      const tail = tails[number % tails.length] ?? "";
      // oxlint-disable-next-line no-await-in-loop -- their order is tested
      const { status } = await ping(heartbeat.heartbeat_url, tail, { body: `body ${number}` });
      if (status !== 200) throw new Error(`ping ${number} answered ${status}`);
      clock.advance(3_000);
    }
  });

  it("has the 100 newest, page by page, older and newer", async () => {
    const first = await show();
    expect(bodiesOf(first)).toEqual(bodies(120, 96));
    expect(first.html).not.toContain(">Newer<");
    const second = await follow(first, "Older");
    expect(bodiesOf(second)).toEqual(bodies(95, 71));
    const third = await follow(second, "Older");
    const last = await follow(third, "Older");
    expect(bodiesOf(last)).toEqual(bodies(45, 21));
    expect(last.html).not.toContain(">Older<");
    expect(bodiesOf(await follow(last, "Newer"))).toEqual(bodies(70, 46));
    expect(bodiesOf(await follow(second, "Newer"))).toEqual(bodies(120, 96));
    expect(bodiesOf(await follow(last, "Newest"))).toEqual(bodies(120, 96));
  });

  it.each([
    ["success", 116, "Success"],
    ["fail", 119, "Failure"],
    ["start", 120, "Start"],
    ["log", 118, "Log"],
  ])("has those that say %s, exit codes included, over all its pages", async (result, newest, word) => {
    const first = await show(`?result=${result}`);
    expect(first.html).toContain(`<option value="${result}" selected>`);
    const shown = [...rowsOf(first.html)];
    if (result === "fail") {
      const second = await follow(first, "Older");
      shown.push(...rowsOf(second.html));
      expect(bodiesOf(await follow(second, "Newer"))).toEqual(bodiesOf(first));
      expect(second.html).not.toContain(">Older<");
    } else expect(first.html).not.toContain(">Older<");
    expect(shown).toHaveLength(result === "fail" ? 40 : 20);
    expect(shown.every((row) => row.includes(`>${word}</span>`))).toBe(true);
    expect(bodiesOf(first)[0]).toBe(`body ${newest}`);
  });

  it("shows all for an address that it does not know, and nothing beyond its ends", async () => {
    for (const query of ["?result=odd&before=x&after=1e3", "?before=-1", "?before=1&before=2"])
      // oxlint-disable-next-line no-await-in-loop -- one view after the other
      expect([query, bodiesOf(await show(query)).length]).toEqual([query, 25]);
    const beyond = await show("?before=1");
    expect(beyond.html).toContain("No ping matches.");
    expect(bodiesOf(await follow(beyond, "Newer"))).toEqual(bodies(45, 21));
    const ahead = await show("?after=999999999999999");
    expect(ahead.status).toBe(200);
    expect(brokenOutOf(ahead.html)).toEqual([]);
  });

  it("is that of an own heartbeat: others, and other kinds, have none", async () => {
    const { browser: stranger } = await signInOwner(plane, "other@example.com");
    expect((await stranger.get(`/app/monitors/${heartbeat.id}/pings`)).status).toBe(404);
    expect((await owner.get(`/app/monitors/${other}/pings`)).status).toBe(404);
    expect((await owner.get("/app/monitors/x/pings")).status).toBe(404);
  });

  it("leaves the API the 20 newest", async () => {
    const { body } = await plane.call(`/api/v4/monitors?id=${heartbeat.id}`, { key });
    const { pings } = (body.data as { heartbeat: { pings: readonly { body: string }[] } }).heartbeat;
    expect(pings.map((one) => one.body)).toEqual(bodies(120, 101));
  });
});

it("what is no heartbeat has no address that could be replaced", async () => {
  const path = `/app/monitors/${other}/rotate`;
  expect([(await owner.get(path)).status, (await owner.post(path)).status]).toEqual([404, 404]);
});

it("the address is replaced after a question, and the old one does nothing any more", async () => {
  const question = await owner.get(`/app/monitors/${id}/rotate`);
  expect([question.status, question.html.includes("Replace the address?")]).toEqual([200, true]);
  const rotated = await owner.post(`/app/monitors/${id}/rotate`);
  expect([rotated.status, rotated.location]).toEqual([303, `/app/monitors/${id}?done=rotated#address`]);
  const page = await owner.get(`/app/monitors/${id}`);
  expect(page.html).not.toContain(url);
  expect(page.html).toContain('id="ping-url"');
  const { browser: stranger } = await signInOwner(plane, "stranger@example.com");
  for (const path of [`/app/monitors/${id}/rotate`, `/app/monitors/${id + 99}/rotate`])
    expect([(await stranger.get(path)).status, (await stranger.post(path)).status]).toEqual([404, 404]);
});
