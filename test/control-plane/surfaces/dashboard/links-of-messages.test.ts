import { describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createAccount, createAccountKey, openBrowser, signInOwner } from "#test/support/dashboard.ts";
import { failHeartbeat } from "#test/support/webhooks.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** Pages of the second account of the owner, and of an account of somebody else. */
const pages: { second: readonly string[]; foreign: readonly string[] } = { second: [], foreign: [] };

const plane = await stopAfterAll(startControlPlane());
const { browser: owner } = await signInOwner(plane);
const second = await createAccount(plane);
await plane.app.sql`
  insert into members (account_id, user_id, role, created_at)
  select ${second}, id, 'viewer', now() from users where email = 'owner@example.com'`;
pages.second = await pagesOf(second);
pages.foreign = await pagesOf(await createAccount(plane));

/** Makes an outage in an account, and returns the pages of its monitor and its incident. */
async function pagesOf(accountId: number): Promise<readonly string[]> {
  const key = await createAccountKey(plane, accountId);
  const id = await failHeartbeat(plane, key);
  const { body } = await plane.call(`/api/v4/incidents?monitor_id=${id}`, { key });
  const [incident] = body.data as readonly { readonly id: number }[];
  return [`/app/monitors/${id}`, `/app/incidents/${incident?.id}`];
}

describe("the link of a message to a page of an account", () => {
  it("leads through the sign-in to the page", async () => {
    const [page = ""] = pages.second;
    const { status, location } = await openBrowser(plane).get(page);
    expect([status, location]).toEqual([303, `/sign-in?next=${encodeURIComponent(page)}`]);
  });

  it("offers a member who is signed in to another account the switch, which leads to the page", async () => {
    for (const page of pages.second) {
      // oxlint-disable-next-line no-await-in-loop -- each in the same session
      const offered = await owner.get(page);
      expect(offered.html).toContain(`<input type="hidden" name="next" value="${page}">`);
      expect(offered.html).toContain(`Account ${second}`);
      expect(offered.html).not.toContain("Backup");
    }
    const [, incident = ""] = pages.second;
    const before = owner.cookie;
    const switched = await owner.post("/app/profile/account", { account_id: String(second), next: incident });
    expect([switched.status, switched.location, owner.cookie === before]).toEqual([303, incident, false]);
    expect((await owner.get(incident)).html).toContain("Backup");
  });

  it("says of an account of somebody else the same as of what is not there", async () => {
    const [monitor = "", incident = ""] = pages.foreign;
    for (const [page, absent] of [
      [monitor, "/app/monitors/999999"],
      [incident, "/app/incidents/999999"],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- two of them
      const [foreign, nothing] = await Promise.all([owner.get(page), owner.get(absent)]);
      expect([foreign.status, nothing.status]).toEqual([404, 404]);
      expect(foreign.html).toBe(nothing.html);
    }
  });

  it("leads nowhere else after a switch", async () => {
    const form = { account_id: String(second), next: "https://other.example/" };
    expect((await owner.post("/app/profile/account", form)).location).toBe("/app/");
  });
});
