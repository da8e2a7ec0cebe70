import { pino } from "pino";
import { expect } from "vitest";
import { startMailSink, type MailSink } from "#test/servers/mail-sink.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { openMailWorld, type MailWorld } from "#test/support/mail-world.ts";
import { createMonitor } from "#test/support/create-monitor.ts";

/** A confirmed recipient. */
export const OPS = "ops@example.com";

/** A line of the log. */
interface Line {
  readonly level: string;
  readonly code?: string;
  readonly msg: string;
}

/** A control plane whose mail server refuses recipients, and an account with the recipient OPS. */
export interface RefusingMail {
  readonly plane: TestControlPlane;
  readonly sink: MailSink;
  readonly world: MailWorld;
  /** Refused recipients with the codes of the server's answers. */
  readonly refused: Map<string, number>;
  /** Lines of the control plane's log. */
  readonly lines: readonly Line[];
  /** A key of the account. */
  readonly key: string;
  /** Creates a heartbeat monitor that mails to these addresses. Returns its id. */
  createMonitor(emails: readonly string[]): Promise<number>;
  /** Waits until so many attempts of deliveries that wait for a retry have failed. */
  failed(attempts: number): Promise<void>;
  /** Stops all and removes the account. */
  stop(): Promise<void>;
}

/** Starts the control plane on a database, with an account. */
export async function startRefusingMail(databaseUrl: string): Promise<RefusingMail> {
  const refused = new Map<string, number>();
  const lines: Line[] = [];
  const sink = await startMailSink({ onRecipient: (address) => refused.get(address) ?? "accept" });
  const world = await openMailWorld(databaseUrl);
  await world.confirm(OPS);
  const write = (line: string): void => void lines.push(JSON.parse(line) as Line);
  const server = { host: "127.0.0.1", port: sink.port, tls: "never", isVerified: true, credentials: null } as const;
  const plane = await startControlPlane({
    databaseUrl,
    config: { mail: { server, from: "alerts@example.com" } },
    log: pino({ level: "info", formatters: { level: (level) => ({ level }) } }, { write }),
  });
  const { body } = await plane.operate("POST", "/api/admin/keys", { account_id: world.accountId });
  const { key } = body.data as { key: string };
  return {
    plane,
    sink,
    world,
    refused,
    lines,
    key,
    async createMonitor(emails) {
      const monitor = { check_type: "heartbeat", name: "backup", notify_email: true, notify_emails: emails };
      return (await createMonitor(plane, key, monitor)).id;
    },
    async failed(attempts) {
      const ended = async () => {
        const rows = await world.sql`
          select from delivery_attempts where ended_at is not null and delivery_id in (
            select id from deliveries where account_id = ${world.accountId} and status = 'retrying' and not is_leased
          )`;
        return rows.length;
      };
      await expect.poll(ended).toBe(attempts);
    },
    async stop() {
      await plane.stop();
      await world.sql`truncate accounts, warnings, failing_receivers cascade`;
      await world.close();
      await sink.close();
    },
  };
}
