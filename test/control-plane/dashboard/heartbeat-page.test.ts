import { afterAll, beforeAll, expect, it } from "vitest";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { createAccountKey, joinAccount, signInOwner, type Browser } from "#test/support/dashboard.ts";
import { until } from "#test/support/until.ts";

const HOSTILE = `</pre><script>alert(1)</script>`;
let plane: TestControlPlane;
let owner: Browser;
let viewer: Browser;
let key: string;
let id: number;
let url: string;

beforeAll(async () => {
  plane = await startControlPlane();
  const signedIn = await signInOwner(plane);
  owner = signedIn.browser;
  key = await createAccountKey(plane, signedIn.accountId);
  viewer = await joinAccount(plane, signedIn.accountId, "viewer");
  const heartbeat = { cron: "30 2 * * *", timezone: "Europe/Berlin", grace_seconds: 600 };
  const made = await createMonitor(plane, key, { check_type: "heartbeat", name: "Backup", heartbeat });
  id = made.id;
  url = made.heartbeat_url;
});

afterAll(() => plane?.stop());

/** Sends a ping to the address, at this control plane. */
const ping = (address: string, body: string) =>
  fetch(`${plane.url}${new URL(address).pathname}/3`, {
    method: "POST",
    body,
    headers: { "content-type": "text/plain" },
  });

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
  expect((await ping(url, HOSTILE)).status).toBe(200);
  const shown = async () => (await viewer.get(`/app/monitors/${id}`)).html;
  await until(async () => (await shown()).includes("<h2>Newest pings</h2><div"), "the ping");
  const log = (await shown()).split("<h2>Newest pings</h2>")[1] ?? "";
  expect(log).toContain('<td class="number">3</td>');
  expect(log).toContain(`<summary>${HOSTILE.length} characters</summary>`);
  expect(log).not.toContain("<script>alert");
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
