import { pino } from "pino";
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
import type { ReceivedMail } from "#test/support/received-mail.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const MINUTE_MS = 60_000;
/** Nothing listens there. */
const NO_SERVER: MailServer = { host: "127.0.0.1", port: 1, tls: "offered", isVerified: true, credentials: null };
const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));
const logged: string[] = [];
/** What the mail server answers to the next messages. */
const verdicts: number[] = [];

const sink = await stopAfterAll(startMailSink({ onMessage: () => verdicts.shift() ?? "accept" }));
const server: MailServer = {
  host: "127.0.0.1",
  port: sink.port,
  tls: "offered",
  isVerified: true,
  credentials: null,
};
const plane = await stopAfterAll(
  startControlPlane({
    overrides: { clock },
    log: pino({}, { write: (line: string) => void logged.push(line) }),
    config: {
      mail: { server, from: "Vantage <alerts@example.com>" },
      signUp: "open",
      trustedProxies: ["127.0.0.0/8"],
    },
  }),
);

const mailsTo = (email: string) => sink.mails.filter(({ to }) => to === email);

async function mailTo(email: string, index = 0): Promise<ReceivedMail> {
  await expect.poll(() => mailsTo(email).length).toBeGreaterThan(index);
  const mail = mailsTo(email)[index];
  if (mail === undefined) throw new Error(`no mail ${index} to ${email}`);
  return mail;
}

/** The path of the link in a mail. */
function pathIn({ text }: ReceivedMail): string {
  return /https?:\/\/[^/\s]+(\/(?:reset|invite)\/[0-9A-Za-z]{32})$/m.exec(text)?.[1] ?? "no link";
}

let clients = 0;
function ask(path: "/reset" | "/sign-up", email: string): Promise<DashboardAnswer> {
  clients += 1;
  return openBrowser(plane, `198.51.100.${clients}`).post(path, { email });
}

/** Resolves when no mail waits any more. */
async function allSent(): Promise<void> {
  const waiting = async () => {
    const [row] = await plane.app.sql<{ waiting: number }[]>`
      select count(*) as waiting from requested_mails where sealed is not null`;
    return row?.waiting;
  };
  await expect.poll(waiting).toBe(0);
}

const isIn = async (browser: Browser) => (await browser.get("/app/monitors")).status === 200;

describe("a new password by mail", () => {
  it("is chosen by a link that works once, ends all sessions and signs in", async () => {
    const { browser: old } = await signInOwner(plane, "forgot@example.com");
    const asked = await ask("/reset", "Forgot@example.com");
    expect([asked.status, asked.html.includes("Look into your mail")]).toEqual([200, true]);
    // Not to the spelling of who asks: a mail server can give that to somebody else.
    const mail = await mailTo("forgot@example.com");
    expect(mail.header("subject")).toBe("[Vantage] Set a new password");
    expect(mail.header("auto-submitted")).toBe("auto-generated");
    const path = pathIn(mail);
    expect(mail.html).toContain(path);
    const browser = openBrowser(plane);
    expect((await browser.get(path)).html).toContain("Choose a new password");
    const short = await browser.post(path, { password: "short" });
    expect([short.status, short.html.includes("Must have at least 10 characters")]).toEqual([400, true]);
    expect(await isIn(old)).toBe(true);
    await ask("/reset", "forgot@example.com");
    const other = pathIn(await mailTo("forgot@example.com"));
    expect((await browser.post(path, { password: "a password by mail" })).status).toBe(303);
    expect((await openBrowser(plane).get(other)).status).toBe(404);
    expect([await isIn(browser), await isIn(old)]).toEqual([true, false]);
    expect((await openBrowser(plane).post(path, { password: "once more by mail" })).status).toBe(404);
    await signIn(plane, "forgot@example.com", { password: "a password by mail" });
    await expect(signIn(plane, "forgot@example.com")).rejects.toThrow("403");
  });

  it("is answered in the same way for an unknown address, which gets no mail", async () => {
    await signInOwner(plane, "known@example.com");
    const [known, unknown] = [await ask("/reset", "known@example.com"), await ask("/reset", "unknown@example.com")];
    expect([unknown.status, unknown.html]).toEqual([known.status, known.html]);
    await mailTo("known@example.com");
    await allSent();
    expect(mailsTo("unknown@example.com")).toEqual([]);
    expect((await ask("/reset", "not an address")).status).toBe(400);
  });

  it("is mailed three times a day at most, for all clients together", async () => {
    await signInOwner(plane, "flooded@example.com");
    for (let index = 0; index < 5; index += 1) expect((await ask("/reset", "flooded@example.com")).status).toBe(200);
    await allSent();
    expect(mailsTo("flooded@example.com")).toHaveLength(3);
    clock.advance(1_440 * MINUTE_MS);
    await ask("/reset", "flooded@example.com");
    await mailTo("flooded@example.com", 3);
  });

  it("is mailed however many sign-ups and invites strangers have had mailed there", async () => {
    await signInOwner(plane, "wanted@example.com");
    const { browser: stranger } = await signInOwner(plane, "pest@example.com");
    for (let index = 0; index < 4; index += 1) {
      await ask("/sign-up", "wanted@example.com");
      await stranger.post("/app/members/invites", { email: "Wanted@example.com", role: "viewer" });
    }
    await ask("/reset", "wanted@example.com");
    await allSent();
    const subjects = mailsTo("wanted@example.com").map((mail) => mail.header("subject") ?? "");
    expect(subjects.toSorted((one, other) => (one < other ? -1 : 1))).toEqual([
      "[Vantage] Set a new password",
      ...Array.from({ length: 3 }, () => "[Vantage] You can sign in"),
    ]);
    expect(mailsTo("Wanted@example.com")).toHaveLength(3);
  });

  it("works for an hour, and not for a password that was changed in the meantime", async () => {
    const { browser } = await signInOwner(plane, "late@example.com");
    await ask("/reset", "late@example.com");
    const first = pathIn(await mailTo("late@example.com"));
    clock.advance(60 * MINUTE_MS);
    expect((await openBrowser(plane).get(first)).status).toBe(404);
    await ask("/reset", "late@example.com");
    const second = pathIn(await mailTo("late@example.com", 1));
    expect((await openBrowser(plane).get(second)).status).toBe(200);
    await browser.post("/app/profile/password", { current: PASSWORD, next: "changed by hand" });
    expect((await openBrowser(plane).get(second)).status).toBe(404);
  });

  it("is tried again after the mail server's refusal for now, with a link that works", async () => {
    await signInOwner(plane, "retried@example.com");
    verdicts.push(451);
    await ask("/reset", "retried@example.com");
    await expect.poll(() => verdicts.length).toBe(0);
    const postponed = async () => {
      const [row] = await plane.app.sql<{ left: number }[]>`
        select count(*) as left from requested_mails where sealed is not null and attempts = 1 and due_at < ${new Date(clock.now().getTime() + 60_000)}`;
      return row?.left;
    };
    await expect.poll(postponed).toBe(1);
    clock.advance(MINUTE_MS);
    const path = pathIn(await mailTo("retried@example.com"));
    expect((await openBrowser(plane).get(path)).status).toBe(200);
    const [row] = await plane.app.sql<{ links: number }[]>`
      select count(*) as links from one_time_links join users on users.id = user_id where users.email = 'retried@example.com'`;
    expect(row?.links).toBe(1);
  });
});

describe("a sign-up", () => {
  it("opens an account on the plan free by the link of a mail", async () => {
    expect((await openBrowser(plane).get("/sign-in")).html).toContain('href="/sign-up"');
    await ask("/sign-up", "new@example.com");
    const path = pathIn(await mailTo("new@example.com"));
    const browser = openBrowser(plane);
    const other = await browser.post(path, { email: "else@example.com", password: PASSWORD });
    expect(other.status).toBe(403);
    expect((await browser.post(path, { email: "new@example.com", password: PASSWORD })).status).toBe(303);
    expect(await listMembers(browser)).toMatchObject([{ email: "new@example.com", role: "owner" }]);
    const { body: listed } = await plane.operate("GET", "/api/admin/accounts?per_page=100");
    expect(listed.data).toContainEqual(expect.objectContaining({ email: "new@example.com", plan: "free" }));
  });

  it("is answered in the same way for a known address, whose owner gets a mail that says so", async () => {
    await signInOwner(plane, "twice@example.com");
    const [known, unknown] = [await ask("/sign-up", "twice@example.com"), await ask("/sign-up", "fresh@example.com")];
    expect([unknown.status, unknown.html]).toEqual([known.status, known.html]);
    const mail = await mailTo("twice@example.com");
    expect([mail.header("subject"), pathIn(mail)]).toEqual(["[Vantage] You can sign in", "no link"]);
  });

  it("is mailed for ten addresses an hour that one client gives, in the same words for all", async () => {
    const client = openBrowser(plane, "203.0.113.1");
    const answers: string[] = [];
    for (let index = 0; index < 12; index += 1) {
      const { status, html } = await client.post("/sign-up", { email: `many${index}@example.com` });
      answers.push(`${status} ${html}`);
    }
    expect(new Set(answers).size).toBe(1);
    await allSent();
    const sent = () => sink.mails.filter(({ to }) => to.startsWith("many")).map(({ to }) => to);
    expect(sent()).toHaveLength(10);
    clock.advance(60 * MINUTE_MS);
    await client.post("/reset", { email: "many11@example.com" });
    await client.post("/sign-up", { email: "many11@example.com" });
    await mailTo("many11@example.com");
  });

  it.each([
    ["unless the operator opens it", { mail: { server: NO_SERVER, from: "Vantage <a@example.com>" } }, ["/sign-up"]],
    ["without a mail server, as are new passwords by mail", { signUp: "open" }, ["/sign-up", "/reset"]],
  ] as const)("is closed %s", async (_when, config, paths) => {
    const { databaseUrl } = plane;
    const closed = await startControlPlane({ databaseUrl, config });
    try {
      const browser = openBrowser(closed);
      for (const path of paths) {
        expect([path, (await browser.get(path)).status]).toEqual([path, 404]);
        expect([path, (await browser.post(path, { email: "a@example.com" })).status]).toEqual([path, 404]);
      }
      expect((await browser.get("/sign-in")).html).not.toMatch(new RegExp(paths.join("|")));
    } finally {
      await closed.stop();
    }
  });
});

describe("an invite by mail", () => {
  it("has the link that the owner sees, and no text of the account", async () => {
    const { browser: owner } = await signInOwner(plane, "inviting@example.com");
    const created = await owner.post("/app/members/invites", { email: "guest@example.com", role: "editor" });
    expect(created.html).toContain("It is mailed to guest@example.com, too.");
    const mail = await mailTo("guest@example.com");
    expect(created.html).toContain(pathIn(mail));
    expect(mail.text).not.toContain("inviting@example.com");
    const guest = openBrowser(plane);
    expect((await guest.post(pathIn(mail), { email: "guest@example.com", password: PASSWORD })).status).toBe(303);
  });
});

describe("invites by mail", () => {
  it("are mailed three times a day to an address: the page says so, and the next one's link works", async () => {
    const { browser: owner } = await signInOwner(plane, "eager@example.com");
    const invite = () => owner.post("/app/members/invites", { email: "tired@example.com", role: "viewer" });
    for (let index = 0; index < 3; index += 1)
      expect((await invite()).html).toContain("It is mailed to tired@example.com, too.");
    const { status, html } = await invite();
    expect([status, html.includes("No mail was sent: this address got 3 invites in the last day.")]).toEqual([
      201,
      true,
    ]);
    expect(html).not.toContain("It is mailed");
    await allSent();
    expect(mailsTo("tired@example.com")).toHaveLength(3);
    const path = /\/invite\/[0-9A-Za-z]{32}/.exec(html)?.[0] ?? "no invite";
    const guest = openBrowser(plane);
    expect((await guest.post(path, { email: "tired@example.com", password: PASSWORD })).status).toBe(303);
  });

  it("are fifty an hour for an account; the next one is refused and not made", async () => {
    const { browser: owner } = await signInOwner(plane, "advertiser@example.com");
    const invite = (email: string) => owner.post("/app/members/invites", { email, role: "viewer" });
    const asked = await Promise.all(Array.from({ length: 52 }, (_, n) => invite(`stranger${n}@example.com`)));
    expect(asked.map(({ status }) => status).filter((status) => status !== 201)).toEqual([429, 429]);
    const refused = asked.find(({ status }) => status === 429);
    expect(refused?.html).toContain("This account has mailed 50 invites in the last hour.");
    expect((await owner.get("/app/members")).html.match(/\/invites\/\d+\/revoke/g)).toHaveLength(50);
    expect((await invite("")).status).toBe(201);
    await allSent();
    expect(sink.mails.filter(({ to }) => to.startsWith("stranger"))).toHaveLength(50);
    clock.advance(60 * MINUTE_MS);
    await owner.post("/sign-in", { password: PASSWORD });
    expect((await invite("stranger99@example.com")).status).toBe(201);
  });
});

describe("the secrets of these mails", () => {
  it("are in no row and in no line of the log", async () => {
    await allSent();
    const tokens = sink.mails.map(pathIn).filter((path) => path !== "no link");
    expect(tokens.length).toBeGreaterThan(5);
    const rows = await plane.app.sql<{ row: string }[]>`
      select requested_mails::text as row from requested_mails union all select one_time_links::text from one_time_links`;
    const kept = [...rows.map(({ row }) => row), ...logged];
    const leaked = tokens
      .map((path) => path.split("/")[2] ?? "")
      .filter((token) => kept.some((one) => one.includes(token)));
    expect(leaked).toEqual([]);
    const mails = await plane.app.sql<{ row: string }[]>`select requested_mails::text as row from requested_mails`;
    expect(mails.length).toBeGreaterThan(5);
    expect(mails.filter(({ row }) => row.includes("@"))).toEqual([]);
  });
});
