import type { Transaction } from "#control-plane/core/database/connect.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { toPageEvent } from "#control-plane/notify/events/page-event.ts";
import type { Impact, Incident, Status } from "#control-plane/outages/incidents/incident.ts";

/** What visitors are informed of: a public incident, once, or a public update. Data of an event. */
export interface IncidentAnnouncement {
  readonly incident_id: number;
  /** Monitor whose outage it is, with its name at that time, which is not public; null: a person opened it. */
  readonly monitor: { readonly id: number; readonly name: string } | null;
  readonly title: string;
  readonly status: Status;
  readonly impact: Impact;
  readonly text: string;
  readonly monitor_ids: readonly number[];
  readonly page_ids: readonly number[];
}

/** An incident of which visitors are informed. */
interface Announced {
  readonly accountId: number;
  readonly at: Date;
  /** Whether they hear of it for the first time. */
  readonly isNew: boolean;
  readonly incident: Incident;
  /** The message to them. */
  readonly text: string;
}

/** Informs visitors of an incident, in the transaction that writes it. */
export async function announceIncident(
  tx: Transaction,
  events: Pick<Events, "publish">,
  { accountId, at, isNew, incident, text }: Announced,
): Promise<void> {
  const type = isNew ? "page.incident" : "page.update";
  const data = announcementOf(incident, text);
  await events.publish(tx, [toPageEvent({ type, accountId, at, data, incidentId: incident.id })]);
}

/** Describes a public incident with a message to visitors. */
function announcementOf(incident: Incident, text: string): IncidentAnnouncement {
  const { monitor } = incident;
  return {
    incident_id: incident.id,
    monitor: monitor === null ? null : { id: monitor.id, name: monitor.name },
    title: incident.title,
    status: incident.status,
    impact: incident.impact,
    text,
    monitor_ids: incident.monitorIds,
    page_ids: incident.pageIds,
  };
}
