import { afterAll, beforeAll, expect, it } from "vitest";
import { startMailSink, type MailSink } from "#test/servers/mail-sink.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { manyChanges, openMailWorld, type MailWorld } from "#test/support/mail-world.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";

const RECIPIENTS = Array.from({ length: 60 }, (_, n) => `r${n}@example.com`);
let database: TestDatabase;
let sink: MailSink;
let world: MailWorld;
let replicas: ControlPlaneProcess[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  // Slow enough that a kill always finds mails at every step.
  const pause = () => new Promise<"accept">((resolve) => setTimeout(() => resolve("accept"), 30));
  sink = await startMailSink({ onRecipient: pause, onMessage: pause });
  world = await openMailWorld(database.url);
  await world.confirm(...RECIPIENTS);
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.end("SIGKILL")));
  await world?.close();
  await sink?.close();
  await database?.drop();
});

async function start(): Promise<void> {
  const settings = {
    VANTAGE_SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
    VANTAGE_MAIL_FROM: "alerts@example.com",
  };
  replicas.push(await startControlPlaneProcess(database.url, { settings }));
}

it("replicas that are killed while they send lose no notice, and repeat only what they did not store", async () => {
  await Promise.all([start(), start()]);
  let published = 0;
  for (let kill = 0; kill < 2; kill += 1) {
    await world.publish(RECIPIENTS, manyChanges(1, kill + 1));
    published += RECIPIENTS.length;
    const before = sink.mails.length;
    await expect.poll(() => sink.mails.length, { interval: 5 }).toBeGreaterThan(before + 15);
    const [victim] = replicas;
    if (victim === undefined) throw new Error("no replica is left");
    replicas = replicas.slice(1);
    await victim.end("SIGKILL");
    await start();
  }
  await expect
    .poll(
      async () => {
        await world.hurry();
        return (await world.read()).filter(({ status }) => status === "delivered").length;
      },
      { interval: 500 },
    )
    .toBe(published);
  const counts = new Map<string, number>();
  for (const mail of sink.mails) {
    const id = mail.header("message-id") ?? "";
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  expect(counts.size).toBe(published);
  const [lost] = await world.sql<{ attempts: number }[]>`
    select count(*) as attempts from delivery_attempts where error_code = 'attempt_lost'`;
  expect(lost?.attempts).toBeGreaterThan(0);
  expect(sink.mails.length - published).toBeLessThanOrEqual(lost?.attempts ?? 0);
});

it("a replica that is stopped with SIGTERM repeats nothing", async () => {
  const before = sink.mails.length;
  await world.publish(RECIPIENTS.slice(0, 40), manyChanges(1, 100));
  await expect.poll(() => sink.mails.length, { interval: 5 }).toBeGreaterThan(before + 5);
  const stopped = replicas;
  replicas = [];
  expect(await Promise.all(stopped.map((replica) => replica.end("SIGTERM")))).toEqual([0, 0]);
  await start();
  await expect.poll(async () => (await world.read()).every(({ status }) => status === "delivered")).toBe(true);
  expect(sink.mails.length - before).toBe(40);
});
