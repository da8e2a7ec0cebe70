import { pino } from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startMailSink, type MailSink } from "#test/servers/mail-sink.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { openMailWorld, type MailWorld } from "#test/support/mail-world.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";
import { until } from "#test/support/until.ts";

const OPS = "ops@example.com";

interface Line {
  readonly level: string;
  readonly code?: string;
  readonly msg: string;
}

let database: TestDatabase;
let plane: TestControlPlane;
let sink: MailSink;
let world: MailWorld;
let lines: Line[];
/** Recipients that the server refuses, with the codes of its answers. */
const refused = new Map<string, number>();

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  refused.clear();
  lines = [];
  sink = await startMailSink({ onRecipient: (address) => refused.get(address) ?? "accept" });
  world = await openMailWorld(database.url);
  await world.confirm(OPS);
  const write = (line: string): void => void lines.push(JSON.parse(line) as Line);
  const server = { host: "127.0.0.1", port: sink.port, tls: "never", isVerified: true, credentials: null } as const;
  plane = await startControlPlane({
    databaseUrl: database.url,
    config: { mail: { server, from: "alerts@example.com" } },
    log: pino({ level: "info", formatters: { level: (level) => ({ level }) } }, { write }),
  });
});
afterEach(async () => {
  await plane?.stop();
  await world.sql`truncate accounts, warnings, failing_receivers cascade`;
  await world.close();
  await sink.close();
});
afterAll(() => database?.drop());

/** Waits until so many attempts of the only delivery have failed. */
async function failed(attempts: number): Promise<void> {
  const ended = async () => {
    const rows = await world.sql`
      select from delivery_attempts where ended_at is not null and delivery_id in (
        select id from deliveries where account_id = ${world.accountId} and status = 'retrying' and not is_leased
      )`;
    return rows.length;
  };
  await expect.poll(ended).toBe(attempts);
}

/** Returns the seconds from the end of the newest attempt to the next one. */
async function waits(): Promise<number> {
  const [row] = await world.sql<{ seconds: number }[]>`
    select extract(epoch from d.next_attempt_at - max(a.ended_at))::float8 as seconds
    from deliveries as d join delivery_attempts as a on a.delivery_id = d.id group by d.id`;
  return row?.seconds ?? 0;
}

/** Reads the operator's warnings about mail. */
async function warnings(): Promise<readonly { readonly code: string; readonly message: string }[]> {
  const { body } = await plane.operate("GET", "/api/admin/warnings");
  return (body.data as { code: string; message: string }[]).filter(({ code }) => code === "mail_failing");
}

/** Creates a key of the account, and a monitor that mails to OPS. Returns a reader of its notify_state. */
async function watched(): Promise<() => Promise<unknown>> {
  const { body } = await plane.operate("POST", "/api/admin/keys", { account_id: world.accountId });
  const { key } = body.data as { key: string };
  const monitor = { check_type: "heartbeat", name: "backup", notify_email: true, notify_emails: [OPS] };
  const made = await plane.call("/api/v4/monitors", { key, body: monitor });
  expect(made.status, made.text).toBe(201);
  const { id } = made.body.data as { id: number };
  return async () => {
    const read = await plane.call(`/api/v4/monitors?id=${id}`, { key });
    const old = await plane.call(`/api/v3/monitors?id=${id}`, { key });
    expect(old.body.data).not.toHaveProperty("notify_state");
    return (read.body.data as { notify_state: string }).notify_state;
  };
}

/** Lets the failures have begun a minute earlier. */
async function letMinutePass(): Promise<void> {
  await world.sql`update failing_receivers set failing_since = failing_since - interval '1 min'`;
}

describe("a mail that the server does not take now", () => {
  it("is sent again after ten seconds, after thirty, and after two minutes", async () => {
    refused.set(OPS, 452);
    await world.publish([OPS], [{}]);
    for (const [index, seconds] of [10, 30, 120].entries()) {
      await failed(index + 1);
      const wait = await waits();
      // A delay is up to a fifth longer.
      expect(wait).toBeGreaterThanOrEqual(seconds - 0.001);
      expect(wait).toBeLessThanOrEqual(seconds * 1.2 + 0.001);
      await world.hurry();
    }
  });

  it("is one line of the log, with the server's answer and nothing of the mail", async () => {
    refused.set(OPS, 452);
    await world.publish(
      [OPS],
      [{ monitor: { id: 1, name: "secret-shop", url: "https://a.example/", check_type: "http" } }],
    );
    await failed(1);
    await world.hurry();
    await failed(2);
    const about = lines.filter(({ code }) => code?.startsWith("smtp_"));
    expect(about).toMatchObject([
      { level: "warn", code: "smtp_recipient_refused", event: "monitor.down", reply_code: 452 },
    ]);
    expect(about[0]?.msg).toBe(
      "a mail was not accepted and is tried again: The mail server refused the recipient. Reply: 452 test 452",
    );
    expect(JSON.stringify(lines)).not.toContain("secret-shop");
  });

  it("is an operator warning after a minute, until mail goes again", async () => {
    refused.set(OPS, 452);
    await world.publish([OPS], [{}]);
    await failed(1);
    expect(await warnings()).toEqual([]);
    await letMinutePass();
    const [warning] = await until(async () => ((await warnings()).length > 0 ? warnings() : null), "the warning");
    expect(warning?.message).toContain("1 mail has failed for a minute or more");
    expect(warning?.message).toContain("Reply: 452 test 452.");
    expect(await plane.app.metrics.registry.metrics()).toContain('vantage_warning{code="mail_failing"} 1');
    expect(lines.filter(({ code }) => code === "mail_failing")).toMatchObject([{ level: "warn" }]);
    refused.clear();
    await world.hurry();
    await expect.poll(() => sink.mails.length).toBe(1);
    await expect.poll(warnings).toEqual([]);
    await expect.poll(() => lines.filter(({ code }) => code === "mail_failing").length).toBe(2);
    expect(await plane.app.metrics.registry.metrics()).toContain('vantage_warning{code="mail_failing"} 0');
  });
});

describe("a monitor", () => {
  it("says that mail fails when nothing was delivered for a minute, until something is", async () => {
    const state = await watched();
    expect(await state()).toBe("ok");
    refused.set(OPS, 452);
    await world.publish([OPS], [{}]);
    await failed(1);
    expect(await state()).toBe("ok");
    await letMinutePass();
    expect(await state()).toBe("mail_failing");
    refused.clear();
    await world.hurry();
    await expect.poll(state).toBe("ok");
  });

  it("says so too of an address that is refused for good", async () => {
    const state = await watched();
    refused.set(OPS, 550);
    await world.publish([OPS], [{}]);
    await expect.poll(() => world.read()).toMatchObject([{ status: "failed" }]);
    await letMinutePass();
    expect(await state()).toBe("mail_failing");
  });
});
