import { describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createAccount, openBrowser, PASSWORD, signIn, signInOwner, type Browser } from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const MINUTE_MS = 60_000;
const NEW_PASSWORD = "another password than before";
/** Nothing listens there: mails wait. */
const NO_SERVER = { host: "127.0.0.1", port: 1, tls: "never", isVerified: true, credentials: null } as const;

const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));

const mail = { server: NO_SERVER, from: "Vantage <alerts@example.com>" };
const plane = await stopAfterAll(
  startControlPlane({ overrides: { clock }, config: { mail, trustedProxies: ["127.0.0.0/8"] } }),
);
const { browser: owner, accountId } = await signInOwner(plane);

/** Creates an invite of the owner and returns its path. */
async function invite(email = ""): Promise<string> {
  const { html } = await owner.post("/app/members/invites", { role: "editor", email });
  return /\/invite\/[0-9A-Za-z]{32}/.exec(html)?.[0] ?? "no invite";
}

async function join(email: string, password = PASSWORD, path?: string): Promise<Browser> {
  const browser = openBrowser(plane);
  const joined = await browser.post(path ?? (await invite(email)), { email, password });
  if (joined.status !== 303) throw new Error(`the invite answered ${joined.status}: ${joined.html}`);
  return browser;
}

async function idOf(email: string): Promise<number | null> {
  const [row] = await plane.app.sql<{ id: number }[]>`select id from users where email = ${email}`;
  return row?.id ?? null;
}

async function remove(email: string): Promise<number> {
  clock.advance(MINUTE_MS);
  return (await owner.post(`/app/members/${await idOf(email)}/remove`)).status;
}

/** Mails with an address that wait. */
async function waitingMails(): Promise<number | undefined> {
  const [row] = await plane.app.sql<{ waiting: number }[]>`
    select count(*) as waiting from requested_mails where sealed is not null`;
  return row?.waiting;
}

describe("a user who is removed from the last account", () => {
  it("is erased with sessions, links and mails that wait, and starts anew with the next invite", async () => {
    const member = await join("leaver@example.com");
    const before = await idOf("leaver@example.com");
    await openBrowser(plane, "192.0.2.1").post("/reset", { email: "leaver@example.com" });
    await openBrowser(plane, "192.0.2.1").post("/reset", { email: "owner@example.com" });
    await plane.app.sql`
      insert into one_time_links (digest, purpose, user_id, created_at, expires_at)
      values (sha256('a token'), 'reset', ${before}, now(), now() + interval '1 hour')`;
    expect(await remove("leaver@example.com")).toBe(303);
    expect((await member.get("/app/monitors")).status).toBe(303);
    expect(await idOf("leaver@example.com")).toBe(null);
    const [left] = await plane.app.sql<{ rows: number }[]>`
      select (select count(*) from sessions where user_id = ${before}) +
        (select count(*) from one_time_links where user_id = ${before}) as rows`;
    expect(left?.rows).toBe(0);
    // That of the owner.
    expect(await waitingMails()).toBe(1);
    await expect(signIn(plane, "leaver@example.com")).rejects.toThrow("403");
    await join("leaver@example.com", NEW_PASSWORD);
    expect(await idOf("leaver@example.com")).not.toBe(before);
    await expect(signIn(plane, "leaver@example.com")).rejects.toThrow("403");
    await signIn(plane, "leaver@example.com", { password: NEW_PASSWORD });
  });

  it("cannot come back by an invite that was for the same address", async () => {
    await join("again@example.com");
    const second = await invite("Again@example.com");
    const open = await invite();
    await remove("again@example.com");
    expect((await openBrowser(plane).get(second)).status).toBe(404);
    expect((await openBrowser(plane).get(open)).status).toBe(200);
  });

  it("is erased who leaves, too", async () => {
    const member = await join("quits@example.com");
    const id = await idOf("quits@example.com");
    await plane.app.sql`update members set role = 'owner' where user_id = ${id}`;
    expect((await member.post(`/app/members/${id}/remove`)).location).toBe("/sign-in");
    expect(await idOf("quits@example.com")).toBe(null);
  });
});

describe("a user of two accounts", () => {
  it("stays until the last one, and is erased when both remove the user at the same time", async () => {
    const { browser: other, accountId: otherId } = await signInOwner(plane, "other-owner@example.com");
    const moved = async (email: string) => {
      const id = await idOf(email);
      await plane.app.sql`
        insert into members (account_id, user_id, role, created_at) values (${otherId}, ${id}, 'viewer', now())`;
      return id;
    };
    await join("stays@example.com");
    await moved("stays@example.com");
    await remove("stays@example.com");
    expect(await idOf("stays@example.com")).not.toBe(null);
    for (let round = 0; round < 3; round += 1) {
      const email = `both${round}@example.com`;
      await join(email);
      const id = await moved(email);
      await Promise.all([owner.get("/app/members"), other.get("/app/members")]);
      await Promise.all([owner, other].map((one) => one.post(`/app/members/${id}/remove`)));
      expect([round, await idOf(email)]).toEqual([round, null]);
    }
  });
});

describe("the erasure of an account", () => {
  it("erases its users who have no other account, and no others", async () => {
    const doomed = await createAccount(plane);
    await signInOwner(plane, "doomed@example.com", { accountId: doomed });
    const both = await idOf("owner@example.com");
    await plane.app.sql`
      insert into members (account_id, user_id, role, created_at) values (${doomed}, ${both}, 'viewer', now())`;
    await openBrowser(plane, "192.0.2.2").post("/reset", { email: "doomed@example.com" });
    const before = await waitingMails();
    await plane.operate("DELETE", `/api/admin/accounts?id=${doomed}`);
    expect([await idOf("doomed@example.com"), await idOf("owner@example.com")]).toEqual([null, both]);
    expect(await waitingMails()).toBe((before ?? 0) - 1);
    expect((await owner.get("/app/monitors")).status).toBe(200);
    expect(accountId).not.toBe(doomed);
  });
});

describe("the address of an account", () => {
  const addressOf = async (id: number) => (await plane.app.accounts.find(plane.app.sql, id))?.email;

  it("is that of its first owner, also after the one before has left or has lost the role", async () => {
    const first = await signInOwner(plane, "first@example.com");
    await plane.app.accounts.update(first.accountId, { email: "First@example.com" });
    const next = openBrowser(plane);
    const { html } = await first.browser.post("/app/members/invites", { role: "owner", email: "next@example.com" });
    const path = /\/invite\/[0-9A-Za-z]{32}/.exec(html)?.[0] ?? "no invite";
    expect((await next.post(path, { email: "next@example.com", password: PASSWORD })).status).toBe(303);
    clock.advance(MINUTE_MS);
    expect((await next.post(`/app/members/${await idOf("first@example.com")}/role`, { role: "viewer" })).status).toBe(
      303,
    );
    expect(await addressOf(first.accountId)).toBe("next@example.com");
    const changes = await next.get("/app/changes");
    expect(changes.html).toContain("next@example.com");
  });

  it("is none if another account has that of the owner who is left", async () => {
    const shared = await signInOwner(plane, "shared@example.com");
    await plane.app.accounts.update(shared.accountId, { email: "shared@example.com" });
    await plane.app.accounts.create(plane.app.sql, { email: "taken@example.com", plan: "free" });
    const { html } = await shared.browser.post("/app/members/invites", { role: "owner", email: "taken@example.com" });
    const path = /\/invite\/[0-9A-Za-z]{32}/.exec(html)?.[0] ?? "no invite";
    const next = openBrowser(plane);
    expect((await next.post(path, { email: "taken@example.com", password: PASSWORD })).status).toBe(303);
    clock.advance(MINUTE_MS);
    expect((await next.post(`/app/members/${await idOf("shared@example.com")}/remove`)).status).toBe(303);
    expect(await addressOf(shared.accountId)).toBe(null);
  });
});
