import type { Clock } from "#shared/time/clock.ts";
import type { App } from "#control-plane/core/app.ts";
import { effectiveScopes } from "#control-plane/http/access/principal.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import { auditRecord, auditWebhook } from "#control-plane/people/audit/payloads.ts";
import type { AuditSources, MonitorFacts, Slice } from "#control-plane/people/audit/ports.ts";
import { ALL, type Changes } from "#control-plane/accounts/changes/changes.ts";
import { readIncidents } from "#control-plane/outages/incidents/incidents.ts";
import type { Keys } from "#control-plane/accounts/keys/keys.ts";
import type { Measurements } from "#control-plane/checks/measurements/measurements.ts";
import { showPublic } from "#control-plane/checks/measurements/public.ts";
import type { History } from "#control-plane/outages/history/history.ts";
import { DAY_MS, startOf } from "#control-plane/outages/history/period.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import type { MonitorView } from "#control-plane/monitors/serialize.ts";
import type { Plans } from "#control-plane/core/plans.ts";
import type { StatusPages } from "#control-plane/public/status-pages/status-pages.ts";
import type { Webhooks } from "#control-plane/notify/webhooks/webhooks.ts";

/** Dependencies of the sources. */
export interface AuditSourcesDeps extends Pick<App, "sql" | "clock"> {
  readonly plans: Plans;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly changes: Changes;
  readonly measurements: Measurements;
  readonly monitors: Monitors;
  readonly history: History;
  readonly statusPages: StatusPages;
  readonly webhooks: Webhooks;
}

/** Days of a monitor's daily figures. */
const DAYS = 30;
const MOST_STATE_CHANGES = 1_000;
const MOST_INCIDENTS = 100;
/** Maximum number of monitors that can be read at once. */
const STEP = 100;

/** Joins what audit exports read. */
export function createAuditSources(deps: AuditSourcesDeps): AuditSources {
  const { sql, plans, accounts, keys, changes, monitors, statusPages } = deps;
  return {
    account: (accountId) => accounts.find(sql, accountId),
    monitor: (accountId, id) => readMonitor(deps, accountId, id),
    check: (accountId, shareId) => readCheck(deps.measurements, accountId, shareId),
    inventory: {
      async monitors(accountId, { limit, offset }) {
        const read = (slice: Slice) => monitors.list(accountId, {}, slice);
        const { rows, total } = await read({ limit: Math.min(limit, STEP), offset });
        const more = limit > STEP ? (await read({ limit: limit - STEP, offset: offset + STEP })).rows : [];
        return { rows: [...rows, ...more].map(auditRecord), total };
      },
      async webhooks(accountId, { limit, offset }) {
        const newest = (await deps.webhooks.list(sql, accountId)).toReversed();
        return { rows: newest.slice(offset, offset + limit).map(auditWebhook), total: newest.length };
      },
      async keys(accountId, { limit, offset }) {
        const { keys: rows, total } = await keys.list({ accountId }, limit, offset);
        const shown = rows.map(({ id, name, prefix, plan, scopes, createdAt }) => {
          const allowed = effectiveScopes(scopes, plans[plan].scopes);
          return { id, name, prefix, scopes: allowed, created_at: createdAt.toISOString() };
        });
        return { rows: shown, total };
      },
      async status_pages(accountId, slice) {
        const { pages: rows, total } = await statusPages.list(accountId, slice);
        return { rows, total };
      },
      changes: (accountId, slice) => changes.list(sql, accountId, ALL, slice),
    },
  };
}

async function readMonitor(
  { sql, clock, monitors, history }: AuditSourcesDeps,
  accountId: number,
  id: number,
): Promise<MonitorFacts | null> {
  const found = await monitors.find(accountId, id);
  if (found === null) return null;
  const { monitor: view } = found;
  const [stateChanges, { incidents: rows, total }, days] = await Promise.all([
    history.statusChanges(id, MOST_STATE_CHANGES),
    readIncidents(sql, accountId, { monitorId: id }, { limit: MOST_INCIDENTS, offset: 0 }, clock.now()),
    readDays(history, clock, accountId, view),
  ]);
  return { view, stateChanges, incidents: { rows, total }, ...days };
}

/** Reads the daily figures of a monitor. If a day ends meanwhile, they are read again: they do not name their days. */
async function readDays(history: History, clock: Clock, accountId: number, { id, tags, created_at }: MonitorView) {
  const monitor = { id, accountId, tags, createdAt: new Date(created_at) };
  const dayOf = (at: Date) => startOf(at.getTime(), DAY_MS);
  for (;;) {
    const now = clock.now();
    const today = dayOf(now);
    const [times, points] = await Promise.all([
      history.days([monitor], DAYS),
      history.readPoints(id, { from: today - (DAYS - 1) * DAY_MS, to: now.getTime() }),
    ]);
    if (dayOf(clock.now()) === today) return { times: times.get(id) ?? [], today, points };
  }
}

async function readCheck(measurements: Measurements, accountId: number, shareId: string) {
  const found = await measurements.findShared(shareId);
  if (found === null || found.measurement.accountId !== accountId) return null;
  return showPublic(measurements.contract(found.measurement.tool), found);
}
