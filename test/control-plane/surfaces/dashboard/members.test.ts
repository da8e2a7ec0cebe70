import { describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import {
  createAccount,
  listMembers,
  memberIdOf,
  openBrowser,
  PASSWORD,
  signIn,
  signInOwner,
  type Browser,
  type DashboardAnswer,
} from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const MINUTE_MS = 60_000;
const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));

const plane = await stopAfterAll(
  startControlPlane({ overrides: { clock }, config: { trustedProxies: ["127.0.0.0/8"] } }),
);

/** The path of the invite that a page shows. */
function inviteOf({ html }: DashboardAnswer): string {
  return /\/invite\/[0-9A-Za-z]{32}/.exec(html)?.[0] ?? "no invite";
}

const rolesOf = async (owner: Browser) =>
  Object.fromEntries((await listMembers(owner)).map(({ email, role }) => [email, role]));

/** Lets a new user join by an invite of this owner. */
async function join(owner: Browser, email: string, role: string): Promise<Browser> {
  const path = inviteOf(await owner.post("/app/members/invites", { role }));
  const browser = openBrowser(plane);
  const joined = await browser.post(path, { email, password: PASSWORD });
  if (joined.status !== 303) throw new Error(`the invite answered ${joined.status}: ${joined.html}`);
  return browser;
}

/** The newest change of an account, without its time. */
async function lastChange(accountId: number) {
  const all = { subject: null, actor: null, from: null, to: null };
  const { rows } = await plane.app.changes.list(plane.app.sql, accountId, all, { limit: 1, offset: 0 });
  const [newest] = rows;
  const fields = newest?.changed.map(({ field }) => field);
  return {
    actor: newest?.actor.name,
    type: newest?.actor.kind,
    resource: newest?.subject.kind,
    action: newest?.action,
    fields,
  };
}

describe("the members of an account", () => {
  it("are seen and changed by owners who gave their password in the last 10 minutes", async () => {
    const { browser: owner } = await signInOwner(plane, "only@example.com");
    await join(owner, "viewer@example.com", "viewer");
    clock.advance(10 * MINUTE_MS);
    const asked = await owner.get("/app/members");
    expect([asked.status, asked.location]).toEqual([303, "/sign-in?next=%2Fapp%2Fmembers"]);
    const form = await owner.post("/app/members/invites", { role: "owner" });
    expect([form.status, form.html.includes("Confirm that it is you")]).toEqual([403, true]);
    expect((await owner.get(asked.location ?? "")).html).toContain("Confirm that it is you");
    const confirmed = await owner.post("/sign-in", { password: PASSWORD, next: "/app/members" });
    expect([confirmed.status, confirmed.location]).toEqual([303, "/app/members"]);
    const page = await owner.get("/app/members");
    expect(page.html).toContain("viewer@example.com");
  });

  it("sign in again after a change of their role", async () => {
    const { browser: owner, accountId } = await signInOwner(plane, "roles@example.com");
    const member = await join(owner, "promoted@example.com", "viewer");
    const id = await memberIdOf(owner, "promoted@example.com");
    const changed = await owner.post(`/app/members/${id}/role`, { role: "editor" });
    expect([changed.status, changed.location]).toEqual([303, "/app/members?done=role"]);
    expect((await member.get("/app/monitors")).status).toBe(303);
    expect(await rolesOf(owner)).toEqual({ "roles@example.com": "owner", "promoted@example.com": "editor" });
    expect(await lastChange(accountId)).toEqual({
      actor: "roles@example.com",
      type: "member",
      resource: "member",
      action: "changed",
      fields: ["role"],
    });
    expect((await owner.post(`/app/members/${id}/role`, { role: "god" })).status).toBe(400);
  });

  it("are removed after a question, with their sessions of this account alone", async () => {
    const { browser: owner } = await signInOwner(plane, "remover@example.com");
    const { browser: elsewhere } = await signInOwner(plane, "removed@example.com");
    const path = inviteOf(await owner.post("/app/members/invites", { role: "editor" }));
    const here = await signIn(plane, "removed@example.com");
    expect((await here.post(path)).status).toBe(303);
    const id = await memberIdOf(owner, "removed@example.com");
    const question = await owner.get(`/app/members/${id}/remove`);
    expect([question.status, question.html.includes("Remove removed@example.com?")]).toEqual([200, true]);
    expect(await rolesOf(owner)).toHaveProperty(["removed@example.com"], "editor");
    const removed = await owner.post(`/app/members/${id}/remove`);
    expect([removed.status, removed.location]).toEqual([303, "/app/members?done=member_removed"]);
    expect((await here.get("/app/monitors")).status).toBe(303);
    expect((await elsewhere.get("/app/monitors")).status).toBe(200);
    expect((await owner.get(`/app/members/${id}/remove`)).status).toBe(404);
  });
});

describe("the last owner", () => {
  it("cannot leave, be removed or give up the role; a second one can", async () => {
    clock.advance(MINUTE_MS);
    const { browser: first } = await signInOwner(plane, "last@example.com");
    const id = await memberIdOf(first, "last@example.com");
    expect((await first.post(`/app/members/${id}/remove`)).status).toBe(409);
    const question = await first.post(`/app/members/${id}/role`, { role: "editor" });
    expect(question.html).toContain("Give up your role as owner?");
    const refused = await first.post(`/app/members/${id}/role`, { role: "editor", confirmed: "1" });
    expect([refused.status, refused.html.includes("An account needs an owner")]).toEqual([409, true]);
    const second = await join(first, "second@example.com", "owner");
    const left = await first.post(`/app/members/${id}/remove`);
    expect([left.status, left.location]).toEqual([303, "/sign-in"]);
    expect(await rolesOf(second)).toEqual({ "second@example.com": "owner" });
    expect((await first.get("/app/monitors")).status).toBe(303);
  });

  it("stays when two owners demote each other at the same time", async () => {
    for (let round = 0; round < 3; round += 1) {
      clock.advance(MINUTE_MS);
      const one = `one${round}@example.com`;
      const two = `two${round}@example.com`;
      const { browser: first } = await signInOwner(plane, one);
      const second = await join(first, two, "owner");
      const ids = [await memberIdOf(first, one), await memberIdOf(first, two)];
      // Both have their forms before either is sent.
      await Promise.all([first.get("/app/members"), second.get("/app/members")]);
      await Promise.all([
        first.post(`/app/members/${ids[1]}/role`, { role: "viewer" }),
        second.post(`/app/members/${ids[0]}/remove`),
      ]);
      const roles = [first, second].map(async (owner) => Object.values(await rolesOf(owner)));
      expect((await Promise.all(roles)).flat(), `round ${round}`).toContain("owner");
    }
  });

  it("stays when owners leave at the same time", async () => {
    clock.advance(MINUTE_MS);
    const { browser: first } = await signInOwner(plane, "left@example.com");
    const owners = [
      first,
      await join(first, "right@example.com", "owner"),
      await join(first, "mid@example.com", "owner"),
    ];
    const ids = (await listMembers(first)).map(({ id }) => id);
    await Promise.all(owners.map((owner) => owner.get("/app/members")));
    const answers = await Promise.all(owners.map((owner, index) => owner.post(`/app/members/${ids[index]}/remove`)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([303, 303, 409]);
    expect(Object.values(await rolesOf(owners[statuses.indexOf(409)] ?? first))).toEqual(["owner"]);
  });
});

describe("an invite", () => {
  it("is shown once, says what it is for, and works once", async () => {
    clock.advance(MINUTE_MS);
    const { browser: owner, accountId } = await signInOwner(plane, "host@example.com");
    const created = await owner.post("/app/members/invites", { role: "editor" });
    expect([created.status, created.html.includes("data-copy")]).toEqual([201, true]);
    const path = inviteOf(created);
    const listed = await owner.get("/app/members");
    expect(listed.html).toContain("Open invites");
    expect(listed.html).not.toContain(path);
    const guest = openBrowser(plane);
    expect((await guest.get(path)).html).toContain("the account host@example.com with the role editor");
    const short = await guest.post(path, { email: "guest@example.com", password: "short" });
    expect([short.status, short.html.includes('value="guest@example.com"')]).toEqual([400, true]);
    expect((await guest.post(path, { email: "guest@example.com", password: PASSWORD })).status).toBe(303);
    expect((await guest.get("/app/profile")).html).toContain("<strong>editor</strong>");
    expect((await openBrowser(plane).get(path)).status).toBe(404);
    expect((await openBrowser(plane).post(path, { email: "x@example.com", password: PASSWORD })).status).toBe(404);
    expect(await lastChange(accountId)).toMatchObject({
      actor: "guest@example.com",
      resource: "member",
      action: "created",
    });
    const rows = await plane.app.sql<{ row: string }[]>`select one_time_links::text as row from one_time_links`;
    expect(rows.filter(({ row }) => row.includes(path.slice(8)))).toEqual([]);
  });

  it("for one address is used by that one alone, whatever its case", async () => {
    const { browser: owner } = await signInOwner(plane, "strict@example.com");
    const path = inviteOf(await owner.post("/app/members/invites", { role: "viewer", email: "Bound@example.com" }));
    const guest = openBrowser(plane);
    expect((await guest.get(path)).html).not.toContain("ound@example.com");
    expect((await guest.post(path, { email: "else@example.com", password: PASSWORD })).status).toBe(403);
    const { browser: other } = await signInOwner(plane, "signed-in@example.com");
    expect((await other.get(path)).html).toContain("is for another address");
    await other.post(path);
    expect(await rolesOf(owner)).toEqual({ "strict@example.com": "owner" });
    expect((await guest.post(path, { email: "bound@example.com", password: PASSWORD })).status).toBe(303);
  });

  it("takes the password of a user who exists, and sets none", async () => {
    clock.advance(MINUTE_MS);
    const { browser: owner } = await signInOwner(plane, "asker@example.com");
    await signInOwner(plane, "known@example.com");
    const path = inviteOf(await owner.post("/app/members/invites", { role: "viewer" }));
    const wrong = await openBrowser(plane).post(path, { email: "known@example.com", password: "not my password" });
    expect(wrong.status).toBe(403);
    expect(await rolesOf(owner)).toEqual({ "asker@example.com": "owner" });
    const right = await openBrowser(plane).post(path, { email: "known@example.com", password: PASSWORD });
    expect(right.status).toBe(303);
    await signIn(plane, "known@example.com");
  });

  it("is used by a session without the password, with its _csrf", async () => {
    const { browser: owner } = await signInOwner(plane, "inviter@example.com");
    const { browser: member } = await signInOwner(plane, "joining@example.com");
    const path = inviteOf(await owner.post("/app/members/invites", { role: "editor", email: "joining@example.com" }));
    expect((await member.get(path)).html).toContain("You are signed in as joining@example.com");
    expect((await member.post(path, { _csrf: "wrong" })).status).toBe(403);
    expect((await member.post(path)).status).toBe(303);
    expect(await rolesOf(owner)).toEqual({ "inviter@example.com": "owner", "joining@example.com": "editor" });
    expect((await member.get("/app/profile")).html).toContain("<strong>editor</strong>");
  });

  it("is revoked by its account, and by no other", async () => {
    clock.advance(MINUTE_MS);
    const { browser: owner } = await signInOwner(plane, "revoker@example.com");
    const { browser: stranger } = await signInOwner(plane, "foreigner@example.com");
    const path = inviteOf(await owner.post("/app/members/invites", { role: "viewer" }));
    const [revoke = ""] = /\/app\/members\/invites\/\d+\/revoke/.exec((await owner.get("/app/members")).html) ?? [];
    await stranger.post(revoke);
    expect((await openBrowser(plane).get(path)).status).toBe(200);
    expect((await owner.post(revoke)).status).toBe(303);
    expect((await openBrowser(plane).get(path)).status).toBe(404);
    expect((await owner.post("/app/members/invites", { role: "viewer", email: "not an address" })).status).toBe(400);
  });

  it("works for 7 days", async () => {
    const { browser: owner } = await signInOwner(plane, "week@example.com");
    const path = inviteOf(await owner.post("/app/members/invites", { role: "viewer" }));
    clock.advance(7 * 1_440 * MINUTE_MS - 1);
    expect((await openBrowser(plane).get(path)).status).toBe(200);
    clock.advance(1);
    expect((await openBrowser(plane).get(path)).status).toBe(404);
  });
});

describe("an invite of the operator", () => {
  it("opens a new account for the one who uses it", async () => {
    const { status, body } = await plane.operate("POST", "/api/admin/invites", { ttl_seconds: 3_600 });
    const { token, url, expires_at: expiresAt } = body.data as { token: string; url: string; expires_at: string };
    expect([status, new URL(url).pathname]).toEqual([201, `/invite/${token}`]);
    expect(expiresAt).toBe(new Date(clock.now().getTime() + 3_600_000).toISOString());
    const browser = openBrowser(plane);
    expect((await browser.get(`/invite/${token}`)).html).toContain("an account of your own");
    expect((await browser.post(`/invite/${token}`, { email: "own@example.com", password: PASSWORD })).status).toBe(303);
    const { body: listed } = await plane.operate("GET", "/api/admin/accounts?per_page=100");
    expect(listed.data).toContainEqual(expect.objectContaining({ email: "own@example.com", plan: "free" }));
    expect(await rolesOf(browser)).toEqual({ "own@example.com": "owner" });
  });

  it("leads to an account with a role, and is one of its changes", async () => {
    const accountId = await createAccount(plane);
    const { body } = await plane.operate("POST", "/api/admin/invites", {
      account_id: accountId,
      role: "owner",
      email: "named@example.com",
    });
    const { token } = body.data as { token: string };
    expect(await lastChange(accountId)).toMatchObject({ type: "operator", resource: "invite", action: "created" });
    const browser = openBrowser(plane);
    expect((await browser.post(`/invite/${token}`, { email: "named@example.com", password: PASSWORD })).status).toBe(
      303,
    );
    expect(await rolesOf(browser)).toEqual({ "named@example.com": "owner" });
  });

  it.each([
    [{ email: "nobody" }, 400, "email"],
    [{ role: "viewer" }, 400, "role"],
    [{ role: "god" }, 400, "role"],
    [{ ttl_seconds: 30 * 86_400 + 1 }, 400, "ttl_seconds"],
    [{ account_id: 999_999 }, 404, "999999"],
    [{ days: 1 }, 400, "days"],
  ])("is refused with %j", async (body, status, word) => {
    const answer = await plane.operate("POST", "/api/admin/invites", body);
    expect([answer.status, answer.text.includes(word)]).toEqual([status, true]);
  });
});
