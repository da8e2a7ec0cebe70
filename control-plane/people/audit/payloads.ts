import type { Pagination } from "#control-plane/http/envelope.ts";
import type { PublicMeasurement } from "#control-plane/checks/measurements/public.ts";
import { DAY_MS, startOf } from "#control-plane/outages/history/period.ts";
import { uptimePercent } from "#control-plane/outages/history/timeline.ts";
import type { MonitorView } from "#control-plane/monitors/serialize.ts";
import type { PlanName } from "#control-plane/core/plans.ts";
import { maskAddress } from "#shared/webhooks/mask-address.ts";
import type { ShownWebhook } from "#control-plane/notify/webhooks/resource.ts";
import type { INVENTORY, MonitorFacts } from "#control-plane/people/audit/ports.ts";

/** What every payload begins with. */
interface Head {
  readonly accountId: number;
  readonly generatedAt: Date;
}

function head(type: "monitor" | "check" | "tenant", { accountId, generatedAt }: Head) {
  return { type, generated_at: generatedAt.toISOString(), account_id: accountId };
}

/**
 * Returns the record of a monitor without what can be secret: request headers, body, the address of a heartbeat, and
 * what its pings sent.
 */
export function auditRecord({ request_headers: _headers, body: _body, heartbeat, ...record }: MonitorView) {
  if (heartbeat === null) return { ...record, heartbeat, heartbeat_url: null };
  const { pings: _pings, ...settings } = heartbeat;
  return { ...record, heartbeat: settings, heartbeat_url: null };
}

/** Returns the record of a webhook without its secret. Header fields and options are masked already. */
export function auditWebhook({ secret: _secret, ...record }: ShownWebhook) {
  return { ...record, url: maskAddress(record) };
}

/** Returns the payload about a monitor. */
export function monitorPayload(about: Head, { view, stateChanges, incidents, ...figures }: MonitorFacts) {
  const { id, name, url, check_type } = view;
  return {
    ...head("monitor", about),
    subject: { id, name, url, check_type },
    monitor: auditRecord(view),
    state_changes: stateChanges.changes.map(({ at, previous, status }) => {
      return { at: at.toISOString(), previous_status: previous, status };
    }),
    incidents: incidents.rows,
    days: showDays(figures),
    totals: { state_changes: stateChanges.total, incidents: incidents.total },
  };
}

/** Returns the figures of each day, oldest first. */
function showDays({ times, today, points }: Pick<MonitorFacts, "times" | "today" | "points">) {
  const byDay = Map.groupBy(points, ({ at }) => startOf(at.getTime(), DAY_MS));
  return times.map((time, index) => {
    const day = today - (times.length - 1 - index) * DAY_MS;
    const checks = byDay.get(day) ?? [];
    const sum = (field: "up" | "down" | "unknown") => checks.reduce((total, point) => total + point[field], 0);
    return {
      day: new Date(day).toISOString().slice(0, 10),
      uptime: uptimePercent(time),
      up_ms: time.upMs,
      down_ms: time.downMs,
      unknown_ms: time.unknownMs,
      maintenance_ms: time.maintenanceMs,
      checks: { up: sum("up"), down: sum("down"), unknown: sum("unknown") },
    };
  });
}

/** Returns the payload about a shared check. */
export function checkPayload(about: Head, check: PublicMeasurement) {
  const { share_id, tool, target } = check;
  return { ...head("check", about), subject: { id: share_id, tool, target }, check };
}

/** A page of the inventory. */
interface Inventory {
  readonly account: { readonly plan: PlanName; readonly email: string | null };
  readonly rows: Readonly<Record<(typeof INVENTORY)[number], readonly unknown[]>>;
  readonly pagination: Pagination;
}

/** Returns the payload with the inventory of an account. */
export function tenantPayload(about: Head, { account, rows, pagination }: Inventory) {
  const { plan, email } = account;
  return { ...head("tenant", about), subject: { id: about.accountId, plan, email }, ...rows, pagination };
}
