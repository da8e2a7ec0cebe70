import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MailServer } from "#shared/settings/mail-server.ts";
import { startMailSink, type MailSink } from "#test/servers/mail-sink.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type Answer, type TestControlPlane } from "#test/support/control-plane.ts";
import type { ReceivedMail } from "#test/support/received-mail.ts";

/** On a busy machine a second is not enough. */
const WAIT = { timeout: 20_000 };
const BASE = "https://status.example.com";
const clock = createManualClock(new Date());

let plane: TestControlPlane;
let sink: MailSink;
let key: string;
let clients = 1;

beforeAll(async () => {
  sink = await startMailSink();
  const server: MailServer = {
    host: "127.0.0.1",
    port: sink.port,
    tls: "offered",
    isVerified: true,
    credentials: null,
  };
  plane = await startControlPlane({
    overrides: { clock },
    config: {
      mail: { server, from: "Vantage <alerts@example.com>" },
      baseUrl: BASE,
      trustedProxies: ["127.0.0.0/8"],
    },
  });
  key = await plane.createKey("captain");
});

afterAll(async () => {
  await plane?.stop();
  await sink?.close();
});

interface Made {
  readonly slug: string;
  readonly pageId: number;
  readonly monitorId: number;
  /** Path of the monitor's pings. */
  readonly ping: string;
}

let pages = 0;

async function createPage(over: object = {}): Promise<Made> {
  pages += 1;
  const slug = `shop-${pages}`;
  const monitor = (
    await plane.call("/api/v4/monitors", {
      key,
      body: { check_type: "heartbeat", name: "internal-job-7", heartbeat: { period_seconds: 3_600 } },
    })
  ).body.data as { id: number; heartbeat_url: string };
  const page = await plane.call("/api/v4/status", {
    key,
    body: { title: "Example Shop", slug, monitors: [{ id: monitor.id, name: "Orders" }], ...over },
  });
  expect(page.status, page.text).toBe(201);
  const { id } = page.body.data as { id: number };
  return { slug, pageId: id, monitorId: monitor.id, ping: new URL(monitor.heartbeat_url).pathname };
}

/** Posts the form of a page, each time from another client. */
function subscribe(slug: string, email: string, from = `198.51.100.${(clients += 1)}`): Promise<Answer> {
  return plane.call(`/status/${slug}/subscribe`, {
    method: "POST",
    body: `email=${encodeURIComponent(email)}`,
    headers: { "content-type": "application/x-www-form-urlencoded", "x-forwarded-for": from },
  });
}

const mailsTo = (email: string): readonly ReceivedMail[] => sink.mails.filter(({ to }) => to === email);

async function mailTo(email: string, index: number): Promise<ReceivedMail> {
  await expect.poll(() => mailsTo(email).length, WAIT).toBeGreaterThan(index);
  const mail = mailsTo(email)[index];
  if (mail === undefined) throw new Error(`no mail ${index} to ${email}`);
  return mail;
}

/** Returns the path of the link of a kind in a mail. */
function linkIn({ text }: ReceivedMail, kind: "confirm" | "unsubscribe"): string {
  const [, path = ""] = new RegExp(`${BASE}(/status/[a-z0-9-]+/${kind}/[0-9A-Za-z_-]+)`).exec(text) ?? [];
  expect(path).not.toBe("");
  return path;
}

async function subscribeAndConfirm(slug: string, email: string): Promise<void> {
  expect((await subscribe(slug, email)).status).toBe(200);
  const path = linkIn(await mailTo(email, mailsTo(email).length), "confirm");
  expect((await plane.call(path, { method: "POST" })).status).toBe(200);
}

describe("a subscription", () => {
  it("begins when its owner confirms it, and ends with one click", async () => {
    const { slug, ping } = await createPage();
    expect((await plane.call(`/status/${slug}`)).text).toContain(`action="/status/${slug}/subscribe"`);
    const answer = await subscribe(slug, "a@example.com");
    expect(answer.status, answer.text).toBe(200);
    const asked = await mailTo("a@example.com", 0);
    expect(asked.header("subject")).toBe("[Example Shop] Confirm your subscription");
    const confirm = linkIn(asked, "confirm");
    // Programs open links in mails: that must change nothing.
    expect((await plane.call(confirm)).text).toContain("a@example.com");
    await plane.call(`${ping}/fail`);
    await plane.call(ping);
    expect((await plane.call(confirm, { method: "POST" })).text).toContain("Subscribed");

    await plane.call(`${ping}/3`);
    const down = await mailTo("a@example.com", 1);
    expect(down.header("subject")).toBe("[Example Shop] Orders is down");
    expect(down.text).toContain("The run failed with exit code 3");
    expect(down.text).not.toContain("internal-job-7");
    expect(down.header("list-unsubscribe-post")).toBe("List-Unsubscribe=One-Click");
    const unsubscribe = linkIn(down, "unsubscribe");
    expect(down.header("list-unsubscribe")).toBe(`<${BASE}${unsubscribe}>`);
    await plane.call(ping);
    expect((await mailTo("a@example.com", 2)).header("subject")).toMatch(/^\[Example Shop\] Orders is up again/);

    const ended = await plane.call(unsubscribe, {
      method: "POST",
      body: "List-Unsubscribe=One-Click",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(ended.status, ended.text).toBe(200);
    expect((await plane.call(unsubscribe)).status).toBe(404);
    await plane.call(`${ping}/fail`);
    await expect
      .poll(
        () => plane.app.sql`select from deliveries where status in ('pending', 'retrying')`.then((rows) => rows.length),
        WAIT,
      )
      .toBe(0);
    expect(mailsTo("a@example.com")).toHaveLength(3);
  });

  it("brings what people write: incidents, updates and maintenance, if they are public", async () => {
    const { slug, monitorId, pageId } = await createPage();
    await subscribeAndConfirm(slug, "b@example.com");
    const opened = await plane.call("/api/v4/incidents", {
      key,
      body: { title: "Slow payments", text: "We look into it.\nMore soon.", page_ids: [pageId], impact: "minor" },
    });
    expect(opened.status, opened.text).toBe(201);
    const mail = await mailTo("b@example.com", 1);
    expect(mail.header("subject")).toBe("[Example Shop] Slow payments: investigating");
    expect(mail.text).toContain("We look into it.\nMore soon.");
    const { id } = opened.body.data as { id: number };
    const put = (body: object) => plane.call(`/api/v4/incidents?id=${id}`, { key, method: "PUT", body });
    await put({ update: { text: "for us only", public: false } });
    await put({ note: "a note" });
    await put({ update: { status: "resolved", text: "All is well." } });
    const resolved = await mailTo("b@example.com", 2);
    expect(resolved.header("subject")).toBe("[Example Shop] Slow payments: resolved");
    const window = {
      title: "Database upgrade",
      monitor_ids: [monitorId],
      starts_at: new Date(clock.now().getTime() + 3_600_000).toISOString(),
      ends_at: new Date(clock.now().getTime() + 7_200_000).toISOString(),
    };
    await plane.call("/api/v4/maintenance", { key, body: { ...window, title: "secret" } });
    const made = await plane.call("/api/v4/maintenance", { key, body: { ...window, public: true } });
    expect(made.status, made.text).toBe(201);
    const planned = await mailTo("b@example.com", 3);
    expect(planned.header("subject")).toBe("[Example Shop] Maintenance: Database upgrade");
    expect(planned.text).toContain("1 h");
    expect(mailsTo("b@example.com")).toHaveLength(4);
  });

  it("is answered alike for known and unknown addresses, and asked for once an hour", async () => {
    const { slug } = await createPage();
    await subscribeAndConfirm(slug, "c@example.com");
    const known = await subscribe(slug, "C@example.com");
    const fresh = await subscribe(slug, "d@example.com");
    const again = await subscribe(slug, "d@example.com");
    expect([known.text, again.text]).toEqual([fresh.text, fresh.text]);
    await mailTo("d@example.com", 0);
    const [row] = await plane.app.sql<{ count: number }[]>`
      select count(*) from status_page_subscribers where lower(email) in ('c@example.com', 'd@example.com')`;
    expect(row?.count).toBe(2);
    const [asked] = await plane.app.sql<{ count: number }[]>`
      select count(*) from deliveries where channel = 'page' and lower(recipient) in ('c@example.com', 'd@example.com')`;
    expect(asked?.count).toBe(2);
  });
});

describe("a flood of subscriptions", () => {
  it("from one client is limited, and to one address too", async () => {
    const { slug } = await createPage();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => subscribe(slug, `flood-${index}@example.com`, "203.0.113.5")),
    );
    expect(answers.filter(({ status }) => status === 429).length).toBe(20);
    const others = await Promise.all(Array.from({ length: 6 }, () => createPage()));
    for (const other of others) expect((await subscribe(other.slug, "victim@example.com")).status).toBe(200);
    const [row] = await plane.app.sql<{ count: number }[]>`
      select count(*) from deliveries where recipient = 'victim@example.com'`;
    expect(row?.count).toBe(3);
  });
});

describe("what is refused:", () => {
  it.each(["", "nobody", "a@b@c", "a@example.com\r\nBcc: all@example.com", `${"x".repeat(300)}@example.com`])(
    "the address %j",
    async (email) => {
      const { slug } = await createPage();
      const { status, text } = await subscribe(slug, email);
      expect(status).toBe(400);
      expect(text).toContain("email: must be a mail address");
    },
  );

  it("a page that does not exist, or that is not public", async () => {
    const { slug } = await createPage({ is_public: false });
    expect((await subscribe(slug, "e@example.com")).status).toBe(404);
    expect((await subscribe("no-such-page", "e@example.com")).status).toBe(404);
  });

  it("links that were changed, and those of the other kind", async () => {
    const { slug } = await createPage();
    await subscribe(slug, "f@example.com");
    const confirm = linkIn(await mailTo("f@example.com", 0), "confirm");
    const broken = [
      `${confirm.slice(0, -1)}${confirm.endsWith("A") ? "B" : "A"}`,
      confirm.replace("/confirm/", "/unsubscribe/"),
      confirm.replace(/\/\d+-/, "/999999-"),
      `/status/${slug}/confirm/x`,
    ];
    for (const path of broken) expect((await plane.call(path, { method: "POST" })).status, path).toBe(404);
    clock.advance(8 * 86_400_000);
    expect((await plane.call(confirm, { method: "POST" })).status).toBe(404);
  });
});
