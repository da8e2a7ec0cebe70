import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { MailedNotice } from "#control-plane/notify/deliveries/notes.ts";
import { openByHand, readIncident } from "#control-plane/outages/incidents/incidents.ts";
import { noteMailed } from "#control-plane/outages/incidents/mailed.ts";
import { openIncidentDatabase, STARTED } from "#test/control-plane/outages/incidents/database.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const database = await stopAfterAll(openIncidentDatabase());
const accountId = await database.createAccount();

async function openIncident(): Promise<number> {
  const scope = { accountId, monitorIds: [], pageIds: [], isPublic: false };
  const opened = { ...scope, title: "Payments", text: "We look.", status: "investigating", impact: "minor" } as const;
  const written = await transact(database.sql, (tx) => openByHand(tx, opened, { by: "key deploy", at: STARTED }));
  if (!written.ok) throw new Error(JSON.stringify(written));
  return written.value.id;
}

/** Notes notices in one transaction; missing fields are those of one about an outage that was delivered at once. */
function note(...notices: readonly (Partial<MailedNotice> & { readonly incidentId: number })[]): Promise<void> {
  const usual = {
    type: "monitor.down",
    recipient: "a@example.com",
    status: "delivered",
    attempts: 1,
    error: null,
    nextAttemptAt: null,
  };
  const endedAt = new Date(STARTED.getTime() + 60_000);
  const whole = notices.map((notice): MailedNotice => ({ ...usual, endedAt, ...notice }) as MailedNotice);
  return transact(database.sql, (tx) => noteMailed(tx, whole));
}

async function lines(incidentId: number): Promise<readonly string[]> {
  const evidenceOf = () => Promise.resolve({ evidence: null, reason: null });
  const incident = await readIncident(database.sql, accountId, incidentId, { now: STARTED, evidenceOf });
  return (incident?.timeline ?? []).flatMap(({ at, kind, by, text }) => {
    if (!kind.startsWith("mail")) return [];
    expect([at, by]).toEqual([new Date(STARTED.getTime() + 60_000).toISOString(), null]);
    return `${kind}: ${text}`;
  });
}

describe("the timeline about mails", () => {
  it("has a line for each recipient and notice, with its result", async () => {
    const [id, other] = [await openIncident(), await openIncident()];
    await note(
      { incidentId: id },
      { incidentId: id, recipient: "b@example.com", attempts: 3 },
      {
        incidentId: id,
        type: "reminder",
        status: "failed",
        error: "The mail server refused the recipient. Reply: 550 x",
      },
      {
        incidentId: other,
        type: "monitor.up",
        status: "dead",
        attempts: 29,
        error: "The mail server cannot be reached.",
      },
      { incidentId: other, type: "other", recipient: "x\r\ny@example.com" },
    );
    expect(await lines(id)).toEqual([
      "mailed: Mail about the outage sent to a@example.com",
      "mailed: Mail about the outage sent to b@example.com at attempt 3",
      "mail_failed: Mail about the lasting outage to a@example.com failed: The mail server refused the recipient. Reply: 550 x",
    ]);
    expect(await lines(other)).toEqual([
      "mail_failed: Mail about the recovery to a@example.com given up after 29 attempts: The mail server cannot be reached.",
      "mailed: Mail about the incident sent to x y@example.com",
    ]);
  });

  it("has a limited number of lines, of which reminders leave some to the recovery", async () => {
    const id = await openIncident();
    const many = (type: string, count: number) => Array.from({ length: count }, () => ({ incidentId: id, type }));
    await note(...many("reminder", 150));
    await note(...many("reminder", 150));
    expect(await lines(id)).toHaveLength(200);
    await note({ incidentId: id, type: "monitor.up" });
    expect((await lines(id)).at(-1)).toBe("mailed: Mail about the recovery sent to a@example.com");
    await note(...many("monitor.up", 500));
    expect(await lines(id)).toHaveLength(300);
  });

  it("leaves out an incident that is gone", async () => {
    const id = await openIncident();
    await note({ incidentId: 987_654_321 }, { incidentId: id });
    expect(await lines(id)).toHaveLength(1);
  });
});
