import type { Clock } from "#shared/time/clock.ts";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { readIncidentEvidence } from "#control-plane/watching/evidence/requests.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import type { createServer } from "#control-plane/http/server.ts";
import type { Writes } from "#control-plane/http/writes.ts";
import { registerIncidents } from "#control-plane/outages/incidents/routes.ts";
import type { Keys } from "#control-plane/accounts/keys/keys.ts";
import { createWindowRows } from "#control-plane/outages/maintenance/document-rows.ts";
import { registerMaintenance } from "#control-plane/outages/maintenance/routes.ts";
import type { Monitoring } from "#control-plane/app/monitoring.ts";
import type { TestMails } from "#control-plane/notify/mail/test-mail/test-mails.ts";
import { registerMonitors } from "#control-plane/monitors/routes/routes.ts";
import { registerStatusPages } from "#control-plane/public/status-pages/routes/routes.ts";

/** Dependencies of the routes. */
interface MonitoringRoutesDeps extends Pick<
  Monitoring,
  "monitors" | "trials" | "pictures" | "maintenance" | "history" | "statusPages"
> {
  readonly gate: Gate;
  readonly writes: Writes;
  readonly sql: Sql;
  readonly clock: Clock;
  readonly keys: Keys;
  readonly events: Events;
  readonly testMails: TestMails;
  /** Limits reads of status pages without a key by client address. */
  readonly visits: AddressLimiter;
}

/** Registers the routes of monitors, incidents, maintenance and status pages. */
export function registerMonitoring(server: ReturnType<typeof createServer>, deps: MonitoringRoutesDeps): void {
  const { monitors, statusPages } = deps;
  registerMonitors(server, { ...deps, parts: [statusPages.rows, createWindowRows(deps)] });
  registerMaintenance(server, deps);
  registerIncidents(server, {
    ...deps,
    monitorsOf: async (on, accountId, ids) => [...(await monitors.owned(on, accountId, ids))],
    pagesOf: (on, accountId, ids) => statusPages.owned(on, accountId, ids),
    evidenceOf: readIncidentEvidence,
    nameCaller: (on, { keyId }) => deps.keys.label(on, keyId),
  });
  registerStatusPages(server, { ...deps, pages: statusPages });
}
