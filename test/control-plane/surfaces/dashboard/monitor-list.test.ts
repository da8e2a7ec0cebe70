import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { signInOwner, type Browser } from "#test/support/dashboard.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { encodeState } from "#control-plane/outages/state/encoding.ts";
import { NEW_STATE, type LocationState, type MonitorState } from "#control-plane/outages/state/state.ts";

const HOSTILE = `<script>alert("1")</script>`;
const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));
let plane: TestControlPlane;
let owner: Browser;
let ids: readonly number[];

beforeAll(async () => {
  plane = await startControlPlane({ overrides: { clock } });
  const account = await createWatchedAccount(plane, plane.app.sql, 120);
  ({ ids } = account);
  ({ browser: owner } = await signInOwner(plane, "owner@example.com", { accountId: account.accountId }));
  const [first = 0, second = 0, third = 0] = ids;
  const { sql } = plane.app;
  // Nothing is checked: the states stay as they are set here.
  await sql`delete from monitor_slots`;
  await sql`update monitors set name = 'monitor ' || id, is_active = true`;
  await sql`update monitors set name = ${HOSTILE}, tags = '{shop,pay}' where id = ${first}`;
  await sql`update monitors set is_active = false where id = ${second}`;
  await setStatus(first, "down");
  await setStatus(third, "up");
});

afterAll(() => plane?.stop());

async function setStatus(id: number, status: string): Promise<void> {
  const { sql } = plane.app;
  const [row] = await sql<{ state: string }[]>`select state from monitor_states where monitor_id = ${id}`;
  const state = JSON.stringify({ ...(JSON.parse(row?.state ?? "{}") as object), status });
  await sql`update monitor_states set state = ${state} where monitor_id = ${id}`;
}

async function setState(id: number, state: MonitorState): Promise<void> {
  await plane.app.sql`update monitor_states set state = ${encodeState(state)} where monitor_id = ${id}`;
}

/** The ids of the rows of the list at this address, in order. */
async function rowsAt(path: string): Promise<readonly number[]> {
  const { html, status } = await owner.get(path);
  expect(status).toBe(200);
  return Array.from(html.matchAll(/<li id="m-(\d+)"/g), ([, id]) => Number(id));
}

describe("the list of monitors", () => {
  it("shows what is down first, with the number of them in the title, and escapes names", async () => {
    const { html } = await owner.get("/app/monitors");
    expect(html).toContain("<title>(1) Monitors - Vantage</title>");
    expect((await rowsAt("/app/monitors"))[0]).toBe(ids[0]);
    expect(html).not.toContain("<script>alert");
    expect(html).toContain("&lt;script&gt;alert(&quot;1&quot;)");
  });

  it("has 100 rows, and the rest by a link", async () => {
    const { html } = await owner.get("/app/monitors");
    expect(await rowsAt("/app/monitors")).toHaveLength(100);
    const more = /href="([^"]*)" data-more/.exec(html)?.[1]?.replaceAll("&amp;", "&") ?? "";
    expect(await rowsAt(more)).toHaveLength(120);
  });

  it("is filtered and sorted by its address", async () => {
    const [first = 0, second = 0, third = 0] = ids;
    expect(await rowsAt("/app/monitors?state=down")).toEqual([first]);
    expect(await rowsAt("/app/monitors?state=failing")).toEqual([first]);
    expect(await rowsAt("/app/monitors?state=paused")).toEqual([second]);
    expect(await rowsAt("/app/monitors?state=up")).toEqual([third]);
    expect(await rowsAt("/app/monitors?tag=pay")).toEqual([first]);
    expect(await rowsAt(`/app/monitors?q=${encodeURIComponent("ALERT(")}`)).toEqual([first]);
    // Each word by itself, wherever it is.
    expect(await rowsAt("/app/monitors?q=pay+%20alert")).toEqual([first]);
    expect(await rowsAt("/app/monitors?q=pay+nothing")).toEqual([]);
    expect(await rowsAt("/app/monitors?kind=heartbeat")).toEqual([]);
    expect((await rowsAt("/app/monitors?sort=newest"))[0]).toBe(ids.at(-1));
    expect((await rowsAt("/app/monitors?sort=newest&state=nonsense&rows=x&kind=1"))[0]).toBe(ids.at(-1));
    const { html } = await owner.get("/app/monitors?state=down&sort=name&q=al");
    expect(html).toContain('value="al"');
    expect(html).toMatch(/<option value="down" selected>/);
    expect(html).toMatch(/<option value="name" selected>/);
  });

  it("counts one monitor as one", async () => {
    const [first = 0] = ids;
    expect((await owner.get("/app/monitors?state=down")).html).toMatch(/>1 monitor\s/);
    expect((await owner.get(`/app/monitors/bulk?state=down`)).html).toContain("<p>1 monitor. ");
    expect((await owner.get(`/app/monitors?q=${first}x`)).html).not.toContain("1 monitors");
  });

  it("has the state of a muted monitor as its page has it, with the mute beside it", async () => {
    const muted = ids[9] ?? 0;
    await setStatus(muted, "down");
    await owner.post(`/app/monitors/${muted}/mute`, { minutes: "30" });
    clock.advance(5_001);
    const { html } = await owner.get("/app/monitors?state=muted");
    expect(await rowsAt("/app/monitors?state=muted")).toEqual([muted]);
    const row = html.slice(html.indexOf(`<li id="m-${muted}"`));
    expect(row).toMatch(/^<li [^>]*><span class="badge bad">Down<\/span>.*?<span class="badge">Muted<\/span>/s);
    expect(html).toContain("<title>(1) Monitors - Vantage</title>");
    const page = (await owner.get(`/app/monitors/${muted}`)).html;
    expect(page).toContain('<span class="badge large bad">Down</span> <span class="badge large">Muted</span>');
    // It comes after what alerts somebody.
    expect((await rowsAt("/app/monitors"))[0]).toBe(ids[0]);
    await setStatus(muted, "up");
    clock.advance(5_001);
    expect((await owner.get(`/app/monitors/${muted}`)).html).toContain('<span class="badge large good">Up</span>');
  });

  it("reads the monitors once for all who look within 5 s, and anew after a change of a member", async () => {
    await owner.get("/app/monitors");
    const { sql } = plane.app;
    const [, , third = 0, fourth = 0] = ids;
    await setStatus(fourth, "down");
    expect(await rowsAt("/app/monitors?state=down")).toEqual([ids[0]]);
    clock.advance(5_001);
    expect(await rowsAt("/app/monitors?state=down")).toEqual([ids[0], fourth]);
    await setStatus(third, "down");
    expect(await rowsAt("/app/monitors?state=down")).toHaveLength(2);
    expect((await owner.post(`/app/monitors/${fourth}/pause`)).status).toBe(303);
    expect(await rowsAt("/app/monitors?state=down")).toEqual([ids[0], third]);
    await sql`update monitors set is_active = true where id = ${fourth}`;
  });

  it("says of a degraded monitor why it is so: first tries that fail, or a location beside it, or slow answers", async () => {
    const [unsteady = 0, partial = 0, slow = 0] = ids.slice(4);
    const at = clock.now().getTime();
    const fault = { stage: "connect", source: "target", reason: "refused", message: "<b>refused" } as const;
    const good = { verdict: "up", at, streak: 9, since: at, fault: null } as const;
    const bad = { ...good, verdict: "down", fault } as const;
    const degraded = { ...NEW_STATE, status: "up", isDegraded: true } as const;
    const tries = { ...good, softState: { failed: 4, since: at, fault } };
    await setState(unsteady, { ...degraded, unsteady: ["eu-a"], locations: new Map([["eu-a", tries]]) });
    const locations = new Map<string, LocationState>([
      ["eu-a", bad],
      ["us-a", good],
    ]);
    await setState(partial, { ...degraded, failing: ["eu-a"], locations });
    await setState(slow, degraded);
    clock.advance(5_001);
    const { html } = await owner.get("/app/monitors?state=degraded");
    const causes = Array.from(
      html.matchAll(/<li id="m-(\d+)".*?<p><span class="warn">(.*?)<\/span>/gs),
      ([, id, cause]) => [Number(id), cause],
    );
    expect(Object.fromEntries(causes)).toEqual({
      [unsteady]: expect.stringMatching(/^The first try fails each time in eu-a, \d times in a row: &lt;b&gt;refused$/),
      [partial]: "The check fails in eu-a only: &lt;b&gt;refused",
      [slow]: "It answers, but more slowly than its limit.",
    });
  });

  it("says to an account without monitors how to begin", async () => {
    const { browser } = await signInOwner(plane, "new@example.com");
    const { html } = await browser.get("/app/monitors");
    expect(html).toContain("No monitors yet");
    expect(html).toContain("<title>Monitors - Vantage</title>");
    expect((await browser.get("/app/monitors?state=down")).html).not.toContain("m-");
  });
});
