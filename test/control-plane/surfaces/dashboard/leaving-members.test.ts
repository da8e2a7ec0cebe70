import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { makeToken } from "#control-plane/public/incident-pages/link.ts";
import { createDevices } from "#control-plane/people/users/devices.ts";
import { createSessions } from "#control-plane/people/users/sessions.ts";
import {
  after,
  insertMonitor,
  openOutage,
  refusedAt,
  STARTED,
} from "#test/control-plane/outages/incidents/database.ts";
import { createManualClock, systemRandom } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import {
  createAccountKey,
  fieldsOfForm,
  joinAccount,
  listKeys,
  memberIdOf,
  signIn,
  signInOwner,
} from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { untilLockIsAwaited } from "#test/support/database-locks.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));

const plane = await stopAfterAll(
  startControlPlane({ overrides: { clock }, config: { trustedProxies: ["127.0.0.0/8"] } }),
);

let accounts = 0;
/** An account with an owner, and another one who leaves it: with two keys, and monitors that mail to the address. */
async function openAccount() {
  accounts += 1;
  const { browser: owner, accountId } = await signInOwner(plane, `owner-${accounts}@example.org`, {
    address: `192.0.2.${accounts}`,
  });
  const leaver = await joinAccount(plane, accountId, "owner");
  const email = `owner-${accountId}@example.com`;
  const path = `/app/members/${await memberIdOf(owner, email)}`;
  const key = await createAccountKey(plane, accountId);
  const monitor = (name: string, notify_emails: readonly string[]) =>
    createMonitor(plane, key, { check_type: "heartbeat", name, notify_emails });
  const both = await monitor("Both", ["ops@example.com", `OWNER-${accountId}@Example.com`]);
  const alone = await monitor("Alone", [email]);
  const other = await monitor("Other", ["ops@example.com"]);
  const keyOf = async (name: string) =>
    /vtg_\w{36}/.exec((await leaver.post("/app/keys", { name })).html)?.[0] ?? "no key";
  const keys = { used: await keyOf("used"), unused: await keyOf("unused"), operator: key };
  await plane.call("/api/v4/account", { key: keys.used });
  const isNoted = async () => {
    const noted = await plane.app
      .sql`select from keys where name = 'used' and account_id = ${accountId} and used_at is not null`;
    return noted.length;
  };
  await expect.poll(isNoted).toBe(1);
  return { owner, leaver, accountId, email, path, keys, monitors: { both, alone, other } };
}

type Opened = Awaited<ReturnType<typeof openAccount>>;

/** Which keys work. */
async function worksOf({ keys }: Opened): Promise<readonly string[]> {
  const names = Object.entries(keys).map(async ([name, key]) => {
    const { status } = await plane.call("/api/v4/account", { key });
    return status === 200 ? [name] : [];
  });
  return (await Promise.all(names)).flat();
}

async function emailsOf({ keys }: Opened) {
  const { body } = await plane.call("/api/v4/monitors?action=export", { key: keys.operator });
  const { monitors } = body.data as { readonly monitors: readonly { name: string; notify_emails: string[] | null }[] };
  return Object.fromEntries(monitors.map(({ name, notify_emails: emails }) => [name, emails]));
}

const keyOf = async ({ accountId }: Opened, name: string | null) =>
  (await listKeys(plane, accountId)).find((key) => key.name === name);

/** What the newest changes of an account were. */
async function logOf({ accountId }: Opened, limit: number) {
  const all = { subject: null, actor: null, from: null, to: null };
  const { rows } = await plane.app.changes.list(plane.app.sql, accountId, all, { limit, offset: 0 });
  return rows.map(({ subject, action, actor }) => `${subject.kind} ${subject.name} ${action} by ${actor.name}`);
}

/** The checkboxes of a form: their values, with whether they are ticked. */
const ticksOf = (html: string) =>
  Array.from(html.matchAll(/name="end" value="([^"]*)"( checked)?/g), ([, value = "", tick]) => [
    value,
    tick !== undefined,
  ]);

describe("the form that removes a member", () => {
  it("lists the member's keys, addresses and invites, ticked, and ends what is ticked", async () => {
    const account = await openAccount();
    const { owner, leaver, path, email } = account;
    await leaver.post("/app/members/invites", { role: "viewer", email: "friend@example.com" });
    const form = await owner.get(`${path}/remove`);
    expect(form.html).toMatch(/used \(vtg_\w+\.\.\.\), last used/);
    expect(form.html).toMatch(/unused \(vtg_\w+\.\.\.\), no use noted/);
    expect(form.html).toContain(`Take ${email} out of notify_emails of Alone, Both.`);
    expect(form.html).toContain("friend@example.com, Viewer");
    const ticks = ticksOf(form.html);
    expect(ticks.map(([, isTicked]) => isTicked)).toEqual([true, true, true]);
    const shown = ticks.map(([value]) => String(value));
    expect((await owner.post(`${path}/remove`, { shown, end: shown })).status).toBe(303);
    expect(await worksOf(account)).toEqual(["operator"]);
    expect(await emailsOf(account)).toEqual({ Both: ["ops@example.com"], Alone: null, Other: ["ops@example.com"] });
    const by = `by owner-${accounts}@example.org`;
    expect((await logOf(account, 6)).toSorted()).toEqual(
      [
        `invite friend@example.com deleted ${by}`,
        `key unused deleted ${by}`,
        `key used deleted ${by}`,
        `member ${email} deleted ${by}`,
        `monitor Alone changed ${by}`,
        `monitor Both changed ${by}`,
      ].toSorted(),
    );
    const [row] = await plane.app.sql<{ keys: number; counted: number }[]>`
      select (select count(*) from keys where account_id = accounts.id) as keys, key_count as counted
      from accounts where id = ${account.accountId}`;
    expect(row?.counted).toBe(row?.keys);
  });

  it("keeps what is not ticked, and ends what was made since it was shown", async () => {
    const account = await openAccount();
    const { owner, leaver, path } = account;
    const shown = ticksOf((await owner.get(`${path}/remove`)).html).map(([value]) => String(value));
    await leaver.post("/app/keys", { name: "a moment ago" });
    expect((await owner.post(`${path}/remove`, { shown })).status).toBe(303);
    expect(await worksOf(account)).toEqual(["used", "unused", "operator"]);
    expect((await emailsOf(account))["Alone"]).toEqual([account.email]);
    expect(await keyOf(account, "a moment ago")).toBeUndefined();
  });
});

describe("the form that lowers a member's role", () => {
  it("asks where there is something to end, lists it without ticks, and ends what is ticked", async () => {
    const account = await openAccount();
    const { owner, path } = account;
    const form = await owner.post(`${path}/role`, { role: "editor" });
    expect([form.status, form.html.includes("Lower the role of")]).toEqual([200, true]);
    expect(fieldsOfForm(form.html, `${path}/role`)).toMatchObject({ role: "editor", confirmed: "1" });
    const ticks = ticksOf(form.html);
    expect(ticks.map(([, isTicked]) => isTicked)).toEqual([false, false, false]);
    const shown = ticks.map(([value]) => String(value));
    const sent = { role: "editor", confirmed: "1", shown, end: [`key-${(await keyOf(account, "unused"))?.id}`] };
    expect((await owner.post(`${path}/role`, sent)).status).toBe(303);
    expect(await worksOf(account)).toEqual(["used", "operator"]);
    expect((await emailsOf(account))["Alone"]).toEqual([account.email]);
  });

  it("revokes no key of another maker or account", async () => {
    const account = await openAccount();
    const other = await openAccount();
    const foreign = [...(await listKeys(plane, other.accountId)), await keyOf(account, null)];
    const end = foreign.map((key) => `key-${key?.id}`);
    await account.owner.post(`${account.path}/role`, { role: "viewer", confirmed: "1", end });
    expect(await worksOf(account)).toContain("operator");
    expect(await worksOf(other)).toEqual(["used", "unused", "operator"]);
  });
});

describe("a key that is made at the moment of its maker's removal", () => {
  it("is not made", async () => {
    const account = await openAccount();
    const { owner, leaver, accountId, path } = account;
    await leaver.get("/app/keys");
    await owner.get("/app/members");
    const { sql } = plane.app;
    const answers = await sql.begin(async (tx) => {
      await tx`select from accounts where id = ${accountId} for no key update`;
      const removed = owner.post(`${path}/remove`);
      await untilLockIsAwaited(sql);
      const made = leaver.post("/app/keys", { name: "too late" });
      await untilLockIsAwaited(sql, 2);
      return { removed, made };
    });
    expect((await answers.removed).status).toBe(303);
    expect((await answers.made).status).toBe(403);
    expect(await keyOf(account, "too late")).toBeUndefined();
  });
});

describe("the link of a mail", () => {
  it("ends with the membership of its recipient, and that of a later mail works", async () => {
    const { owner, accountId, email, path } = await openAccount();
    const { sql, encryption } = plane.app;
    const monitor = await insertMonitor(sql, accountId, "Shop");
    const outage = {
      monitor,
      startedAt: STARTED,
      confirmedAt: after(5),
      failing: refusedAt("eu-west"),
      suppressedBy: null,
    };
    const { incident } = await transact(sql, (tx) => openOutage(tx, outage));
    const recipient = async (address: string) => {
      const [row] = await sql<{ id: number }[]>`
        insert into mail_recipients (account_id, email, confirmed_at, created_at)
        values (${accountId}, ${address}, now(), now())
        on conflict (account_id, lower(email)) do update set confirmed_at = now() returning id`;
      return row?.id ?? 0;
    };
    const [his, other] = [await recipient(email), await recipient("ops@example.com")];
    const linkTo = (recipientId: number) => {
      const expiresAt = new Date(clock.now().getTime() + 30 * DAY_MS);
      return `/i/${makeToken(encryption, { subject: { incidentId: incident.id }, recipientId, expiresAt })}`;
    };
    const links = [linkTo(his), linkTo(other)];
    const open = async (link: string | undefined, method = "GET") => {
      const response = await fetch(`${plane.url}${link}`, { method });
      return [response.status, (await response.text()).includes("is no member of the account any more")];
    };
    expect(await Promise.all(links.map((link) => open(link)))).toEqual([
      [200, false],
      [200, false],
    ]);
    clock.advance(MINUTE_MS);
    const answer = await owner.post(`${path}/remove`, { shown: ["address"] });
    expect(answer.status).toBe(303);
    expect(await open(links[0])).toEqual([410, true]);
    expect(await open(links[0], "POST")).toEqual([410, true]);
    expect(await open(links[1])).toEqual([200, false]);
    clock.advance(MINUTE_MS);
    expect(await open(linkTo(his))).toEqual([200, false]);
  });
});

describe("the sessions of a user", () => {
  it("are at most 50: one more ends the oldest, also when several begin at the same time", async () => {
    const { browser: first, accountId } = await signInOwner(plane, "everywhere@example.com", {
      address: "192.0.2.250",
    });
    const id = await memberIdOf(first, "everywhere@example.com");
    clock.advance(MINUTE_MS);
    const { sql } = plane.app;
    const from = { address: "192.0.2.1", userAgent: "", device: null, session: null, isGone: () => false };
    const openMany = (count: number) => {
      const devices = createDevices({ ...plane.app, clock });
      const sessions = createSessions({ ...plane.app, clock, random: systemRandom, devices });
      return Promise.all(
        Array.from({ length: count }, () => transact(sql, (tx) => sessions.open(tx, { userId: id, accountId }, from))),
      );
    };
    const countOf = async () => (await sql`select from sessions where user_id = ${id}`).length;
    await openMany(49);
    expect([await countOf(), (await first.get("/app/profile")).status]).toEqual([50, 200]);
    clock.advance(MINUTE_MS);
    const last = await signIn(plane, "everywhere@example.com", { address: "192.0.2.251" });
    expect([await countOf(), (await first.get("/app/profile")).status]).toEqual([50, 303]);
    await openMany(20);
    expect([await countOf(), (await last.get("/app/profile")).status]).toEqual([50, 200]);
  });
});
