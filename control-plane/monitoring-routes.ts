import type { Clock } from "#shared/clock.ts";
import type { AddressLimiter } from "#control-plane/access/ports.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import type { Events } from "#control-plane/events/events.ts";
import { readIncidentEvidence } from "#control-plane/evidence/requests.ts";
import type { Gate } from "#control-plane/http/gate.ts";
import type { createServer } from "#control-plane/http/server.ts";
import type { Writes } from "#control-plane/http/writes.ts";
import { registerIncidents } from "#control-plane/incidents/routes.ts";
import type { Keys } from "#control-plane/keys/keys.ts";
import type { AnnounceWindow } from "#control-plane/maintenance/announcement.ts";
import { createWindowRows } from "#control-plane/maintenance/document-rows.ts";
import { registerMaintenance } from "#control-plane/maintenance/routes.ts";
import type { Monitoring } from "#control-plane/monitoring.ts";
import type { TestMails } from "#control-plane/mail/test-mail/test-mails.ts";
import { registerMonitors } from "#control-plane/monitors/routes/routes.ts";
import { registerStatusPages } from "#control-plane/status-pages/routes/routes.ts";

/** Dependencies of the routes. */
interface MonitoringRoutesDeps extends Pick<
  Monitoring,
  "monitors" | "pictures" | "maintenance" | "history" | "statusPages"
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
  const { gate, writes, sql, clock, visits, keys, events, testMails } = deps;
  const { monitors, pictures, maintenance, history, statusPages } = deps;
  const about = { monitorId: null, incidentId: null, isFlapping: false } as const;
  const announce: AnnounceWindow = async (tx, accountId, data) => {
    await events.publish(tx, [{ ...about, type: "page.maintenance", accountId, createdAt: clock.now(), data }]);
  };
  registerMonitors(server, {
    gate,
    writes,
    monitors,
    testMails,
    sql,
    clock,
    history,
    pictures,
    parts: [statusPages.rows, createWindowRows({ clock, maintenance, announce })],
  });
  registerMaintenance(server, { gate, writes, maintenance, announce });
  registerIncidents(server, {
    gate,
    writes,
    sql,
    clock,
    monitorsOf: async (on, accountId, ids) => [...(await monitors.owned(on, accountId, ids))],
    pagesOf: (on, accountId, ids) => statusPages.owned(on, accountId, ids),
    async announce(tx, { accountId, at, isNew, data }) {
      const type = isNew ? "page.incident" : "page.update";
      const incidentId = data.incident_id;
      await events.publish(tx, [{ ...about, type, accountId, createdAt: at, data, incidentId }]);
    },
    evidenceOf: readIncidentEvidence,
    nameCaller: (on, { keyId }) => keys.label(on, keyId),
  });
  registerStatusPages(server, { gate, writes, sql, clock, visits, pages: statusPages });
}
