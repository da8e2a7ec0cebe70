import { join } from "node:path";
import { expect, it } from "vitest";
import { readKeyFile } from "#control-plane/core/secrets/master-key.ts";
import { SEALED } from "#control-plane/core/secrets/sealed.ts";
import { openToken } from "#control-plane/notify/mail/recipients/confirmations.ts";
import { startMailSink } from "#test/servers/mail-sink.ts";
import { createAccount, exportAudit, isSignedWith, revealSecret } from "#test/support/audit.ts";
import { backupDirectory, runCommand } from "#test/support/backups.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { fillAccount } from "#test/support/dashboard-world.ts";
import { openBrowser } from "#test/support/dashboard.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const database = await stopAfterAll(openDatabase({ connections: 2 }));
const { sql } = database;
let isBusy = false;
const sink = await stopAfterAll(startMailSink({ onMessage: () => (isBusy ? 451 : "accept") }));
const server = { host: "127.0.0.1", port: sink.port, tls: "offered", isVerified: true, credentials: null } as const;
const clock = createManualClock(new Date());
const EXPORT = "/api/v4/monitors?action=export&secrets=include";
const newKeyFile = join(backupDirectory(), "new-key");

/** Columns of bytes that are not sealed. */
const PLAIN = [
  "authority.certificate",
  "check_days.response_ms",
  "check_hours.response_ms",
  "confirmation_ledger.caller",
  "confirmation_ledger.network",
  "confirmation_ledger.recipient",
  "heartbeats.token_hash",
  "idempotent_answers.fingerprint",
  "idempotent_answers.scope",
  "instance.value",
  "invite_addresses.digest",
  "join_tokens.digest",
  "keys.digest",
  "mail_recipients.token_hash",
  "one_time_links.digest",
  "pictures.content",
  "pictures.sha256",
  "probes.enrolled_by",
  "requested_mails.recipient",
  "sessions.digest",
  "sign_in_attempts.subject",
  "status_page_logos.content",
];

function start(masterKey?: Uint8Array): Promise<TestControlPlane> {
  const mail = { server, from: "Vantage <alerts@example.com>" };
  const own = masterKey === undefined ? {} : { masterKey };
  return stopAfterAll(startControlPlane({ databaseUrl: database.url, overrides: { clock }, config: { mail }, ...own }));
}

it("every column of bytes is sealed and known to the rotation, or is none that is sealed", async () => {
  const rows = await sql<{ name: string }[]>`
    select c.relname || '.' || a.attname as name
    from pg_class as c join pg_attribute as a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped and a.atttypid = 'bytea'::regtype`;
  const sealed = SEALED.map(({ table, column }) => `${table}.${column}`);
  const known = new Set([...sealed, ...PLAIN]);
  expect(rows.map(({ name }) => name).toSorted()).toEqual([...known].toSorted());
});

it("a service goes on with another master key: its secrets, its links, and what it was about to send", async () => {
  const plane = await start();
  const { key, monitors, secrets, heartbeatUrl } = await fillAccount(plane, "rotated", "shop");
  const monitor = { check_type: "ping", url: "example.com", name: "once", notify_emails: ["new@example.com"] };
  const create = (at: TestControlPlane) =>
    at.call("/api/v4/monitors", { method: "POST", key, body: monitor, headers: { "x-idempotency-key": "once" } });
  const made = await create(plane);
  expect(made.status, made.text).toBe(201);
  const { id } = made.body.data as { readonly id: number };
  const test = await plane.call(`/api/v4/monitors?action=test-mail&id=${id}`, {
    method: "POST",
    key,
    headers: { "x-idempotency-key": "test" },
  });
  expect(test.status, test.text).toBe(200);
  const audited = await createAccount(plane);
  const audit = await revealSecret(plane, { account_id: audited.id });
  await expect.poll(() => sql`select from mail_recipients where token_sealed is not null`).toHaveLength(1);
  isBusy = true;
  await openBrowser(plane).post("/reset", { email: "owner-rotated@example.com" });
  await expect.poll(() => sql`select from requested_mails where attempts = 1 and sealed is not null`).toHaveLength(1);
  const shown = await plane.call(EXPORT, { key });
  const signature = plane.app.encryption.digest("7", "links");
  await plane.stop();

  const filled = SEALED.filter(({ row }) => row === null).map(async ({ table, column }) => {
    const [row] = await sql.unsafe<{ count: number }[]>(
      `select count(*) as count from "${table}" where "${column}" is not null`,
    );
    expect(row?.count, `${table}.${column}`).toBeGreaterThan(0);
    return row?.count ?? 0;
  });
  const values = (await Promise.all(filled)).reduce((total, count) => total + count);
  const rotated = await runCommand(database.url, ["rotate", "master-key", "--yes", `--new-key-file=${newKeyFile}`]);
  expect(rotated).toEqual({
    status: 0,
    line:
      `Sealed ${values} values again. Set VANTAGE_MASTER_KEY to the key in ${newKeyFile} on every replica. ` +
      "Backups of before need the old key: keep it with them.",
  });

  await expect(start()).rejects.toThrow("is not the key of this database");
  isBusy = false;
  const again = await start(readKeyFile(newKeyFile) ?? new Uint8Array());
  expect(again.app.encryption.digest("7", "links")).toEqual(signature);
  expect((await again.call(EXPORT, { key })).body.data).toEqual(shown.body.data);
  const replayed = await create(again);
  expect([replayed.text, replayed.headers.get("x-idempotent-replayed")]).toEqual([made.text, "true"]);
  const heartbeat = await again.call(`/api/v4/monitors?id=${monitors.heartbeat}`, { key });
  expect(heartbeat.body.data["heartbeat_url"]).toBe(heartbeatUrl);
  const webhooks = await again.call("/api/v4/webhooks", { key });
  expect(webhooks.text).toContain((secrets[1] ?? "none").slice(-4));
  expect(isSignedWith(await exportAudit(again, audited.key, "type=tenant"), audit.secret)).toBe(true);
  await sql`update requested_mails set due_at = ${clock.now()} where sealed is not null`;
  const subjects = () => sink.mails.map((mail) => mail.header("subject"));
  await expect.poll(subjects).toContain("[Vantage] Set a new password");
  const [recipient] = await sql<{ sealed: Uint8Array }[]>`select token_sealed as sealed from mail_recipients`;
  const token = openToken(again.app.encryption, recipient?.sealed ?? new Uint8Array());
  expect((await again.call(`/mail/confirm/${token}`)).status).toBe(200);
});
