import { pino } from "pino";
import { expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { readMailLines } from "#control-plane/watching/evidence/requests.ts";
import { readHeartbeatMailDetails } from "#control-plane/watching/heartbeats/mail-details.ts";
import { openMail } from "#control-plane/notify/mail/mail.ts";
import { createEncryption } from "#control-plane/core/secrets/encryption.ts";
import { eventsAbout } from "#test/control-plane/notify/deliveries/queue-parts.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { openMailWorld } from "#test/support/mail-world.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { liveTimers } from "#test/support/timers.ts";

const database = await stopAfterAll(createTestDatabase());
const world = await stopAfterAll(openMailWorld(database.url));

const SERVER = { host: "127.0.0.1", port: 1, tls: "never", isVerified: true, credentials: null } as const;

it.each([
  [
    "a mail server, confirmed recipients get deliveries",
    { server: SERVER, from: "a@example.com" },
    ["ops@example.com"],
  ],
  ["no mail server, nobody does", null, []],
])("with %s", async (_, config, expected) => {
  await world.confirm(...(config === null ? [] : ["ops@example.com"]));
  const mail = openMail({
    timers: liveTimers,
    config,
    baseUrl: "http://127.0.0.1:8080",
    sql: world.sql,
    clock: systemClock,
    random: systemRandom,
    log: pino({ level: "silent" }),
    encryption: createEncryption(MASTER_KEY, systemRandom),
    accountEmails: (_sql, ids) => Promise.resolve(new Map(ids.map((id) => [id, "ops@example.com"]))),
    evidenceLines: readMailLines,
    heartbeatFacts: readHeartbeatMailDetails,
    pageLink: () => "https://status.example.com/i/token",
    readPicture: () => Promise.resolve(null),
  });
  const [event] = eventsAbout(world.accountId, [{ monitorId: 1 }]);
  if (event === undefined) throw new Error("no event");
  const lists = [["ops@example.com", "other@example.com"], null, undefined, ["Ops@example.com"]];
  const events = lists.map((mailTo) => (mailTo === undefined ? event : { ...event, mailTo }));
  const found = await transact(world.sql, (tx) => mail.source.find(tx, events));
  const addresses = found.map((receivers) => receivers.map(({ recipient }) => recipient));
  expect(addresses).toEqual([expected, expected, [], expected]);
  expect(mail.sender === null).toBe(config === null);
  mail.close();
});
