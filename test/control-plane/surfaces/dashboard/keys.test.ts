import { describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import {
  listKeys,
  openBrowser,
  PASSWORD,
  signInOwner,
  type Browser,
  type DashboardAnswer,
} from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));

const plane = await stopAfterAll(startControlPlane({ overrides: { clock } }));
const { browser: owner, accountId } = await signInOwner(plane);

function keyOf({ html }: DashboardAnswer): string {
  return /vtg_\w{36}/.exec(html)?.[0] ?? "no key";
}

const idOf = async (name: string) => (await listKeys(plane, accountId)).find((key) => key.name === name)?.id;

/** Lets a user with this role into the account of the owner. */
async function openMember(role: string): Promise<Browser> {
  const { body } = await plane.operate("POST", "/api/admin/invites", { account_id: accountId, role });
  const browser = openBrowser(plane);
  const path = `/invite/${(body.data as { token: string }).token}`;
  await browser.post(path, { email: `${role}@example.com`, password: PASSWORD });
  return browser;
}

describe("the keys of an account", () => {
  it("are created with a name and scopes, and shown once", async () => {
    const created = await owner.post("/app/keys", { name: "grafana", scopes: ["check", "dns"] });
    expect([created.status, created.html.includes("data-copy")]).toEqual([201, true]);
    const key = keyOf(created);
    const { body } = await plane.call("/api/v4/account", { key });
    expect(body.data).toMatchObject({ id: accountId, scopes: ["check", "dns"], usage: { minute: 1, day: 1 } });
    const page = await owner.get("/app/keys");
    expect(page.html).not.toContain(key);
    expect(page.html).toContain("grafana");
    expect(page.html).toContain(key.slice(0, 8));
    expect(page.html).toContain("check, dns");
    expect(page.html).toContain(`1 of ${plane.app.plans.captain.requestsPerMinute.toLocaleString("en")}`);
  });

  it("have all scopes of the plan if none is chosen", async () => {
    const key = keyOf(await owner.post("/app/keys"));
    const { body } = await plane.call("/api/v4/account", { key });
    expect(body.data).toMatchObject({ scopes: plane.app.plans.captain.scopes });
  });

  it("keep what was typed when they are refused", async () => {
    const hidden = await owner.post("/app/keys", { name: "a\u202Eb", scopes: ["check"] });
    expect([hidden.status, /class="problem" id="p-name"/.test(hidden.html)]).toEqual([400, true]);
    expect(hidden.html).toMatch(/value="check" checked/);
    const long = await owner.post("/app/keys", { name: "n".repeat(101) });
    expect([long.status, long.html.includes("Must have at most 100 characters")]).toEqual([400, true]);
    const unknown = await owner.post("/app/keys", { name: "x", scopes: ["everything"] });
    expect([unknown.status, unknown.html.includes("does not allow everything")]).toEqual([400, true]);
  });

  it("are as many as the plan allows", async () => {
    const { body } = await plane.operate("POST", "/api/admin/keys", { plan: "free" });
    const { browser } = await signInOwner(plane, "free@example.com", {
      accountId: (body.data as { account_id: number }).account_id,
    });
    const statuses: number[] = [];
    for (let index = 1; index < plane.app.plans.free.keys; index += 1)
      statuses.push((await browser.post("/app/keys")).status);
    expect(statuses.filter((status) => status !== 201)).toEqual([]);
    const full = await browser.post("/app/keys", { name: "one more" });
    expect([full.status, full.html.includes("Revoke one first."), full.html.includes('value="one more"')]).toEqual([
      409,
      true,
      true,
    ]);
  });

  it("are revoked after a question, and refused from then on", async () => {
    const key = keyOf(await owner.post("/app/keys", { name: "leaked" }));
    expect((await plane.call("/api/v4/account", { key })).status).toBe(200);
    const id = await idOf("leaked");
    const question = await owner.get(`/app/keys/${id}/revoke`);
    expect([question.status, question.html.includes("Revoke leaked?")]).toEqual([200, true]);
    const revoked = await owner.post(`/app/keys/${id}/revoke`);
    expect([revoked.status, revoked.location]).toEqual([303, "/app/keys?done=key_revoked"]);
    expect((await plane.call("/api/v4/account", { key })).status).toBe(401);
    expect((await owner.post(`/app/keys/${id}/revoke`)).status).toBe(404);
  });

  it("are for owners who gave their password in the last 10 minutes", async () => {
    clock.advance(600_000);
    expect((await owner.get("/app/keys")).location).toBe("/sign-in?next=%2Fapp%2Fkeys");
    expect((await owner.post("/app/keys", { name: "late" })).status).toBe(403);
    expect(await idOf("late")).toBeUndefined();
  });
});

describe("the log of changes", () => {
  it("says who changed what, in the time zone of its reader", async () => {
    await owner.post("/app/profile/time-zone", { timezone: "Asia/Kathmandu" });
    const page = await owner.get("/app/changes");
    expect(page.html).toMatch(/Times are in <a [^>]*>Asia\/Kathmandu</);
    const row = page.html.split("<li>").find((one) => one.includes("API key grafana created")) ?? "";
    expect(row).toContain('datetime="2026-11-27T20:00:00.000Z">2026-11-28 01:45<');
    expect(row).toContain('<div class="when">owner@example.com<');
    expect(page.html).toContain('<div class="when">the operator<');
    expect(page.html).not.toContain("stranger@example.com");
  });

  it("has pages, and is read by viewers too", async () => {
    const changed = [{ field: "<b>name", before: "<i>", after: "b" }];
    const change = { resource: "monitor", id: 7, name: "<u>Shop", action: "changed", changed } as const;
    const set = { accountId, actor: { type: "system" }, address: null } as const;
    await plane.app.changes.record(plane.app.sql, { ...set, changes: Array.from({ length: 60 }, () => change) });
    const viewer = await openMember("viewer");
    const first = await viewer.get("/app/changes");
    expect([first.status, /<[biu]>/.test(first.html), first.html.includes('rel="prev"')]).toEqual([200, false, false]);
    const [, older = ""] = /href="(\/app\/changes\?page=2)"/.exec(first.html) ?? [];
    const second = await viewer.get(older);
    expect(second.html).toContain("API key grafana created");
    expect(second.html).toContain('href="/app/changes?page=1"');
    expect((await viewer.get("/app/changes?page=nonsense")).html).toContain("monitor &lt;u&gt;Shop changed");
    expect((await viewer.get("/app/changes?page=99999")).html).toContain("Nothing has changed yet.");
  });
});
