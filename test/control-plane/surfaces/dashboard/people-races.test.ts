import { describe, expect, it } from "vitest";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
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
import { untilLockIsAwaited } from "#test/support/database-locks.ts";

const plane = await stopAfterAll(startControlPlane({ config: { trustedProxies: ["127.0.0.0/8"] } }));

/** Lets a new user join by an invite of this owner. */
async function join(owner: Browser, email: string, role: string): Promise<Browser> {
  const { html } = await owner.post("/app/members/invites", { role });
  const browser = openBrowser(plane);
  await browser.post(/\/invite\/[0-9A-Za-z]{32}/.exec(html)?.[0] ?? "", { email, password: PASSWORD });
  await browser.get("/app/monitors");
  return browser;
}

/** Sends requests while a statement holds its locks, and lets it go on and commit when `blocked` wait. */
async function during(
  hold: (tx: TestControlPlane["app"]["sql"]) => Promise<unknown>,
  blocked: number,
  send: () => readonly Promise<DashboardAnswer>[],
  then: (tx: TestControlPlane["app"]["sql"]) => Promise<unknown> = async () => {},
): Promise<readonly DashboardAnswer[]> {
  const { sql } = plane.app;
  const answers: Promise<DashboardAnswer>[] = [];
  await sql.begin(async (tx) => {
    await hold(tx as unknown as typeof sql);
    answers.push(...send());
    await untilLockIsAwaited(sql, blocked);
    await then(tx as unknown as typeof sql);
  });
  return Promise.all(answers);
}

describe("who is removed from an account at the moment of", () => {
  const remove = (id: number) => (tx: TestControlPlane["app"]["sql"]) => tx`delete from members where user_id = ${id}`;

  it("a sign-in reads that there is no account any more", async () => {
    const { browser } = await signInOwner(plane, "gone@example.com");
    const typed = { email: "gone@example.com", password: PASSWORD };
    const [answer] = await during(remove(await memberIdOf(browser, "gone@example.com")), 1, () => [
      openBrowser(plane, "192.0.2.1").post("/sign-in", typed),
    ]);
    expect([answer?.status, answer?.html.includes("not a member of any account")]).toEqual([403, true]);
  });

  it("a change of the password gets no session", async () => {
    const { browser } = await signInOwner(plane, "changing@example.com");
    await browser.get("/app/profile");
    const typed = { current: PASSWORD, next: "my next password" };
    const [answer] = await during(remove(await memberIdOf(browser, "changing@example.com")), 1, () => [
      browser.post("/app/profile/password", typed),
    ]);
    expect(answer?.status).toBe(403);
    expect((await browser.get("/app/monitors")).status).toBe(303);
  });

  it("a switch to it stays in the other one", async () => {
    const { browser } = await signInOwner(plane, "switching@example.com");
    const second = await createAccount(plane);
    const id = await memberIdOf(browser, "switching@example.com");
    await plane.app.sql`
      insert into members (account_id, user_id, role, created_at) values (${second}, ${id}, 'viewer', now())`;
    await browser.get("/app/profile");
    const [answer] = await during(
      (tx) => tx`delete from members where account_id = ${second}`,
      1,
      () => [browser.post("/app/profile/account", { account_id: String(second) })],
    );
    expect(answer?.status).toBe(404);
    expect((await browser.get("/app/monitors")).status).toBe(200);
  });
});

describe("two owners who demote each other at the same time", () => {
  it("do not both lose the role, also where there is a third one", async () => {
    const { browser: first, accountId } = await signInOwner(plane, "first@example.com");
    const second = await join(first, "second@example.com", "owner");
    const third = await join(first, "third@example.com", "owner");
    const [one, two] = (await listMembers(first)).map(({ id }) => id);
    const answers = await during(
      (tx) => tx`select from members where account_id = ${accountId} for update`,
      2,
      () => [
        first.post(`/app/members/${two}/role`, { role: "viewer" }),
        second.post(`/app/members/${one}/role`, { role: "viewer" }),
      ],
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 403]);
    expect((await listMembers(third)).filter(({ role }) => role === "owner")).toHaveLength(2);
  });
});

describe("an invite that is used while its account is erased", () => {
  it("is over, and the two do not wait for each other", async () => {
    const { browser: owner, accountId } = await signInOwner(plane, "erasing@example.com");
    const { html } = await owner.post("/app/members/invites", { role: "viewer" });
    const invite = /\/invite\/[0-9A-Za-z]{32}/.exec(html)?.[0] ?? "";
    const typed = { email: "late@example.com", password: PASSWORD };
    const [answer] = await during(
      (tx) => tx`select from accounts where id = ${accountId} for update`,
      1,
      () => [openBrowser(plane).post(invite, typed)],
      (tx) => tx`delete from one_time_links where account_id = ${accountId}`,
    );
    expect(answer?.status).toBe(404);
  });
});

describe("a link that is used twice at the same time", () => {
  it("works once: that of a new password, and an invite", async () => {
    const { browser: owner } = await signInOwner(plane, "twice@example.com");
    const token = "t".repeat(32);
    await plane.app.sql`
      insert into one_time_links (digest, purpose, user_id, created_at, expires_at)
      values (sha256(${token}::bytea), 'reset', ${await memberIdOf(owner, "twice@example.com")}, now(), now() + interval '1 hour')`;
    const { html } = await owner.post("/app/members/invites", { role: "viewer" });
    const invite = /\/invite\/[0-9A-Za-z]{32}/.exec(html)?.[0] ?? "";
    const passwords = ["the first of two passwords", "the second of two passwords"];
    const invited = await Promise.all(
      passwords.map((password, index) =>
        openBrowser(plane).post(invite, { email: `guest${index}@example.com`, password }),
      ),
    );
    expect(invited.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 404]);
    const reset = await Promise.all(
      passwords.map((password) => openBrowser(plane).post(`/reset/${token}`, { password })),
    );
    expect(reset.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 404]);
    const winner = passwords[reset.findIndex(({ status }) => status === 303)] ?? "";
    await signIn(plane, "twice@example.com", { password: winner });
  });
});
