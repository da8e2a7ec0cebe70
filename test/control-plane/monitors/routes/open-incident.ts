import type { Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { openOutages } from "#control-plane/outages/incidents/outages/open.ts";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";

/** What an outage is opened with. */
export const FAULT = { stage: "connect", source: "target", reason: "refused", message: "connection refused" } as const;

/** Opens the incident of an outage. Returns how the incident has ended: its last line, and the events about it. */
export async function openIncident(sql: Sql, id: number): Promise<() => Promise<unknown>> {
  const [row] = await sql<{ accountId: number; name: string; url: string; settings: string }[]>`
    select account_id as "accountId", name, url, settings from monitors where id = ${id}`;
  if (row === undefined) throw new Error("there is no such monitor");
  const settings = JSON.parse(row.settings) as MonitorSettings;
  const monitor = { ...row, id, checkType: "http", settings } as const;
  const at = new Date();
  const failing = [{ location: "eu-west", fault: FAULT }];
  const outage = { monitor, startedAt: at, confirmedAt: at, failing, suppressedBy: null } as const;
  const [opened] = await transact(sql, (tx) => openOutages(tx, [outage]));
  const incident = opened?.incident.id ?? 0;
  return async () => {
    const [{ ended }] = await sql<[{ ended: unknown }]>`
      select jsonb_build_array(status, (
        select kind from incident_entries where incident_id = i.id order by id desc limit 1
      ), (select count(*) from events where incident_id = i.id)) as ended
      from incidents as i where id = ${incident}`;
    return ended;
  };
}
