import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase } from "#test/support/postgres.ts";
import { OPS, startRefusingMail, type RefusingMail } from "#test/support/refusing-mail.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** The plan has 60 requests a minute. */
const SLOWLY = { interval: 500 };

let mail: RefusingMail;

const database = await stopAfterAll(createTestDatabase());
beforeEach(async () => {
  mail = await startRefusingMail(database.url);
});
afterEach(() => mail?.stop());

/** Opens an incident. Returns its id, and a reader of the lines about mails in its timeline. */
async function opened(): Promise<{ readonly incidentId: number; readonly timeline: () => Promise<readonly string[]> }> {
  const { plane, key } = mail;
  const body = { title: "Payments", text: "We look.", monitor_ids: [await mail.createMonitor([OPS])] };
  const made = await plane.call("/api/v4/incidents", { key, body });
  expect(made.status, made.text).toBe(201);
  const { id: incidentId } = made.body.data as { id: number };
  const timeline = async () => {
    const read = await plane.call(`/api/v4/incidents?id=${incidentId}`, { key });
    const entries = (read.body.data as { timeline: { kind: string; text: string }[] }).timeline;
    return entries.flatMap(({ kind, text }) => (kind.startsWith("mail") ? `${kind}: ${text}` : []));
  };
  return { incidentId, timeline };
}

describe("the timeline of an incident", () => {
  it("says once who was mailed, also after retries, and who was refused", async () => {
    const { incidentId, timeline } = await opened();
    await mail.world.confirm("gone@example.com");
    mail.refused.set(OPS, 452).set("gone@example.com", 550);
    await mail.world.publish([OPS, "gone@example.com"], [{ incidentId }]);
    const gone =
      "mail_failed: Mail about the outage to gone@example.com failed: The mail server refused the recipient. Reply: 550 test 550";
    await expect.poll(timeline, SLOWLY).toEqual([gone]);
    await mail.failed(1);
    await mail.world.hurry();
    await mail.failed(2);
    expect(await timeline()).toEqual([gone]);
    mail.refused.delete(OPS);
    await mail.world.hurry();
    await expect.poll(timeline, SLOWLY).toEqual([gone, `mailed: Mail about the outage sent to ${OPS} at attempt 3`]);
  });

  it("says after a minute that a mail is late, and when the next attempt is, once", async () => {
    const { incidentId, timeline } = await opened();
    mail.refused.set(OPS, 452);
    await mail.world.publish([OPS], [{ incidentId }]);
    // The schedule's own times, whatever the machine's: the third attempt begins within the minute, the fourth after it.
    const age = (seconds: number) =>
      mail.world.sql`update deliveries set created_at = now() - ${seconds}::float8 * interval '1 second'`;
    for (const attempts of [1, 2]) {
      await mail.failed(attempts);
      expect(await timeline()).toEqual([]);
      await age(attempts === 1 ? 10 : 40);
      await mail.world.hurry();
    }
    const late = expect.stringMatching(
      /^mail_delayed: Mail about the outage to ops@example\.com is not sent after 3 attempts; the next is in 2 minutes: The mail server refused the recipient\. Reply: 452 test 452$/,
    ) as string;
    await expect.poll(timeline, SLOWLY).toEqual([late]);
    await age(160);
    await mail.world.hurry();
    await mail.failed(4);
    mail.refused.delete(OPS);
    await mail.world.hurry();
    const sent = `mailed: Mail about the outage sent to ${OPS} at attempt 5`;
    await expect.poll(timeline, SLOWLY).toEqual([late, sent]);
  });

  it("has a line for each notice of a mail with several", async () => {
    const [one, other] = [await opened(), await opened()];
    const changes = [one, other, one, other, one].map(({ incidentId }) => ({ incidentId }));
    await mail.world.publish([OPS], changes);
    await expect.poll(one.timeline, SLOWLY).toHaveLength(3);
    expect(await other.timeline()).toHaveLength(2);
    expect(mail.sink.mails).toHaveLength(1);
  });

  it("says that a mail was given up", async () => {
    const { incidentId, timeline } = await opened();
    mail.refused.set(OPS, 452);
    await mail.world.publish([OPS], [{ incidentId }]);
    await mail.failed(1);
    await mail.world.sql`update deliveries set attempts = 28`;
    await mail.world.hurry();
    await expect
      .poll(timeline, SLOWLY)
      .toEqual([
        `mail_failed: Mail about the outage to ${OPS} given up after 29 attempts: The mail server refused the recipient. Reply: 452 test 452`,
      ]);
  });

  it("says so too of a mail whose replica stopped at its last attempt, and of one that nobody attempted", async () => {
    const { incidentId, timeline } = await opened();
    mail.refused.set(OPS, 452);
    await mail.world.publish([OPS], [{ incidentId }, { incidentId }]);
    await expect.poll(() => mail.world.read()).toMatchObject([{ status: "retrying" }, { status: "retrying" }]);
    const [lost, late] = await mail.world.sql<{ id: number }[]>`select id from deliveries order by id`;
    await mail.world.sql`
      update deliveries set attempts = 29, is_leased = true, due_at = now() - interval '1 s' where id = ${lost?.id ?? 0}`;
    await mail.world.sql`
      update deliveries set created_at = now() - interval '3 d', due_at = now() - interval '2 d' where id = ${late?.id ?? 0}`;
    await expect
      .poll(async () => (await timeline()).toSorted(), SLOWLY)
      .toEqual([
        `mail_failed: Mail about the outage to ${OPS} given up after 1 attempt: No attempt was made within 48 hours of the due time.`,
        `mail_failed: Mail about the outage to ${OPS} given up after 29 attempts: The process that made this attempt stopped before its result was stored.`,
      ]);
  });
});
