import { describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import {
  createAccount,
  openBrowser,
  PASSWORD,
  sessionFrom,
  signIn,
  signInOwner,
  type Browser,
} from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane({ config: { trustedProxies: ["127.0.0.0/8"] } }));
const { browser: owner, accountId } = await signInOwner(plane);

const isIn = async (browser: Browser) => (await browser.get("/app/profile")).status === 200;

describe("the profile", () => {
  it("takes a time zone, in which its times are shown, and refuses what is none", async () => {
    const refused = await owner.post("/app/profile/time-zone", { timezone: 'Mars/"Phobos' });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain("IANA time zone database");
    const saved = await owner.post("/app/profile/time-zone", { timezone: "Asia/Kathmandu" });
    expect([saved.status, saved.location]).toEqual([303, "/app/profile?done=timezone"]);
    const page = await owner.get(saved.location ?? "");
    expect(page.html).toContain('<option value="Asia/Kathmandu" selected>');
    expect(page.html.match(/<a href="[^"]*" aria-current="page">[^<]*/g)).toEqual([
      '<a href="/app/profile" aria-current="page">Your profile',
    ]);
    const [row] = await plane.app.sql<{ local: string }[]>`
      select to_char(created_at at time zone 'Asia/Kathmandu', 'YYYY-MM-DD HH24:MI') as local from sessions`;
    expect(page.html).toContain(row?.local);
  });

  it("changes the password with the old one, and ends all other sessions", async () => {
    const other = await signIn(plane, "owner@example.com");
    const before = owner.cookie;
    const wrong = await owner.post("/app/profile/password", { current: "wrong", next: "my next password" });
    expect([wrong.status, wrong.html.includes("is wrong")]).toEqual([403, true]);
    const short = await owner.post("/app/profile/password", { current: PASSWORD, next: "short" });
    expect([short.status, await isIn(other)]).toEqual([400, true]);
    const changed = await owner.post("/app/profile/password", { current: PASSWORD, next: "my next password" });
    expect([changed.status, changed.location]).toEqual([303, "/app/profile?done=password"]);
    expect(owner.cookie).not.toBe(before);
    expect([await isIn(owner), await isIn(other)]).toEqual([true, false]);
    await expect(signIn(plane, "owner@example.com")).rejects.toThrow("403");
    await signIn(plane, "owner@example.com", { password: "my next password" });
    await owner.post("/app/profile/password", { current: "my next password", next: PASSWORD });
  });

  it("limits guesses of the old password as those at the sign-in", async () => {
    const { browser } = await signInOwner(plane, "guessed@example.com");
    const statuses: number[] = [];
    for (let index = 0; index < 11; index += 1) {
      const address = { "x-forwarded-for": `192.0.2.${index}` };
      const guess = { current: "wrong", next: "a password of the thief" };
      statuses.push((await browser.post("/app/profile/password", guess, address)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 403), 429]);
  });

  it("lists the sessions with where they are from, and ends one of them", async () => {
    const phone = await signIn(plane, "owner@example.com", { address: "203.0.113.9" });
    const page = await owner.get("/app/profile");
    expect(page.html).toContain("203.0.113.9");
    expect(page.html.match(/This session/g)).toHaveLength(1);
    const id = await sessionFrom(owner, "203.0.113.9");
    const ended = await owner.post("/app/profile/sessions", { id: String(id) });
    expect([ended.status, ended.location]).toEqual([303, "/app/profile?done=session_ended"]);
    expect([await isIn(phone), await isIn(owner)]).toEqual([false, true]);
  });

  it("names the programs of its sessions, and tells what they say of themselves as text", async () => {
    const linux = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
    const described = async (userAgent: string) => {
      const browser = openBrowser(plane);
      const typed = { email: "owner@example.com", password: PASSWORD };
      expect(await browser.post("/sign-in", typed, { "user-agent": userAgent })).toMatchObject({ status: 303 });
    };
    for (const userAgent of [linux, `<b>${"x".repeat(300)}`, ""]) await described(userAgent);
    const { html } = await owner.get("/app/profile");
    expect(html).toContain(`<summary>Firefox on Linux</summary><p class="faint">${linux}</p>`);
    // No more than 200 characters of it are stored.
    expect(html).toContain(`<summary>Unknown browser</summary><p class="faint">&lt;b&gt;${"x".repeat(197)}</p>`);
    expect(html).toContain("<div>Unknown browser</div>");
  });

  it("ends all other sessions, and none of another user", async () => {
    const { browser: stranger } = await signInOwner(plane, "stranger@example.com");
    const others = [await signIn(plane, "owner@example.com"), await signIn(plane, "owner@example.com")];
    const [foreign] = await plane.app.sql<{ id: number }[]>`
      select sessions.id from sessions join users on users.id = user_id where email = 'stranger@example.com'`;
    await owner.post("/app/profile/sessions", { id: String(foreign?.id) });
    expect(await isIn(stranger)).toBe(true);
    const ended = await owner.post("/app/profile/sessions");
    expect([ended.status, ended.location]).toEqual([303, "/app/profile?done=sessions_ended"]);
    expect(await Promise.all([owner, stranger, ...others].map(isIn))).toEqual([true, true, false, false]);
  });

  it("switches to another account of the user, with the role there and a new cookie, and to no other", async () => {
    const second = await createAccount(plane);
    await plane.app.sql`
      insert into members (account_id, user_id, role, created_at)
      select ${second}, id, 'viewer', now() from users where email = 'owner@example.com'`;
    const before = owner.cookie;
    expect((await owner.get("/app/profile")).html).toContain(`Account ${second}`);
    const switched = await owner.post("/app/profile/account", { account_id: String(second) });
    expect([switched.status, owner.cookie === before]).toEqual([303, false]);
    expect((await owner.get("/app/profile")).html).toContain("<strong>viewer</strong>");
    const old = openBrowser(plane);
    old.cookie = before;
    expect(await isIn(old)).toBe(false);
    const foreign = await createAccount(plane);
    for (const id of [String(foreign), "0", "x", "9".repeat(30)])
      expect((await owner.post("/app/profile/account", { account_id: id })).status).toBe(404);
    expect((await owner.post("/app/profile/account", { account_id: String(accountId) })).status).toBe(303);
    expect((await owner.get("/app/profile")).html).toContain("<strong>owner</strong>");
  });
});
