import { pino } from "pino";
import type { Clock } from "#shared/time/clock.ts";
import { createAccounts } from "#control-plane/accounts/accounts.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { readMailLines } from "#control-plane/watching/evidence/requests.ts";
import { readHeartbeatMailDetails } from "#control-plane/watching/heartbeats/mail-details.ts";
import { openMail, type Mail } from "#control-plane/notify/mail/mail.ts";
import { createEncryption } from "#control-plane/core/secrets/encryption.ts";
import { systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { liveTimers } from "#test/support/timers.ts";

const SERVER = { host: "127.0.0.1", port: 1, tls: "never", isVerified: true, credentials: null } as const;

/** Opens the mail of a replica that sends nothing: deliveries wait, and tests read what is to be mailed. */
export function openUnsentMail(sql: Sql, clock: Clock): Mail {
  const accounts = createAccounts(sql, clock);
  return openMail({
    timers: liveTimers,
    config: { server: SERVER, from: "a@example.com" },
    baseUrl: "http://127.0.0.1:8080",
    sql,
    clock,
    random: systemRandom,
    log: pino({ level: "silent" }),
    encryption: createEncryption(MASTER_KEY, systemRandom),
    accountEmails: (on, ids) => accounts.emails(on, ids),
    evidenceLines: readMailLines,
    heartbeatFacts: readHeartbeatMailDetails,
    pageLink: () => "https://status.example.com/i/token",
    readPicture: () => Promise.resolve(null),
  });
}
