import { randomBytes } from "node:crypto";
import { connect, type Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { NewEvent } from "#control-plane/notify/events/event.ts";
import { createEvents } from "#control-plane/notify/events/events.ts";
import { toMonitorEvent, type MonitorChangeFacts } from "#control-plane/notify/events/monitor-event.ts";
import { createRecipients } from "#control-plane/notify/mail/recipients/recipients.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { confirmRecipients } from "#test/support/confirm-recipients.ts";

/** What publishes events about monitors of one account, into the database of a control plane under test. */
export interface MailWorld {
  readonly sql: Sql;
  readonly accountId: number;
  /** Makes sure that these addresses are asked for their confirmation. */
  ask(...emails: readonly string[]): Promise<void>;
  /** Makes these addresses confirmed recipients. */
  confirm(...emails: readonly string[]): Promise<void>;
  /** Returns the id of the recipient with this address; 0: there is none. */
  recipientId(email: string): Promise<number>;
  /** Publishes events about monitors in one transaction, mailed to these addresses. Returns their ids. */
  publish(emails: readonly string[], changes: readonly Partial<MonitorChangeFacts>[]): Promise<readonly string[]>;
  /** Publishes events of any type in one transaction. Returns their ids. */
  send(...published: readonly NewEvent[]): Promise<readonly string[]>;
  /** Makes every delivery due that waits for a retry or for others. */
  hurry(): Promise<void>;
  /** Reads the deliveries of the account. */
  read(): Promise<
    readonly { readonly status: string; readonly attempts: number; readonly error_code: string | null }[]
  >;
  close(): Promise<void>;
}

/** Opens a world with a new account. */
export async function openMailWorld(databaseUrl: string): Promise<MailWorld> {
  const sql = connect(databaseUrl, { name: "test world", connections: 3, statementTimeoutMs: 30_000 });
  const [row] = await sql<{ id: number }[]>`
    insert into accounts (email, plan, created_at, updated_at)
    values (${`owner-${randomBytes(6).toString("hex")}@example.com`}, 'pro', now(), now()) returning id`;
  const accountId = row?.id ?? 0;
  const recipients = createRecipients({ sql, clock: systemClock, accountEmails: () => Promise.resolve(new Map()) });
  const events = createEvents({
    random: systemRandom,
    sources: [
      {
        channel: "mail",
        isBundled: true,
        find: (tx, published) =>
          recipients.recipientsOf(
            tx,
            published.map(({ accountId: account, mailTo }) => ({ accountId: account, emails: mailTo ?? [] })),
          ),
      },
    ],
  });
  return {
    sql,
    accountId,
    ask: (...emails) => transact(sql, (tx) => recipients.ensureRecipients(tx, accountId, emails)),
    confirm: (...emails) => confirmRecipients(sql, accountId, emails),
    async recipientId(email) {
      const [found] = await sql<{ id: number }[]>`select id from mail_recipients where email = ${email}`;
      return found?.id ?? 0;
    },
    publish: (emails, changes) =>
      transact(sql, (tx) =>
        events.publish(
          tx,
          changes.map((change): NewEvent => ({ ...toMonitorEvent(changeOf(accountId, change)), mailTo: emails })),
        ),
      ),
    send: (...published) => transact(sql, (tx) => events.publish(tx, published)),
    async hurry() {
      await sql`
        update deliveries set due_at = now() where account_id = ${accountId} and due_at is not null and not is_leased`;
    },
    read: () => sql`select status, attempts, error_code from deliveries where account_id = ${accountId} order by id`,
    close: () => sql.end(),
  };
}

/** A monitor that went down, with these facts. */
function changeOf(accountId: number, change: Partial<MonitorChangeFacts>): MonitorChangeFacts {
  const now = Date.now();
  return {
    kind: "down",
    accountId,
    monitor: { id: 1, name: "shop", url: "https://shop.example.com/", check_type: "http" },
    at: now,
    previous: "up",
    startedAt: now - 5_000,
    recoveredAt: null,
    incidentId: null,
    cause: { code: "http_status", message: "HTTP 503 instead of 200 from 3 of 3 locations" },
    failing: [],
    responseMs: null,
    isFlapping: false,
    ...change,
  };
}

/** Changes of monitors with the ids from `from` on, named m1, m2 ... */
export function manyChanges(count: number, from = 1): readonly Partial<MonitorChangeFacts>[] {
  return Array.from({ length: count }, (_, n) => {
    const id = from + n;
    return { monitor: { id, name: `m${id}`, url: `https://m${id}.example.com/`, check_type: "http" } };
  });
}
