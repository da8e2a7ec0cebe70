import { describe, expect, it } from "vitest";
import { BASE, linkIn, startSubscriberWorld } from "#test/support/page-subscribers.ts";
import type { ReceivedMail } from "#test/support/received-mail.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const world = await stopAfterAll(startSubscriberWorld());
const { plane, clock, key, createPage, subscribe, subscribeAndConfirm, mailsTo, mailTo, untilSent } = world;

/** Waits until the statuses follow the pings: a call with the key of their account does. */
async function untilFollowed(): Promise<void> {
  expect((await plane.call("/api/v4/monitors", { key })).status).toBe(200);
}

describe("a subscription", () => {
  it("begins when its owner confirms it, and ends with one click", async () => {
    const { slug, ping } = await createPage();
    expect((await plane.call(`/status/${slug}`)).text).toContain(`action="/status/${slug}/subscribe"`);
    const answer = await subscribe(slug, "a@example.com");
    expect(answer.status, answer.text).toBe(200);
    const asked = await mailTo("a@example.com", 0);
    expect(asked.header("subject")).toBe("[status.example.com] Confirm your subscription");
    const confirm = linkIn(asked, "confirm");
    // Programs open links in mails: that must change nothing.
    expect((await plane.call(confirm)).text).toContain("a@example.com");
    await plane.call(`${ping}/fail`);
    await plane.call(ping);
    await untilFollowed();
    expect((await plane.call(confirm, { method: "POST" })).text).toContain("Subscribed");

    await plane.call(`${ping}/3`);
    const down = await mailTo("a@example.com", 1);
    expect(down.header("subject")).toBe("[Example Shop] Orders is down");
    expect(down.text).toContain("A scheduled job did not report");
    const incident = `/status/${slug}/incidents/${down.header("x-service-incident")}`;
    expect(down.text).toContain(`${BASE}${incident}\n`);
    expect((await plane.call(incident)).text).toContain("Orders is down");
    expect(down.raw).not.toMatch(/internal-job-7|exit code/);
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
    await untilFollowed();
    await untilSent();
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

  it("brings updates to an outage under the monitor's name on the page, not its own", async () => {
    const { slug, ping } = await createPage();
    await subscribeAndConfirm(slug, "outage@example.com");
    await plane.call(`${ping}/fail`);
    const down = await mailTo("outage@example.com", 1);
    expect(down.header("subject")).toBe("[Example Shop] Orders is down");
    const id = Number(down.header("x-service-incident"));
    const put = (body: object) => plane.call(`/api/v4/incidents?id=${id}`, { key, method: "PUT", body });
    await put({ update: { status: "identified", text: "The disk is full." } });
    const updated = await mailTo("outage@example.com", 2);
    expect(updated.header("subject")).toBe("[Example Shop] Orders is down: identified");
    expect(updated.raw).not.toContain("internal-job-7");
    await put({ title: "Orders are late", update: { text: "We add space." } });
    const renamed = await mailTo("outage@example.com", 3);
    expect(renamed.header("subject")).toBe("[Example Shop] Orders are late: identified");
  });

  it("brings the cause of an outage only if the page shows causes", async () => {
    const { slug, ping } = await createPage({ show_causes: true });
    await subscribeAndConfirm(slug, "cause@example.com");
    await plane.call(`${ping}/3`);
    expect((await mailTo("cause@example.com", 1)).text).toContain("The run failed with exit code 3");
  });

  it("brings an outage when it has lasted for the minutes of the page, and nothing of one that has not", async () => {
    const { slug, ping } = await createPage({ auto_incidents_after_minutes: 2 });
    const email = "waits@example.com";
    await subscribeAndConfirm(slug, email);
    await plane.call(`${ping}/fail`);
    await plane.call(ping);
    await untilFollowed();
    await plane.call(`${ping}/fail`);
    await untilFollowed();
    clock.advance(121_000);
    const down = await mailTo(email, 1);
    expect(down.header("subject")).toBe("[Example Shop] Orders is down");
    await plane.call(ping);
    expect((await mailTo(email, 2)).header("subject")).toMatch(/^\[Example Shop\] Orders is up again after 2 min/);
    expect(mailsTo(email)).toHaveLength(3);
  });

  it("brings no outage where these are no incidents of the page, until somebody writes about one", async () => {
    const { slug, ping } = await createPage({ auto_incidents: false });
    const email = "by-hand@example.com";
    await subscribeAndConfirm(slug, email);
    await plane.call(`${ping}/fail`);
    await untilFollowed();
    const listed = await plane.call("/api/v4/incidents?status=open&limit=1", { key });
    const [outage] = listed.body.data as readonly { readonly id: number }[];
    // Whether a mail about it is sent is decided when it would be sent: not after the update.
    await untilSent();
    expect(mailsTo(email)).toHaveLength(1);
    const update = { status: "identified", text: "The disk is full." };
    await plane.call(`/api/v4/incidents?id=${outage?.id}`, { key, method: "PUT", body: { update } });
    expect((await mailTo(email, 1)).header("subject")).toBe("[Example Shop] Orders is down: identified");
    await plane.call(ping);
    expect((await mailTo(email, 2)).header("subject")).toMatch(/^\[Example Shop\] Orders is up again/);
  });

  it("is answered alike for known and unknown addresses, and asked for once a day", async () => {
    const { slug } = await createPage();
    await subscribeAndConfirm(slug, "c@example.com");
    const known = await subscribe(slug, "C@example.com");
    const fresh = await subscribe(slug, "d@example.com");
    const again = await subscribe(slug, "d@example.com");
    expect([known.text, again.text]).toEqual([fresh.text, fresh.text]);
    await untilSent();
    expect(["c@example.com", "C@example.com", "d@example.com"].map((email) => mailsTo(email).length)).toEqual([
      1, 0, 1,
    ]);
  });
});

describe("a mail", () => {
  /** Waits until two notices to an address wait for each other, and lets their time pass. */
  async function sendTogether(email: string): Promise<void> {
    const held = () => plane.app.sql`select from deliveries where recipient = ${email} and held_by = 'window'`;
    await expect.poll(() => held().then((rows) => rows.length)).toBe(2);
    clock.advance(31_000);
  }

  it("names its event and its incident for programs, but several events are a digest", async () => {
    const { slug, pageId, ping } = await createPage();
    const email = "heads@example.com";
    await subscribeAndConfirm(slug, email);
    const headsOf = (mail: ReceivedMail) => [mail.header("x-service-event"), mail.header("x-service-incident")];
    expect(headsOf(await mailTo(email, 0))).toEqual(["confirm", undefined]);
    await plane.call(`${ping}/fail`);
    const [event, incident] = headsOf(await mailTo(email, 1));
    expect([event, incident]).toEqual(["monitor.down", expect.stringMatching(/^\d+$/)]);
    const open = (title: string) =>
      plane.call("/api/v4/incidents", { key, body: { title, text: "We look into it.", page_ids: [pageId] } });
    const opened = (await open("Slow")).body.data as { id: number };
    expect(headsOf(await mailTo(email, 2))).toEqual(["page.incident", String(opened.id)]);
    // Mails after the first four within 30 s travel together.
    await open("Fourth");
    await mailTo(email, 3);
    for (const title of ["Fifth", "Sixth"]) await open(title);
    await sendTogether(email);
    const digest = await mailTo(email, 4);
    expect(digest.header("subject")).toBe("[Example Shop] 2 changes");
    expect(headsOf(digest)).toEqual(["digest", undefined]);
    expect(digest.header("references")).toBeUndefined();
  });

  it("about several events of which the page shows one is a mail about that one", async () => {
    const { slug, pageId } = await createPage();
    const email = "one@example.com";
    await subscribeAndConfirm(slug, email);
    const open = async (title: string) => {
      const body = { title, text: "We look into it.", page_ids: [pageId] };
      return ((await plane.call("/api/v4/incidents", { key, body })).body.data as { id: number }).id;
    };
    for (let index = 1; index <= 3; index += 1) {
      await open(`Before ${index}`);
      await mailTo(email, index);
    }
    const hidden = await open("Hidden");
    const shown = await open("Shown");
    await plane.call(`/api/v4/incidents?id=${hidden}`, { key, method: "PUT", body: { public: false } });
    await sendTogether(email);
    const mail = await mailTo(email, 4);
    expect(mail.header("subject")).toBe("[Example Shop] Shown: investigating");
    expect([mail.header("x-service-event"), mail.header("x-service-incident")]).toEqual([
      "page.incident",
      String(shown),
    ]);
  });

  it("has names of at most 120 characters in its subject, and whole ones in its text", async () => {
    const long = (letter: string): string => `${letter.repeat(199)}.`;
    const cut = (letter: string): string => `${letter.repeat(119)}…`;
    const { slug, pageId, monitorId, ping } = await createPage({ title: long("t") });
    const answer = await plane.call(`/api/v4/status?id=${pageId}`, {
      key,
      method: "PUT",
      body: { monitors: [{ id: monitorId, name: long("m") }] },
    });
    expect(answer.status, answer.text).toBe(200);
    const email = "long@example.com";
    await subscribeAndConfirm(slug, email);
    expect((await mailTo(email, 0)).text).toContain(`"${cut("t")}"`);
    await plane.call(`${ping}/fail`);
    const down = await mailTo(email, 1);
    expect(down.header("subject")).toBe(`[${cut("t")}] ${cut("m")} is down`);
    expect(down.text).toContain(`${long("m")} is down`);
    const body = { title: long("i"), text: "We look into it.", page_ids: [pageId] };
    await plane.call("/api/v4/incidents", { key, body });
    expect((await mailTo(email, 2)).header("subject")).toBe(`[${cut("t")}] ${cut("i")}: investigating`);
    const window = { title: long("w"), monitor_ids: [monitorId], public: true, duration_seconds: 600 };
    const startsAt = new Date(clock.now().getTime() + 3_600_000).toISOString();
    await plane.call("/api/v4/maintenance", { key, body: { ...window, starts_at: startsAt } });
    expect((await mailTo(email, 3)).header("subject")).toBe(`[${cut("t")}] Maintenance: ${cut("w")}`);
  });
});

describe("what becomes public later", () => {
  const open = async (body: object): Promise<number> => {
    const opened = await plane.call("/api/v4/incidents", {
      key,
      body: { title: "Slow", text: "for us only", impact: "minor", public: false, ...body },
    });
    expect(opened.status, opened.text).toBe(201);
    return (opened.body.data as { id: number }).id;
  };
  const put = async (noun: "incidents" | "maintenance", id: number, body: object): Promise<void> => {
    const answer = await plane.call(`/api/v4/${noun}?id=${id}`, { key, method: "PUT", body });
    expect(answer.status, answer.text).toBe(200);
  };

  /** Returns what a subscriber gets, oldest first, as type and text. The rows are written with the change itself. */
  async function noticesTo(email: string): Promise<readonly string[]> {
    const rows = await plane.app.sql<{ type: string; body: string }[]>`
      select e.type, e.body from deliveries as d join events as e on e.id = d.event_id
      where d.recipient = ${email} and d.channel = 'page' and e.type <> 'page.confirm' order by d.id`;
    return rows.map(({ type, body }) => {
      const { data } = JSON.parse(body) as { data: { text?: string; title: string } };
      return `${type}: ${data.text ?? data.title}`;
    });
  }

  it("is mailed once if it is an incident, with its newest public update", async () => {
    const { slug, pageId } = await createPage();
    const email = "later@example.com";
    await subscribeAndConfirm(slug, email);
    const quiet = await open({ page_ids: [pageId] });
    expect(await noticesTo(email)).toEqual([]);
    await put("incidents", quiet, { public: true });
    expect(await noticesTo(email)).toEqual(["page.incident: "]);
    const mail = await mailTo(email, 1);
    expect(mail.header("subject")).toBe("[Example Shop] Slow: investigating");
    expect(mail.text).not.toContain("for us only");
    await put("incidents", quiet, { public: true });
    await put("incidents", quiet, { public: false });
    await put("incidents", quiet, { public: true });
    expect(await noticesTo(email)).toHaveLength(1);

    const spoken = await open({ page_ids: [pageId] });
    const update = (text: string) => ({ update: { status: "identified", text } });
    await put("incidents", spoken, { public: true, ...update("The cause is known.") });
    await put("incidents", spoken, { public: false });
    await put("incidents", spoken, { public: true, ...update("We repair it.") });
    expect((await noticesTo(email)).slice(1)).toEqual([
      "page.incident: The cause is known.",
      "page.update: We repair it.",
    ]);
  });

  it("is not mailed if the incident was mailed as an outage, or is over", async () => {
    const { slug, pageId, ping } = await createPage();
    const email = "over@example.com";
    await subscribeAndConfirm(slug, email);
    const over = await open({ page_ids: [pageId], status: "resolved" });
    await put("incidents", over, { public: true });
    const ended = await open({ page_ids: [pageId] });
    await put("incidents", ended, { public: true, update: { status: "resolved", text: "It was short." } });
    expect(await noticesTo(email)).toEqual(["page.update: It was short."]);
    await plane.call(`${ping}/fail`);
    const outage = Number((await mailTo(email, 2)).header("x-service-incident"));
    await put("incidents", outage, { public: false });
    await put("incidents", outage, { public: true });
    expect(await noticesTo(email)).toHaveLength(2);
  });

  it("is mailed once if it is a maintenance window that is not over", async () => {
    const { slug, monitorId } = await createPage();
    const email = "window@example.com";
    await subscribeAndConfirm(slug, email);
    const inHours = (hours: number) => new Date(clock.now().getTime() + hours * 3_600_000).toISOString();
    const plan = async (title: string): Promise<number> => {
      const body = { title, monitor_ids: [monitorId], starts_at: inHours(1), ends_at: inHours(2) };
      const made = await plane.call("/api/v4/maintenance", { key, body });
      expect(made.status, made.text).toBe(201);
      return (made.body.data as { id: number }).id;
    };
    const shown = await plan("Upgrade");
    expect(await noticesTo(email)).toEqual([]);
    await put("maintenance", shown, { public: true, title: "Database upgrade" });
    expect(await noticesTo(email)).toEqual(["page.maintenance: Database upgrade"]);
    await put("maintenance", shown, { title: "Upgrade of the database" });
    await put("maintenance", shown, { public: false });
    await put("maintenance", shown, { public: true });
    await put("maintenance", shown, { status: "cancelled" });
    await put("maintenance", shown, { status: "scheduled" });
    expect(await noticesTo(email)).toHaveLength(1);

    const postponed = await plan("Move");
    await put("maintenance", postponed, { status: "cancelled", public: true });
    expect(await noticesTo(email)).toHaveLength(1);
    await put("maintenance", postponed, { status: "scheduled" });
    const over = await plan("Past");
    clock.advance(3 * 3_600_000);
    await put("maintenance", over, { public: true });
    expect((await noticesTo(email)).slice(1)).toEqual(["page.maintenance: Move"]);
  });
});
