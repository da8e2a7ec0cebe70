import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { signInOwner } from "#test/support/dashboard.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { OPS, startRefusingMail, type RefusingMail } from "#test/support/refusing-mail.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const GONE = "gone@example.com";
const NEW = "new@example.com";

let mail: RefusingMail;

const database = await stopAfterAll(createTestDatabase());
beforeEach(async () => {
  mail = await startRefusingMail(database.url);
  await mail.world.confirm(GONE);
});
afterEach(() => mail?.stop());

const test = (id: number | string, headers: Record<string, string> = {}, key = mail.key) =>
  mail.plane.call(`/api/v4/monitors?action=test-mail&id=${id}`, { method: "POST", key, headers });
const tests = () => mail.sink.mails.filter((one) => one.header("x-service-event") === "test");
const letMinutePass = () => mail.world.sql`update monitors set mail_tested_at = mail_tested_at - interval '1 min'`;

describe("action=test-mail", () => {
  it("mails every recipient that is confirmed, and answers each result", async () => {
    mail.refused.set(GONE, 550);
    const id = await mail.createMonitor([NEW, OPS, GONE]);
    const { status, body, text } = await test(id);
    expect(status, text).toBe(200);
    expect(body.data).toEqual({
      results: [
        {
          email: NEW,
          status: "not_confirmed",
          message: "The owner of this address has not confirmed it. The link is in the mail that asks for it.",
        },
        { email: OPS, status: "sent", message: "Taken by the mail server (250)." },
        {
          email: GONE,
          status: "failed",
          message: "The mail server refused the recipient. Reply: 550 test 550",
        },
      ],
    });
    expect(tests().map(({ to }) => to)).toEqual([OPS]);
    expect(tests()[0]?.header("subject")).toBe("Test: backup");
    expect(tests()[0]?.text).toContain("This is a test: nothing has happened to backup.");
  });

  it("is one attempt, also if the mail server is busy", async () => {
    mail.refused.set(OPS, 452);
    const { body } = await test(await mail.createMonitor([OPS]));
    expect(body.data).toMatchObject({ results: [{ status: "failed", message: expect.stringContaining("452") }] });
    expect(await mail.world.read()).toMatchObject([{ status: "failed", attempts: 1 }]);
  });

  it("is possible once a minute for a monitor", async () => {
    const [id, other] = [await mail.createMonitor([OPS]), await mail.createMonitor([OPS])];
    expect((await test(id)).status).toBe(200);
    const second = await test(id);
    expect([second.status, second.body.error]).toMatchObject([429, { code: "rate_limit_exceeded" }]);
    const wait = Number(second.headers.get("retry-after"));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(60);
    expect((await test(other)).status).toBe(200);
    await letMinutePass();
    expect((await test(id)).status).toBe(200);
    expect(tests()).toHaveLength(3);
  });

  it("is answered in the dashboard where its button is, also when it is refused", async () => {
    const id = await mail.createMonitor([OPS]);
    const { browser } = await signInOwner(mail.plane, "member@example.com", { accountId: mail.world.accountId });
    const { html } = await browser.get(`/app/monitors/${id}`);
    // The browser goes to this part of the answer.
    expect(html).toContain(`action="/app/monitors/${id}/test-mail#told"`);
    const told = (page: string) => /<section class="card" id="told">.*?<\/section>/s.exec(page)?.[0] ?? "";
    const sent = await browser.post(`/app/monitors/${id}/test-mail`);
    expect(told(sent.html)).toContain("Taken by the mail server (250).");
    const again = await browser.post(`/app/monitors/${id}/test-mail`);
    expect([again.status, told(again.html)]).toEqual([
      429,
      expect.stringMatching(/role="alert">[A-Z][^<]*Wait \d+ s\.</),
    ]);
  });

  it("sends nothing again for the same idempotency key", async () => {
    const id = await mail.createMonitor([OPS]);
    const headers = { "x-idempotency-key": "test-1" };
    const [first, second] = [await test(id, headers), await test(id, headers)];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.text).toBe(first.text);
    expect(second.headers.get("x-idempotent-replayed")).toBe("true");
    expect(tests()).toHaveLength(1);
  });

  it("whose process stopped answers what is known, and sends nothing again", async () => {
    const id = await mail.createMonitor([OPS]);
    const headers = { "x-idempotency-key": "test-2" };
    const first = await test(id, headers);
    expect(first.status).toBe(200);
    // As if the process had stopped between the commit of what it was about to send and the result.
    await mail.world.sql`update deliveries set status = 'pending', delivered_at = null, response_code = null`;
    await mail.world.sql`update idempotent_answers set answer = null, running_until = now() - interval '1 s'`;
    const second = await test(id, headers);
    expect([second.status, second.body.data]).toMatchObject([
      200,
      { results: [{ email: OPS, status: "failed", message: expect.stringContaining("may have arrived") }] },
    ]);
    expect(tests()).toHaveLength(1);
  });

  it("shows at once that mail goes again", async () => {
    const id = await mail.createMonitor([OPS]);
    const state = async () => {
      const { body } = await mail.plane.call(`/api/v4/monitors?id=${id}`, { key: mail.key });
      return (body.data as { notify_state: string }).notify_state;
    };
    mail.refused.set(OPS, 452);
    await test(id);
    await mail.world.sql`update failing_receivers set failing_since = failing_since - interval '1 min'`;
    expect(await state()).toBe("mail_failing");
    mail.refused.clear();
    await letMinutePass();
    await test(id);
    expect(await state()).toBe("ok");
  });

  it("is for a monitor of the account", async () => {
    const id = await mail.createMonitor([OPS]);
    const stranger = await mail.plane.createKey();
    expect((await test(id, {}, stranger)).status).toBe(404);
    expect((await test(987_654)).status).toBe(404);
    const without = await mail.plane.call("/api/v4/monitors?action=test-mail", { method: "POST", key: mail.key });
    expect([without.status, without.body.error]).toMatchObject([400, { field: "id", reason: "required" }]);
    const old = await mail.plane.call(`/api/v3/monitors?action=test-mail&id=${id}`, { method: "POST", key: mail.key });
    expect(old.status).toBe(404);
    expect(tests()).toEqual([]);
  });

  it("says that there is no mail server", async () => {
    const id = await mail.createMonitor([OPS, NEW]);
    const silent = await startControlPlane({ databaseUrl: database.url });
    const answer = await silent.call(`/api/v4/monitors?action=test-mail&id=${id}`, { method: "POST", key: mail.key });
    expect([answer.status, answer.body.data]).toMatchObject([
      200,
      {
        results: [
          { email: OPS, status: "failed", message: expect.stringContaining("VANTAGE_SMTP_URL") },
          { email: NEW, status: "not_confirmed" },
        ],
      },
    ]);
    const read = await silent.call(`/api/v4/monitors?id=${id}`, { key: mail.key });
    expect(read.body.data).toMatchObject({ notify_state: "mail_not_configured" });
    await silent.stop();
  });
});
