import { createHash } from "node:crypto";
import { Type, type Static } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { IMPACTS, STATUSES } from "#control-plane/outages/incidents/incident.ts";
import type {
  PageView,
  ShownIncident,
  ShownMaintenance,
  ShownUpdate,
} from "#control-plane/public/status-pages/page.ts";

const Time = (description: string) => Type.String({ format: "date-time", description });
const Id = (of: string) => Type.Integer({ minimum: 1, examples: [1], description: `Id of the ${of}` });
const MonitorIds = Type.Array(Type.Integer(), { description: "Those of its monitors that are on the page" });

const MONITOR = Type.Object({
  id: Id("monitor"),
  name: Type.String({ description: "Name on the page" }),
  status: Type.Enum(["up", "degraded", "down", "maintenance", "unknown"], {
    description: "unknown: new, paused, or no recent result. maintenance hides what the monitor reports",
  }),
  response_time_ms: Nullable(
    Type.Integer({ description: "Of the newest successful check, milliseconds; null if there is none" }),
  ),
});

const INCIDENT = Type.Object({
  id: Id("incident"),
  title: Type.String({ description: "One line" }),
  status: Type.Enum([...STATUSES], { description: "resolved: it has ended" }),
  impact: Type.Enum([...IMPACTS], { description: "How much users of the service notice" }),
  started_at: Time("Beginning"),
  resolved_at: Nullable(Time("End; null while it is open")),
  duration_seconds: Type.Integer({ description: "How long it lasted, or has lasted so far, seconds" }),
  monitor_ids: MonitorIds,
  regions: Type.Array(Type.String(), {
    description: "Locations from which it was observed; none if the page does not show causes",
  }),
  cause: Nullable(Type.String({ description: "One sentence; null: a person opened it" })),
  updates: Type.Array(
    Type.Object({
      id: Id("update"),
      at: Time("When it was written"),
      status: Type.Enum([...STATUSES], { description: "Status from then on" }),
      text: Type.String({ description: "Plain text; can have several lines" }),
    }),
    { description: "Messages to visitors, newest first" },
  ),
});

/** What a page shows, in the versions before v4. */
export const OLD_PUBLIC_PAGE = Type.Object({
  title: Type.String({ description: "Title of the page" }),
  slug: Type.String({ description: "Last part of the page's address" }),
  overall_status: Type.Enum(
    ["operational", "degraded_performance", "partial_outage", "major_outage", "under_maintenance", "unknown"],
    { description: "Status of everything on the page; paused monitors do not count" },
  ),
  monitors_total: Type.Integer({ description: "Number of monitors on the page" }),
  monitors_down: Type.Integer({ description: "Number of those that are down" }),
  monitors: Type.Array(MONITOR, { description: "In the order of the page" }),
  recent_incidents: Type.Array(INCIDENT, {
    description: "Open ones, and of those of the last 14 days the newest, 20 together; newest first",
  }),
});

/** What a page shows. */
export const PUBLIC_PAGE = Type.Object({
  ...OLD_PUBLIC_PAGE.properties,
  description: Nullable(Type.String({ description: "Plain text below the title; null: none" })),
  maintenance: Type.Array(
    Type.Object({
      id: Id("maintenance window"),
      title: Type.String({ description: "What is done" }),
      status: Type.Enum(["scheduled", "in_progress", "completed"], { description: "completed: it is over" }),
      starts_at: Time("Of the occurrence that runs now, else of the next one, else of the last one"),
      ends_at: Time("End of the same occurrence"),
      monitor_ids: MonitorIds,
    }),
    { description: "In progress, of the next 14 days and of the last 14 days; the earliest first" },
  ),
  stale: Nullable(
    Type.Object(
      { at: Nullable(Time("Beginning of the newest check; null if there was none")) },
      { description: "Set if the newest check is too old to be trusted" },
    ),
  ),
});

/** A view as JSON, with a word that differs when it does. */
interface PublicJson {
  readonly data: Static<typeof PUBLIC_PAGE>;
  readonly tag: string;
}

const shown = new WeakMap<PageView, PublicJson>();

/** Returns a view as JSON; the same one for the same view. */
export function publicJson(view: PageView): PublicJson {
  const known = shown.get(view);
  if (known !== undefined) return known;
  const data = toJson(view);
  const tag = createHash("sha256")
    .update(JSON.stringify(comparable(data)))
    .digest("base64url")
    .slice(0, 22);
  const made = { data, tag };
  shown.set(view, made);
  return made;
}

/** Returns what the word depends on: how long an open incident has lasted to the minute, because it always changes. */
function comparable(data: Static<typeof PUBLIC_PAGE>): object {
  const incidents = data.recent_incidents.map(({ duration_seconds: seconds, ...incident }) => ({
    ...incident,
    duration: incident.resolved_at === null ? Math.floor(seconds / 60) * 60 : seconds,
  }));
  return { ...data, recent_incidents: incidents };
}

function toJson(view: PageView): Static<typeof PUBLIC_PAGE> {
  const monitors = view.groups.flatMap((group) => group.monitors);
  return {
    title: view.title,
    slug: view.slug,
    overall_status: view.overallStatus,
    monitors_total: monitors.length,
    monitors_down: monitors.filter(({ status }) => status === "down").length,
    monitors: monitors.map(({ id, name, status, responseTimeMs }) => {
      return { id, name, status, response_time_ms: responseTimeMs };
    }),
    recent_incidents: view.incidents.map(showIncident),
    description: view.description,
    maintenance: view.maintenance.map(showWindow),
    stale: view.stale === null ? null : { at: view.stale.at?.toISOString() ?? null },
  };
}

function showIncident(incident: ShownIncident): Static<typeof INCIDENT> {
  return {
    id: incident.id,
    title: incident.title,
    status: incident.status,
    impact: incident.impact,
    started_at: incident.startedAt.toISOString(),
    resolved_at: incident.resolvedAt?.toISOString() ?? null,
    duration_seconds: incident.durationSeconds,
    monitor_ids: [...incident.monitorIds],
    regions: [...incident.regions],
    cause: incident.cause,
    updates: incident.updates.map(showUpdate),
  };
}

function showUpdate({ id, at, status, text }: ShownUpdate) {
  return { id, at: at.toISOString(), status, text };
}

function showWindow({ id, title, status, startsAt, endsAt, monitorIds }: ShownMaintenance) {
  const times = { starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString() };
  return { id, title, status, ...times, monitor_ids: [...monitorIds] };
}

/** Returns the fields that the versions before v4 have. */
export function toOldJson(data: Static<typeof PUBLIC_PAGE>): Static<typeof OLD_PUBLIC_PAGE> {
  const { description: _description, maintenance: _maintenance, stale: _stale, ...old } = data;
  return old;
}
