import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase } from "#test/support/postgres.ts";
import { OPS, startRefusingMail, type RefusingMail } from "#test/support/refusing-mail.ts";
import { until } from "#test/support/until.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

let mail: RefusingMail;

const database = await stopAfterAll(createTestDatabase());
beforeEach(async () => {
  mail = await startRefusingMail(database.url);
});
afterEach(() => mail?.stop());

/** Returns the seconds from the end of the newest attempt to the next one. */
async function waits(): Promise<number> {
  const [row] = await mail.world.sql<{ seconds: number }[]>`
    select extract(epoch from d.next_attempt_at - max(a.ended_at))::float8 as seconds
    from deliveries as d join delivery_attempts as a on a.delivery_id = d.id group by d.id`;
  return row?.seconds ?? 0;
}

/** Reads the operator's warnings about mail. */
async function warnings(): Promise<readonly { readonly code: string; readonly message: string }[]> {
  const { body } = await mail.plane.operate("GET", "/api/admin/warnings");
  return (body.data as { code: string; message: string }[]).filter(({ code }) => code === "mail_failing");
}

/** Creates a monitor that mails to OPS. Returns a reader of its notify_state. */
async function watched(): Promise<() => Promise<unknown>> {
  const id = await mail.createMonitor([OPS]);
  const { plane, key } = mail;
  return async () => {
    const read = await plane.call(`/api/v4/monitors?id=${id}`, { key });
    const old = await plane.call(`/api/v3/monitors?id=${id}`, { key });
    expect(old.body.data).not.toHaveProperty("notify_state");
    return (read.body.data as { notify_state: string }).notify_state;
  };
}

/** Lets the failures have begun a minute earlier. */
async function letMinutePass(): Promise<void> {
  await mail.world.sql`update failing_receivers set failing_since = failing_since - interval '1 min'`;
}

describe("a mail that the server does not take now", () => {
  it("is sent again after ten seconds, after thirty, and after two minutes", async () => {
    mail.refused.set(OPS, 452);
    await mail.world.publish([OPS], [{}]);
    for (const [index, seconds] of [10, 30, 120].entries()) {
      await mail.failed(index + 1);
      const wait = await waits();
      // A delay is up to a fifth longer.
      expect(wait).toBeGreaterThanOrEqual(seconds - 0.001);
      expect(wait).toBeLessThanOrEqual(seconds * 1.2 + 0.001);
      await mail.world.hurry();
    }
  });

  it("is one line of the log, with the server's answer and nothing of the mail", async () => {
    mail.refused.set(OPS, 452);
    await mail.world.publish(
      [OPS],
      [{ monitor: { id: 1, name: "secret-shop", url: "https://a.example/", check_type: "http" } }],
    );
    await mail.failed(1);
    await mail.world.hurry();
    await mail.failed(2);
    const about = mail.lines.filter(({ code }) => code?.startsWith("smtp_"));
    expect(about).toMatchObject([
      { level: "warn", code: "smtp_recipient_refused", event: "monitor.down", reply_code: 452 },
    ]);
    expect(about[0]?.msg).toBe("a mail was not accepted: The mail server refused the recipient. Reply: 452 test 452");
    expect(JSON.stringify(mail.lines)).not.toContain("secret-shop");
  });

  it("is an operator warning after a minute, until mail goes again", async () => {
    mail.refused.set(OPS, 452);
    await mail.world.publish([OPS], [{}]);
    await mail.failed(1);
    expect(await warnings()).toEqual([]);
    await letMinutePass();
    const [warning] = await until(async () => ((await warnings()).length > 0 ? warnings() : null), "the warning");
    expect(warning?.message).toContain("1 mail has failed for a minute or more");
    expect(warning?.message).toContain("Reply: 452 test 452.");
    expect(await mail.plane.app.metrics.registry.metrics()).toContain('vantage_warning{code="mail_failing"} 1');
    expect(mail.lines.filter(({ code }) => code === "mail_failing")).toMatchObject([{ level: "warn" }]);
    mail.refused.clear();
    await mail.world.hurry();
    await expect.poll(() => mail.sink.mails.length).toBe(1);
    await expect.poll(warnings).toEqual([]);
    await expect.poll(() => mail.lines.filter(({ code }) => code === "mail_failing").length).toBe(2);
    expect(await mail.plane.app.metrics.registry.metrics()).toContain('vantage_warning{code="mail_failing"} 0');
  });
});

describe("a monitor", () => {
  it("says that mail fails when nothing was delivered for a minute, until something is", async () => {
    const state = await watched();
    expect(await state()).toBe("ok");
    mail.refused.set(OPS, 452);
    await mail.world.publish([OPS], [{}]);
    await mail.failed(1);
    expect(await state()).toBe("ok");
    await letMinutePass();
    expect(await state()).toBe("mail_failing");
    mail.refused.clear();
    await mail.world.hurry();
    await expect.poll(state, { interval: 500 }).toBe("ok");
  });

  it("says so too of an address that is refused for good", async () => {
    const state = await watched();
    mail.refused.set(OPS, 550);
    await mail.world.publish([OPS], [{}]);
    await expect.poll(() => mail.world.read()).toMatchObject([{ status: "failed" }]);
    await letMinutePass();
    expect(await state()).toBe("mail_failing");
  });
});
