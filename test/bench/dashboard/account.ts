import type { Sql } from "#control-plane/core/database/connect.ts";
import { fillHistory, insertMinutes } from "#test/bench/history/fill.ts";
import { HOUR_MS, startOf } from "#control-plane/outages/history/period.ts";
import type { TestControlPlane } from "#test/support/control-plane.ts";
import { fillAccount, type FilledAccount } from "#test/support/dashboard-world.ts";

/** How much the account has. */
export const SIZES = {
  monitors: 1_000,
  components: 50,
  openIncidents: 30,
  closedIncidents: 300,
  entriesOfIncident: 20,
  members: 20,
  sessions: 30,
  keys: 50,
  changes: 200,
  webhooks: 10,
} as const;

/** Checks of all monitors together: a day's, each minute. */
const CHECKS = SIZES.monitors * 24 * 60;
/** A time that no measurement reaches, milliseconds: nothing is checked meanwhile. */
const LATER_MS = 365 * 86_400_000;

/** An account as a large user has it, with the address of its status page. */
export interface LargeAccount extends FilledAccount {
  readonly slug: string;
}

/** Fills an account: monitors of every kind with 90 days of history, and everything else that the dashboard shows. */
export async function fillLargeAccount(plane: TestControlPlane, sql: Sql, now: number): Promise<LargeAccount> {
  const account = await fillAccount(plane, "bench", "Shop of the north");
  const { accountId, key } = account;
  await importMonitors(plane, key);
  await renameSome(sql, accountId);
  await insertPings(sql, accountId);
  // Nothing is due while views are measured.
  const later = new Date(now + LATER_MS);
  await sql`update monitor_slots set planned_at = ${later}, due_at = ${later}, extra_at = null, checked_at = now(), response_ms = 87`;
  await sql`update heartbeats set sweep_at = null, deadline_at = ${later}`;
  await setStates(sql, accountId, now);
  await fillHistory(sql, { now, rows: CHECKS });
  await insertOutages(sql, now);
  await insertMinutes(sql, startOf(now, HOUR_MS), Math.floor((now % HOUR_MS) / 60_000));
  await insertIncidents(sql, account);
  await insertPeople(sql, accountId, now);
  await insertChanges(sql, accountId);
  for (let made = 1; made < SIZES.keys; made += 1)
    await plane.operate("POST", "/api/admin/keys", { account_id: accountId, name: `key ${made}` });
  for (let made = 1; made < SIZES.webhooks; made += 1) {
    const body = { url: `https://hooks.example.com/${made}`, name: `hook ${made}`, events: ["monitor.down"] };
    await require2xx(plane.call("/api/v4/webhooks", { key, body }));
  }
  await addComponents(plane, sql, account);
  await sql`analyze`;
  return { ...account, slug: "page-bench" };
}

async function require2xx(answer: ReturnType<TestControlPlane["call"]>): Promise<void> {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(text.slice(0, 500));
}

/** Imports monitors of all kinds that can be copied, until the account has all. */
async function importMonitors(plane: TestControlPlane, key: string): Promise<void> {
  const { body } = await plane.call("/api/v4/monitors?action=export", { key });
  const { monitors: made } = (body.data ?? body) as { monitors: Record<string, unknown>[] };
  const kinds = made.filter(({ check_type: kind }) => kind !== "composite");
  const missing = SIZES.monitors - made.length;
  const monitors = Array.from({ length: missing }, (_, index) => {
    const { id: _id, ...copied } = kinds[index % kinds.length] ?? {};
    const tags = ["shop", index % 2 === 0 ? "env:production" : "env:staging", `team-${index % 25}`];
    return { ...copied, name: `Service ${index} ${(index * 2_654_435_761).toString(36)}`, interval_minutes: 60, tags };
  });
  await require2xx(plane.call("/api/v4/monitors?action=import", { key, body: { version: 1, monitors } }));
}

/** Gives every heartbeat as many pings as are kept. */
async function insertPings(sql: Sql, accountId: number): Promise<void> {
  await sql`
    insert into heartbeat_pings (monitor_id, slot, number, received_at, kind, method, remote_addr, user_agent, duration_ms,
      body, body_truncated)
    select h.monitor_id, slot, 100 + slot, now() - (20 - slot) * interval '1 minute', 'success', 'POST', '192.0.2.1',
      'curl/8.5.0', 1234, repeat('a line of the log ', 50), false
    from heartbeats h join monitors m on m.id = h.monitor_id, generate_series(0, 19) as slot
    where m.account_id = ${accountId} on conflict do nothing`;
  await sql`update heartbeats set ping_count = 119, last_ping_at = now(), last_kind = 'success', succeeded_at = now()`;
}

/** Most monitors are up; some are down, degraded by a slow answer, unknown or paused. */
async function setStates(sql: Sql, accountId: number, now: number): Promise<void> {
  const fault = {
    stage: "connect",
    source: "target",
    reason: "refused",
    message: "The server refused the connection.",
  };
  const stateOf = (status: string) =>
    JSON.stringify({
      status,
      changed: now - 1e8,
      since: now - 1e8,
      locations: [["eu-bench", status, now, 120, now - 1e8, ...(status === "down" ? [fault] : [])]],
    });
  await sql`
    update monitor_states s set status = given.status, state = given.state
    from monitors m, (values ('up', ${stateOf("up")}), ('down', ${stateOf("down")})) as given (status, state)
    where m.id = s.monitor_id and m.account_id = ${accountId}
      and given.status = case when m.id % 33 = 0 then 'down' else 'up' end`;
  await sql`update monitors set is_active = false where account_id = ${accountId} and id % 40 = 7 and check_type <> 'composite'`;
}

/** Texts that compress badly for every third monitor. */
async function renameSome(sql: Sql, accountId: number): Promise<void> {
  await sql`
    update monitors set name = md5(id::text), url = 'https://' || md5(name) || '.example.com/'
    where account_id = ${accountId} and id % 3 = 0 and check_type in ('http', 'keyword', 'visual')`;
}

/** Outages of the last day: none for most monitors, up to ten for others. */
async function insertOutages(sql: Sql, now: number): Promise<void> {
  await sql`
    insert into monitor_status_changes (monitor_id, at, status)
    select id, ${new Date(now)}::timestamptz - n * interval '137 minutes' + change * interval '4 minutes', change
    from monitors, generate_series(1, 10) as n, unnest('{2,1}'::smallint[]) as change where id % 4 = 0 and n <= id % 11`;
}

async function insertIncidents(sql: Sql, { accountId, pageId, incidentId, monitors }: FilledAccount): Promise<void> {
  const own = monitors.http;
  await sql`
    insert into incidents (account_id, monitor_id, monitor_name, monitor_url, check_type, monitor_ids, page_ids, title,
      status, impact, is_public, started_at, confirmed_at, recovered_at, resolved_at, cause_code, cause_message, locations,
      entry_count)
    select ${accountId}, m.id, m.name, m.url, m.check_type, array[m.id], array[${pageId}]::bigint[],
      m.name || ' is down', case when n <= ${SIZES.openIncidents} then 'investigating' else 'resolved' end, 'major', true,
      at, at + interval '1 minute', ended, ended, 'connect_refused', 'The server refused the connection (port 443).',
      '[{"location":"eu-bench","status":"down","error":null}]', ${SIZES.entriesOfIncident}
    from generate_series(2, ${SIZES.openIncidents + SIZES.closedIncidents}) as n
    join lateral (
      select *, now() - n * interval '5 hours' as at,
        case when n <= ${SIZES.openIncidents} then null else now() - n * interval '5 hours' + interval '40 minutes' end as ended
      from monitors where account_id = ${accountId} and id <> ${own} order by id
      offset case when n <= ${SIZES.openIncidents} then n else n % 50 end limit 1
    ) as m on true
    on conflict do nothing`;
  // The oldest ones of the monitor whose page is measured.
  await sql`update incidents set monitor_id = ${own}, monitor_ids = array[${own}]::bigint[]
    where account_id = ${accountId} and status = 'resolved' and id % 6 = 0`;
  await sql`
    insert into incident_entries (incident_id, occurred_at, kind, author, text, status, is_public)
    select i.id, i.started_at + n * interval '1 minute', 'update', 'owner@example.com',
      'We have found the cause and are restoring the service (' || n || ').', 'identified', true
    from incidents i, generate_series(1, ${SIZES.entriesOfIncident}) as n where i.account_id = ${accountId}`;
  await sql`update incidents set entry_count = ${SIZES.entriesOfIncident} where id = ${incidentId}`;
}

async function insertPeople(sql: Sql, accountId: number, now: number): Promise<void> {
  const at = new Date(now);
  await sql`
    with made as (
      insert into users (email, password_hash, created_at, updated_at)
      select 'member-' || n || '@example.com', '-', ${at}, ${at} from generate_series(1, ${SIZES.members}) as n returning id
    )
    insert into members (account_id, user_id, role, created_at) select ${accountId}, id, 'editor', ${at} from made`;
  await sql`
    insert into sessions (digest, user_id, account_id, created_at, signed_in_at, used_at, address, user_agent)
    select sha256(convert_to(user_id || ' ' || n, 'UTF8')), user_id, account_id, ${at}, ${at}, ${at}, '192.0.2.' || n,
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
    from members, generate_series(1, ${SIZES.sessions}) as n where account_id = ${accountId} and role = 'owner'`;
}

async function insertChanges(sql: Sql, accountId: number): Promise<void> {
  await sql`
    insert into account_changes (account_id, changed_at, actor_type, actor_id, actor_name, address, resource, resource_id,
      action, subject_name, changed)
    select ${accountId}, now() - n * interval '1 hour', 'member', 1, 'owner@example.com', '192.0.2.1', 'monitor', n,
      'changed', 'Service ' || n, '[{"field":"interval_minutes","before":1,"after":5},{"field":"tags","before":["a"],"after":["a","b"]}]'
    from generate_series(1, ${SIZES.changes}) as n`;
}

/** Shows the first monitors on the status page, in five groups. */
async function addComponents(
  plane: TestControlPlane,
  sql: Sql,
  { accountId, key, pageId }: FilledAccount,
): Promise<void> {
  const rows = await sql<{ id: number; name: string }[]>`
    select id, name from monitors where account_id = ${accountId} order by id limit ${SIZES.components}`;
  const body = { monitors: rows.map(({ id, name }) => ({ id, name })), response_graph: true };
  await require2xx(plane.call(`/api/v4/status?id=${pageId}`, { key, method: "PUT", body }));
}
