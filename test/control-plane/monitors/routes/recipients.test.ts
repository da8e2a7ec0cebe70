import { expect, it } from "vitest";
import { openAccountDocuments } from "#test/support/account-documents.ts";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const service = await stopAfterAll(startMonitorService());
const documents = openAccountDocuments(service);

const HEARTBEAT = { check_type: "heartbeat", notify_email: true };
const ROWS = [
  { ...HEARTBEAT, name: "Backup", notify_emails: ["ops@example.com", "boss@example.com"], notify_advisories: true },
  { ...HEARTBEAT, name: "Sync", notify_emails: ["Ops@example.com", "dev@example.com"] },
  { ...HEARTBEAT, name: "Quiet", notify_email: false, notify_emails: ["quiet@example.com"] },
];

/** Addresses of an account that are to be asked, in lower case. */
async function askedOf(accountId: number): Promise<readonly string[]> {
  const rows = await service.app.sql<{ email: string }[]>`
    select lower(email) as email from mail_recipients where account_id = ${accountId} and wants_confirmation order by 1`;
  return rows.map(({ email }) => email);
}

it("an export has the recipients, and an import asks those that are new, as a creation does", async () => {
  const [one, other] = await Promise.all([documents.createOwner(), documents.createOwner()]);
  for (const body of ROWS) {
    // oxlint-disable-next-line no-await-in-loop -- oldest first
    expect((await service.call("/api/v4/monitors", { key: one.key, body })).status).toBe(201);
  }
  const document = await documents.exportOf(one.key);
  expect(document.monitors).toMatchObject(ROWS);

  await documents.send(other.key, document, "&dry_run=1");
  expect(await askedOf(other.id)).toEqual([]);
  expect((await documents.send(other.key, document)).status).toBe(201);
  expect(await askedOf(other.id)).toEqual(await askedOf(one.id));
  expect(await askedOf(other.id)).toEqual(["boss@example.com", "dev@example.com", "ops@example.com"]);
});

it("an import asks a new address of a monitor that was there, and nobody twice within a day", async () => {
  const { id, key } = await documents.createOwner();
  await documents.send(key, { version: 2, monitors: ROWS });
  await service.app.sql`
    with asked as (update mail_recipients set wants_confirmation = false where account_id = ${id} returning *)
    insert into mail_confirmations (recipient_id, account_id, email, sent_at)
    select id, account_id, lower(email), now() from asked`;
  const changed = ROWS.map((row) => ({ ...row, notify_emails: [...row.notify_emails, "new@example.com"] }));
  const sent = await documents.send(key, { version: 2, monitors: changed });
  expect(sent.body.data).toMatchObject({ created: 0, updated: 3, unchanged: 0 });
  expect(await askedOf(id)).toEqual(["new@example.com"]);
});

it("the account's own address, which answers show where none is set, changes nothing", async () => {
  const { id, key } = await documents.createOwner();
  await service.operate("PUT", `/api/admin/accounts?id=${id}`, { email: "Owner@example.com" });
  await documents.send(key, { version: 2, monitors: [{ ...HEARTBEAT, name: "Backup" }] });
  const named = { version: 2, monitors: [{ name: "Backup", notify_emails: ["owner@example.com"] }] };
  expect((await documents.send(key, named)).body.data).toMatchObject({ updated: 0, unchanged: 1 });
  expect((await documents.exportOf(key)).monitors).toMatchObject([{ notify_emails: null }]);
});

it("an export says the ids of its monitors, in their order", async () => {
  const { key } = await documents.createOwner();
  const sent = await documents.send(key, { version: 2, monitors: ROWS });
  const { meta, data } = (await documents.read(key)).body as unknown as Record<string, Record<string, unknown>>;
  expect(meta?.["monitor_ids"]).toEqual((sent.body.data as { readonly ids: unknown }).ids);
  expect(data).not.toHaveProperty("monitor_ids");
});
