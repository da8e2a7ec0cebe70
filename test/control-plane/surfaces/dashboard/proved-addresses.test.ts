import { describe, expect, it } from "vitest";
import type { MailServer } from "#shared/settings/mail-server.ts";
import { startMailSink } from "#test/servers/mail-sink.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import {
  listMembers,
  openBrowser,
  PASSWORD,
  signIn,
  signInOwner,
  type Browser,
  type DashboardAnswer,
} from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const DAY_MS = 86_400_000;
const OWN_PASSWORD = "the password of the owner";
const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));

const sink = await stopAfterAll(startMailSink());
const server: MailServer = {
  host: "127.0.0.1",
  port: sink.port,
  tls: "offered",
  isVerified: true,
  credentials: null,
};
const config = { trustedProxies: ["127.0.0.0/8"] };
const silent = await stopAfterAll(startControlPlane({ overrides: { clock }, config }));
/** Two control planes with one database: one sends mail. */
const mailing = await stopAfterAll(
  startControlPlane({
    databaseUrl: silent.databaseUrl,
    overrides: { clock },
    config: { ...config, mail: { server, from: "Vantage <alerts@example.com>" }, signUp: "open" },
  }),
);

const pathIn = (text: string) => /\/(?:reset|invite)\/[0-9A-Za-z]{32}/.exec(text)?.[0] ?? "no link";
const mailsTo = (email: string) => sink.mails.filter(({ to }) => to === email);

/** The path in the newest of `count` mails to an address. */
async function mailed(email: string, count = 1): Promise<string> {
  await expect.poll(() => mailsTo(email).length).toBe(count);
  return pathIn(mailsTo(email).at(-1)?.text ?? "");
}

let clients = 0;
function ask(path: "/reset" | "/sign-up", email: string): Promise<DashboardAnswer> {
  clients += 1;
  return openBrowser(mailing, `198.51.100.${clients}`).post(path, { email });
}

async function invite(owner: Browser, email = "", role = "viewer"): Promise<string> {
  return pathIn((await owner.post("/app/members/invites", { email, role })).html);
}

/** The members of an owner's account with their roles and whether their addresses are proved. */
async function membersOf(owner: Browser): Promise<readonly string[]> {
  const members = await listMembers(owner);
  return members.map(({ email, role, isConfirmed }) => `${email} ${role}${isConfirmed ? "" : " not confirmed"}`);
}

/** Lets somebody join with an address that is proved by nothing, and returns the browser. */
async function impersonate(owner: Browser, email: string, role = "viewer"): Promise<Browser> {
  const browser = openBrowser(silent);
  const joined = await browser.post(await invite(owner, "", role), { email, password: PASSWORD });
  if (joined.status !== 303) throw new Error(`the invite answered ${joined.status}: ${joined.html}`);
  return browser;
}

const isIn = async (browser: Browser) => (await browser.get("/app/monitors")).status === 200;

describe.each([
  ["with a mail server", () => mailing],
  ["without a mail server", () => silent],
] as const)("the life of an invite %s", (where, planeOf) => {
  const canMail = where === "with a mail server";
  const word = canMail ? "mail" : "none";

  /** Returns the link that this address uses, and the fields of its form. */
  async function linkFor(path: string, isBound: boolean, email: string) {
    if (isBound || !canMail) return { path, fields: { email, password: PASSWORD } };
    const asked = await openBrowser(mailing).post(path, { email, password: PASSWORD });
    expect([asked.status, asked.html.includes("Look into your mail")]).toEqual([200, true]);
    return { path: await mailed(email), fields: { password: PASSWORD } };
  }

  describe.each([
    ["for one address", true],
    ["for nobody", false],
  ] as const)("%s", (_for, isBound) => {
    const kind = `${word}-${isBound ? "bound" : "open"}`;

    it("is used once", async () => {
      const { browser: owner } = await signInOwner(planeOf(), `used-${kind}@example.com`);
      const guest = `guest-used-${kind}@example.com`;
      const invited = await invite(owner, isBound ? guest : "");
      const { path, fields } = await linkFor(invited, isBound, guest);
      expect((await openBrowser(planeOf()).get(path)).status).toBe(200);
      expect(await membersOf(owner)).toHaveLength(1);
      expect((await openBrowser(planeOf()).post(path, fields)).status).toBe(303);
      const isProved = isBound || canMail;
      expect((await membersOf(owner))[1]).toBe(`${guest} viewer${isProved ? "" : " not confirmed"}`);
      for (const one of new Set([path, invited]))
        expect((await openBrowser(planeOf()).post(one, { email: "late@example.com", password: PASSWORD })).status).toBe(
          404,
        );
    });

    it("works for 7 days", async () => {
      const { browser: owner } = await signInOwner(planeOf(), `old-${kind}@example.com`);
      const guest = `guest-old-${kind}@example.com`;
      const { path, fields } = await linkFor(await invite(owner, isBound ? guest : ""), isBound, guest);
      clock.advance(7 * DAY_MS);
      await owner.post("/sign-in", { password: PASSWORD });
      expect((await openBrowser(planeOf()).get(path)).status).toBe(404);
      expect((await openBrowser(planeOf()).post(path, fields)).status).toBe(404);
      expect(await membersOf(owner)).toHaveLength(1);
    });

    it("is used by one of two who use it at the same time", async () => {
      const { browser: owner } = await signInOwner(planeOf(), `raced-${kind}@example.com`);
      const guests = [0, 1].map((n) => `guest${isBound ? "" : n}-raced-${kind}@example.com`);
      const path = await invite(owner, isBound ? (guests[0] ?? "") : "");
      const links = [];
      for (const guest of guests) links.push(await linkFor(path, isBound, guest));
      const used = await Promise.all(links.map((link) => openBrowser(planeOf()).post(link.path, link.fields)));
      expect(used.filter(({ status }) => status === 303)).toHaveLength(1);
      expect(await membersOf(owner)).toHaveLength(2);
    });
  });
});

describe("an invite for nobody, with a mail server", () => {
  it("asks for the address alone, and answers known and unknown ones in the same way", async () => {
    const { browser: owner } = await signInOwner(mailing, "asking@example.com");
    await signInOwner(mailing, "known@example.com");
    const path = await invite(owner);
    const guest = openBrowser(mailing);
    expect((await guest.get(path)).html).not.toContain('name="password"');
    const [known, unknown] = [
      await guest.post(path, { email: "known@example.com" }),
      await guest.post(path, { email: "unknown@example.com" }),
    ];
    expect([unknown.status, unknown.html]).toEqual([known.status, known.html]);
    const link = await mailed("known@example.com");
    const page = await guest.get(link);
    expect(page.html).toContain("You join as known@example.com.");
    expect((await guest.post(link, { password: "not the password" })).status).toBe(403);
    expect((await guest.post(link, { password: PASSWORD })).status).toBe(303);
    expect(await membersOf(owner)).toEqual(["asking@example.com owner", "known@example.com viewer"]);
    expect((await openBrowser(mailing).get(await mailed("unknown@example.com"))).status).toBe(404);
    expect((await guest.post(path, { email: "not an address" })).status).toBe(404);
  });

  it("is mailed 3 times, each link for its address alone, and ends with its revocation", async () => {
    const { browser: owner } = await signInOwner(mailing, "thrice@example.com");
    const path = await invite(owner);
    const guest = openBrowser(mailing);
    expect((await guest.post(path, { email: "not an address" })).status).toBe(400);
    for (const n of [1, 2, 3]) expect((await guest.post(path, { email: `one-of-${n}@example.com` })).status).toBe(200);
    const fourth = await guest.post(path, { email: "one-of-4@example.com" });
    expect([fourth.status, fourth.html.includes("this invite was mailed 3 times already")]).toEqual([429, true]);
    const link = await mailed("one-of-2@example.com");
    const { browser: other } = await signInOwner(mailing, "other@example.com");
    expect((await other.get(link)).html).toContain("is for another address");
    await other.post(link);
    expect(await membersOf(owner)).toHaveLength(1);
    const listed = (await owner.get("/app/members")).html;
    expect(listed.match(/invites\/\d+\/revoke/g)).toHaveLength(1);
    await owner.post(`/app/members/${/invites\/\d+\/revoke/.exec(listed)?.[0]}`);
    expect((await openBrowser(mailing).get(link)).status).toBe(404);
    expect(mailsTo("one-of-4@example.com")).toEqual([]);
  });

  it("says when no mail was sent because its address got 3 invites in a day", async () => {
    const { browser: owner } = await signInOwner(mailing, "limited@example.com");
    for (let n = 0; n < 3; n += 1) await invite(owner, "full@example.com");
    const asked = await openBrowser(mailing).post(await invite(owner), { email: "full@example.com" });
    expect([asked.status, asked.html.includes("No mail was sent: this address got 3 invites")]).toEqual([429, true]);
  });

  it("is joined at once by who is signed in", async () => {
    const { browser: owner } = await signInOwner(mailing, "open@example.com");
    const { browser: member } = await signInOwner(mailing, "signed-in@example.com");
    expect((await member.post(await invite(owner))).status).toBe(303);
    expect(await membersOf(owner)).toEqual(["open@example.com owner", "signed-in@example.com viewer"]);
  });
});

describe("an address that is proved by a mail after somebody else gave it", () => {
  it("keeps the accounts of which its owner says that they are", async () => {
    const { browser: owner, accountId: mine } = await signInOwner(silent, "my-boss@example.com");
    const { browser: stranger, accountId: theirs } = await signInOwner(silent, "stranger@example.com");
    const user = await impersonate(stranger, "victim@example.com");
    expect((await user.post(await invite(owner, "", "editor"))).status).toBe(303);
    const thief = await signIn(silent, "victim@example.com");
    await thief.post("/app/profile/account", { account_id: String(theirs) });
    await ask("/reset", "victim@example.com");
    const path = await mailed("victim@example.com");
    const page = await openBrowser(mailing).get(path);
    expect(page.html).toContain("my-boss@example.com, with the role editor");
    expect(page.html).toContain("stranger@example.com, with the role viewer");
    expect(await membersOf(stranger)).toContain("victim@example.com viewer not confirmed");
    const half = { password: OWN_PASSWORD, [`account_${mine}`]: "mine" };
    const refused = await openBrowser(mailing).post(path, half);
    expect([refused.status, refused.html.includes("Must be Mine or Not mine")]).toEqual([400, true]);
    const victim = openBrowser(mailing);
    expect((await victim.post(path, { ...half, [`account_${theirs}`]: "not_mine" })).status).toBe(303);
    expect(await membersOf(owner)).toEqual(["my-boss@example.com owner", "victim@example.com editor"]);
    expect((await membersOf(stranger))[1]).toMatch(/^\(no address\)(?: \d+)? viewer$/);
    expect((await stranger.get("/app/changes")).html).toContain("victim@example.com");
    expect([await isIn(victim), await isIn(user), await isIn(thief)]).toEqual([true, false, true]);
    expect((await thief.post("/sign-in", { password: PASSWORD })).status).toBe(303);
    await expect(signIn(silent, "victim@example.com")).rejects.toThrow("403");
    await signIn(silent, "victim@example.com", { password: OWN_PASSWORD });
    expect((await openBrowser(mailing).get(path)).status).toBe(404);
    await ask("/reset", "victim@example.com");
    expect((await openBrowser(mailing).get(await mailed("victim@example.com", 2))).html).not.toContain("with the role");
  });

  it("is confirmed if all are", async () => {
    const { browser: owner, accountId } = await signInOwner(silent, "all-mine@example.com");
    const old = await impersonate(owner, "honest@example.com");
    await ask("/sign-up", "honest@example.com");
    const path = await mailed("honest@example.com");
    const fields = { password: OWN_PASSWORD, [`account_${accountId}`]: "mine" };
    expect((await openBrowser(mailing).post(path, fields)).status).toBe(303);
    expect(await membersOf(owner)).toEqual(["all-mine@example.com owner", "honest@example.com viewer"]);
    expect(await isIn(old)).toBe(false);
  });

  it("is in no account if none is, and none is opened", async () => {
    const { body } = await silent.operate("POST", "/api/admin/invites", {});
    const thief = openBrowser(silent);
    const opened = { email: "nobody@example.com", password: PASSWORD };
    expect((await thief.post(`/invite/${(body.data as { token: string }).token}`, opened)).status).toBe(303);
    await ask("/reset", "nobody@example.com");
    const path = await mailed("nobody@example.com");
    const browser = openBrowser(mailing);
    const [asked = ""] = /account_\d+/.exec((await browser.get(path)).html) ?? [];
    const answer = await browser.post(path, { password: OWN_PASSWORD, [asked]: "not_mine" });
    expect([answer.status, answer.html.includes("There is no account")]).toEqual([200, true]);
    expect(await isIn(browser)).toBe(false);
    expect(await isIn(thief)).toBe(true);
    const left = await silent.app.sql`
      select from accounts where email = 'nobody@example.com' union all
      select from users where email = 'nobody@example.com'`;
    expect(left).toHaveLength(0);
    expect((await openBrowser(mailing).get(path)).status).toBe(404);
  });

  it("gets an account of its own by a sign-up if none is", async () => {
    const { browser: stranger, accountId } = await signInOwner(silent, "collector@example.com");
    await impersonate(stranger, "newcomer@example.com");
    await ask("/sign-up", "newcomer@example.com");
    const path = await mailed("newcomer@example.com");
    const fields = { password: OWN_PASSWORD, [`account_${accountId}`]: "not_mine" };
    const browser = openBrowser(mailing);
    expect((await browser.post(path, fields)).status).toBe(303);
    expect(await isIn(browser)).toBe(true);
    expect(await membersOf(browser)).toEqual(["newcomer@example.com owner"]);
  });
});

it("users whom a release before has made are proved", async () => {
  const [row] = await silent.app.sql<{ isProved: boolean }[]>`
    insert into users (email, password_hash, created_at, updated_at) values ('before@example.com', '', now(), now())
    returning proved_at is not null as "isProved"`;
  expect(row?.isProved).toBe(true);
});
