import { describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import {
  createAccount,
  createAccountKey,
  memberIdOf,
  openBrowser,
  PASSWORD,
  sessionFrom,
  signIn,
  signInOwner,
  startPath,
  type Browser,
} from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { listChanges, type LoggedChange } from "#test/support/list-changes.ts";

const NEXT_PASSWORD = "my next password of all";

const plane = await stopAfterAll(startControlPlane({ config: { trustedProxies: ["127.0.0.0/8"] } }));

/** The log of an account as the API gives it, oldest first, without what is in it already. */
async function logOf(accountId: number, after: readonly LoggedChange[] = []): Promise<readonly LoggedChange[]> {
  const all = await listChanges(plane, await createAccountKey(plane, accountId));
  const rows = all.filter(({ actor }) => actor.kind === "member");
  return rows.toReversed().slice(after.length);
}

const shown = (rows: readonly LoggedChange[]) =>
  rows.map(({ subject, action, changed }) => ({ kind: subject.kind, name: subject.name, action, changed }));

async function addMember(accountId: number, email: string): Promise<void> {
  await plane.app.sql`
    insert into members (account_id, user_id, role, created_at)
    select ${accountId}, id, 'viewer', now() from users where email = ${email}`;
}

/** Two accounts of one user. */
async function openTwo(email: string): Promise<{ browser: Browser; ids: readonly [number, number] }> {
  const { browser, accountId } = await signInOwner(plane, email);
  const second = await createAccount(plane);
  await addMember(second, email);
  return { browser, ids: [accountId, second] };
}

const PASSWORD_CHANGED = [{ field: "password", before: "changed", after: "changed" }];

describe("the log of changes of people", () => {
  it("has a change of a password in each account of the user, without the password, and not in others", async () => {
    const { browser, ids } = await openTwo("two@example.com");
    const { accountId: other } = await signInOwner(plane, "alone@example.com");
    const before = await Promise.all([...ids, other].map((id) => logOf(id)));
    const who = { id: await memberIdOf(browser, "two@example.com"), name: "two@example.com" };
    await browser.post("/app/profile/password", { current: "wrong", next: NEXT_PASSWORD });
    const changed = await browser.post("/app/profile/password", { current: PASSWORD, next: NEXT_PASSWORD });
    expect(changed.status).toBe(303);
    for (const [index, id] of ids.entries()) {
      const rows = await logOf(id, before[index]);
      expect(rows).toEqual([
        expect.objectContaining({
          actor: { kind: "member", ...who },
          subject: { kind: "member", ...who },
          address: "127.0.0.1",
          action: "changed",
          changed: PASSWORD_CHANGED,
        }),
      ]);
      expect(JSON.stringify(rows)).not.toContain(NEXT_PASSWORD);
    }
    expect(await logOf(other, before[2])).toEqual([]);
    expect((await browser.get("/app/changes")).html).toContain("member two@example.com changed</strong><p>password<");
  });

  it("has a new password by mail in each account of the user", async () => {
    const { ids } = await openTwo("mailed@example.com");
    const before = await Promise.all(ids.map((id) => logOf(id)));
    const token = "m".repeat(32);
    await plane.app.sql`
      insert into one_time_links (digest, purpose, user_id, created_at, expires_at)
      select sha256(${token}::bytea), 'reset', id, now(), now() + interval '1 hour' from users
      where email = 'mailed@example.com'`;
    expect((await openBrowser(plane).post(`/reset/${token}`, { password: NEXT_PASSWORD })).status).toBe(303);
    const expected = [{ kind: "member", name: "mailed@example.com", action: "changed", changed: PASSWORD_CHANGED }];
    for (const [index, id] of ids.entries()) expect(shown(await logOf(id, before[index]))).toEqual(expected);
  });

  it("has what a start link does: the first owner with the account's address, and a new password and role later", async () => {
    const { accountId } = await signInOwner(plane, "taking@example.com");
    const first = await logOf(accountId);
    const name = "taking@example.com";
    const email = { field: "email", before: null, after: name };
    expect(shown(first)).toEqual([
      { kind: "member", name, action: "created", changed: [] },
      { kind: "account", name, action: "changed", changed: [email] },
    ]);
    await plane.app.sql`update members set role = 'viewer' where account_id = ${accountId}`;
    const typed = { email: name, password: NEXT_PASSWORD };
    expect((await openBrowser(plane).post(await startPath(plane, accountId), typed)).status).toBe(303);
    const changed = [...PASSWORD_CHANGED, { field: "role", before: "viewer", after: "owner" }];
    expect(shown(await logOf(accountId, first))).toEqual([{ kind: "member", name, action: "changed", changed }]);
  });

  it("has the time zone of a member where it was changed, and nothing if it stays the same", async () => {
    const { browser, ids } = await openTwo("zone@example.com");
    const before = await Promise.all(ids.map((id) => logOf(id)));
    for (const timezone of ["Asia/Kathmandu", "Asia/Kathmandu"])
      expect((await browser.post("/app/profile/time-zone", { timezone })).status).toBe(303);
    const changed = [{ field: "timezone", before: "UTC", after: "Asia/Kathmandu" }];
    expect(shown(await logOf(ids[0], before[0]))).toEqual([
      { kind: "member", name: "zone@example.com", action: "changed", changed },
    ]);
    expect(await logOf(ids[1], before[1])).toEqual([]);
  });

  it("has the ends of sessions, in the accounts that they were of", async () => {
    const { browser, ids } = await openTwo("sessions@example.com");
    const [phone, tablet, laptop] = [
      await signIn(plane, "sessions@example.com", { address: "203.0.113.1" }),
      await signIn(plane, "sessions@example.com", { address: "203.0.113.2" }),
      await signIn(plane, "sessions@example.com", { address: "203.0.113.3" }),
    ];
    expect((await laptop.post("/app/profile/account", { account_id: String(ids[1]) })).status).toBe(303);
    const before = await Promise.all(ids.map((id) => logOf(id)));
    const id = await sessionFrom(browser, "203.0.113.1");
    // It has ended: the second time changes nothing.
    for (let n = 0; n < 2; n += 1) await browser.post("/app/profile/sessions", { id: String(id) });
    expect((await phone.get("/app/monitors")).status).toBe(303);
    await browser.post("/app/profile/sessions");
    expect((await tablet.get("/app/monitors")).status).toBe(303);
    const rows = (await logOf(ids[0], before[0])).map(({ subject, action }) => ({ ...subject, action }));
    expect(rows).toEqual([
      { kind: "session", id, name: null, action: "deleted" },
      { kind: "session", id: expect.any(Number), name: null, action: "deleted" },
    ]);
    expect(shown(await logOf(ids[1], before[1]))).toEqual([
      { kind: "session", name: null, action: "deleted", changed: [] },
    ]);
  });

  it("has the account and the member of an invite that opens one", async () => {
    const { body } = await plane.operate("POST", "/api/admin/invites", {});
    const { token } = body.data as { token: string };
    const typed = { email: "opened@example.com", password: PASSWORD };
    const browser = openBrowser(plane);
    expect((await browser.post(`/invite/${token}`, typed)).status).toBe(303);
    const { html } = await browser.get("/app/changes");
    expect(html.match(/\w+ opened@example\.com \w+(?=<)/g)).toEqual([
      "member opened@example.com created",
      "account opened@example.com created",
    ]);
  });
});
