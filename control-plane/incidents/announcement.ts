import type { Transaction } from "#control-plane/database/connect.ts";
import type { Impact, Incident, Status } from "#control-plane/incidents/incident.ts";

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

/** Informs visitors in the transaction that writes the incident. `isNew`: they hear of it for the first time. */
export type Announce = (
  tx: Transaction,
  announced: {
    readonly accountId: number;
    readonly at: Date;
    readonly isNew: boolean;
    readonly data: IncidentAnnouncement;
  },
) => Promise<void>;

/** Describes a public incident with a message to visitors. */
export function announcementOf(incident: Incident, text: string): IncidentAnnouncement {
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
