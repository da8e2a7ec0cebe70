import type { NewEvent } from "#control-plane/notify/events/event.ts";

/** A picture as events show it. */
interface EventPicture {
  readonly picture_id: number;
  readonly url: string;
}

/** The field `data` of a visual.changed event. */
export interface VisualEventData {
  readonly monitor: { readonly id: number; readonly name: string; readonly url: string; readonly check_type: "visual" };
  readonly location: string;
  /** Pixels that differ, percent. */
  readonly ratio: number;
  readonly threshold_percent: number;
  readonly accepted: EventPicture;
  readonly latest: EventPicture;
  /** Shows what differs; null if that picture is too large. */
  readonly difference: EventPicture | null;
  readonly incident_id: null;
}

/** A change to announce. */
interface PageChange {
  readonly accountId: number;
  readonly monitor: Omit<VisualEventData["monitor"], "check_type">;
  readonly location: string;
  readonly at: Date;
  readonly ratio: number;
  readonly threshold: number;
  readonly acceptedId: number;
  readonly latestId: number;
  readonly differenceId: number | null;
  /** Addresses to mail; null: the account's own. undefined: nobody is mailed. */
  readonly mailTo: readonly string[] | null | undefined;
}

/** Describes a change of a page as an event. `baseUrl` is the address of the service. */
export function toChangedEvent(change: PageChange, baseUrl: string): NewEvent {
  const { monitor, location, at, ratio, threshold, mailTo } = change;
  const show = (id: number): EventPicture => {
    const url = `${baseUrl}/api/v4/monitors?id=${monitor.id}&action=picture&picture_id=${id}`;
    return { picture_id: id, url };
  };
  const data: VisualEventData = {
    monitor: { id: monitor.id, name: monitor.name, url: monitor.url, check_type: "visual" },
    location,
    ratio,
    threshold_percent: threshold,
    accepted: show(change.acceptedId),
    latest: show(change.latestId),
    difference: change.differenceId === null ? null : show(change.differenceId),
    incident_id: null,
  };
  return {
    accountId: change.accountId,
    type: "visual.changed",
    createdAt: at,
    data,
    monitorId: monitor.id,
    incidentId: null,
    isFlapping: false,
    ...(mailTo === undefined ? {} : { mailTo }),
  };
}
