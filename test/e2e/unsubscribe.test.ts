import { expect, it } from "vitest";
import { startMailSink } from "#test/servers/mail-sink.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { openMailWorld } from "#test/support/mail-world.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const BASE = "https://status.example.com";
const OPS = "ops@example.com";
const OTHER = "other@example.com";

let isBusy = false;

const database = await stopAfterAll(createTestDatabase());
const sink = await stopAfterAll(startMailSink({ onRecipient: () => (isBusy ? 451 : "accept") }));
const server = { host: "127.0.0.1", port: sink.port, tls: "offered", isVerified: true, credentials: null } as const;
const plane = await stopAfterAll(
  startControlPlane({
    databaseUrl: database.url,
    config: { mail: { server, from: "Vantage <alerts@example.com>" }, baseUrl: BASE },
  }),
);
const world = await stopAfterAll(openMailWorld(database.url));
await world.confirm(OPS, OTHER);

async function arrived(count: number): Promise<void> {
  await expect.poll(() => sink.mails.length).toBe(count);
}
const post = (path: string, body = "List-Unsubscribe=One-Click") =>
  plane.call(path, { method: "POST", body, headers: { "content-type": "application/x-www-form-urlencoded" } });

it("a recipient ends its alerts with one click, and only its own confirmation begins them again", async () => {
  await world.publish([OPS, OTHER], [{}]);
  await arrived(2);
  const first = sink.mails.find(({ to }) => to === OPS);
  expect(first?.header("list-unsubscribe-post")).toBe("List-Unsubscribe=One-Click");
  const url = /^<(https:\/\/status\.example\.com\/mail\/unsubscribe\/\S+)>$/.exec(
    first?.header("list-unsubscribe") ?? "",
  )?.[1];
  expect(first?.text).toMatch(new RegExp(`^Unsubscribe: +${url?.replaceAll(".", "\\.")}$`, "m"));
  const path = (url ?? "").slice(BASE.length);

  // Programs open links in mails.
  const page = await plane.call(path);
  expect(page.status).toBe(200);
  expect(page.text).toContain(OPS);
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(page.headers.get("referrer-policy")).toBe("no-referrer");
  await world.publish([OPS], [{}]);
  await arrived(3);

  // A mail that waits for its next attempt is not sent any more.
  isBusy = true;
  await world.publish([OPS], [{}]);
  await expect
    .poll(() => world.read())
    .toContainEqual({ status: "retrying", attempts: 1, error_code: "smtp_recipient_refused" });
  for (let n = 0; n < 2; n += 1) {
    const done = await post(path);
    expect(done.status).toBe(200);
    expect(done.text).toContain("Unsubscribed");
  }
  isBusy = false;
  await world.hurry();
  expect(await world.read()).toContainEqual({ status: "failed", attempts: 1, error_code: "unsubscribed" });
  await world.publish([OPS, OTHER], [{}]);
  await arrived(4);
  expect(sink.mails.at(-1)?.to).toBe(OTHER);

  // Many mails within a short time would become one.
  await world.sql`update deliveries set released_at = released_at - interval '1 hour'`;

  // The account wants it back: nobody is asked.
  await world.ask(OPS);
  expect(await world.sql`select from mail_recipients where wants_confirmation`).toHaveLength(0);

  const again = path.replace("/unsubscribe/", "/resubscribe/");
  expect((await plane.call(path)).text).toContain(`action="${again}"`);
  expect((await post(again)).status).toBe(200);
  await arrived(5);
  const confirmation = sink.mails.at(-1);
  expect(confirmation?.header("x-service-event")).toBe("confirm");
  expect(confirmation?.header("list-unsubscribe")).toBeUndefined();
  await world.publish([OPS, OTHER], [{}]);
  await arrived(6);
  expect(sink.mails.at(-1)?.to).toBe(OTHER);
  const link = /(\/mail\/confirm\/[0-9A-Za-z]{32})/.exec(confirmation?.text ?? "")?.[1] ?? "";
  expect((await post(link)).text).toContain("Address confirmed");
  await world.publish([OPS], [{}]);
  await arrived(7);
  expect(sink.mails.at(-1)?.to).toBe(OPS);
});

it("an old confirmation link does not undo it, and neither does a link that was altered", async () => {
  const { length } = sink.mails;
  await world.ask("new@example.com");
  await arrived(length + 1);
  const link = /(\/mail\/confirm\/[0-9A-Za-z]{32})/.exec(sink.mails.at(-1)?.text ?? "")?.[1] ?? "";
  expect((await post(link)).status).toBe(200);
  await world.publish(["new@example.com"], [{}]);
  await arrived(length + 2);
  const url = sink.mails.at(-1)?.header("list-unsubscribe") ?? "";
  const path = url.slice(1 + BASE.length, -1);
  for (const wrong of [path.replace(/.\.(\d+)$/, "_.$1"), path.replace(/\d+$/, "1"), "/mail/unsubscribe/x"]) {
    expect([wrong, (await post(wrong)).status]).toEqual([wrong, 404]);
  }
  expect((await post(path)).text).toContain("Unsubscribed");
  expect((await post(link)).status).toBe(404);
  expect((await plane.call(path)).text).toContain("/resubscribe/");
});

it("an account reads who has unsubscribed, and that nobody is left", async () => {
  const key = await plane.createKey("captain");
  const body = {
    name: "backup",
    check_type: "heartbeat",
    notify_email: true,
    notify_emails: ["a@example.com", "b@example.com"],
  };
  const { id } = await createMonitor(plane, key, body);
  await world.sql`
    update mail_recipients set confirmed_at = now(), wants_confirmation = false,
      unsubscribed_at = case email when 'a@example.com' then '2026-03-01T12:00:00Z'::timestamptz end
    where email in ('a@example.com', 'b@example.com')`;
  const read = async () => (await plane.call(`/api/v4/monitors?id=${id}`, { key })).body.data as object;
  expect(await read()).toMatchObject({
    notify_emails: [
      { email: "a@example.com", confirmed: true, unsubscribed_at: "2026-03-01T12:00:00.000Z" },
      { email: "b@example.com", confirmed: true, unsubscribed_at: null },
    ],
    notify_state: "ok",
  });
  await world.sql`update mail_recipients set unsubscribed_at = now() where email = 'b@example.com'`;
  expect(await read()).toMatchObject({ notify_state: "no_recipient" });
});
