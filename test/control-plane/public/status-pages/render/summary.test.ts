import { Type, type TSchema } from "typebox";
import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";
import type { PageView } from "#control-plane/public/status-pages/page.ts";
import {
  renderComponents,
  renderIncidents,
  renderStatus,
  renderSummary,
  renderUnresolved,
  renderWindows,
} from "#control-plane/public/status-pages/render/summary.ts";
import {
  hoursAgo,
  makeIncident,
  makeMaintenance,
  makeMonitor,
  makeView,
  makeViews,
} from "#test/support/status-page-views.ts";

// Field names, types and words of the public documentation of Statuspage's API v2.
const Time = Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$` });
const OrNull = (schema: TSchema) => Type.Union([schema, Type.Null()]);
const Text = Type.String({ minLength: 1 });
const Words = (...words: string[]) => Type.Union(words.map((word) => Type.Literal(word)));

const Page = Type.Object({ id: Text, name: Text, url: Text, time_zone: Text, updated_at: Time });
const Status = Type.Object({
  indicator: Words("none", "minor", "major", "critical", "maintenance"),
  description: Text,
});
const Component = Type.Object({
  id: Text,
  name: Text,
  status: Words("operational", "degraded_performance", "partial_outage", "major_outage", "under_maintenance"),
  created_at: Time,
  updated_at: Time,
  position: Type.Integer({ minimum: 1 }),
  description: OrNull(Text),
  showcase: Type.Boolean(),
  start_date: OrNull(Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\d$` })),
  group_id: OrNull(Text),
  page_id: Text,
  group: Type.Boolean(),
  only_show_if_degraded: Type.Boolean(),
  components: Type.Optional(Type.Array(Text)),
});
const event = (statuses: TSchema, impacts: TSchema) => ({
  id: Text,
  name: Text,
  status: statuses,
  created_at: Time,
  updated_at: Time,
  monitoring_at: OrNull(Time),
  resolved_at: OrNull(Time),
  impact: impacts,
  shortlink: Text,
  started_at: Time,
  page_id: Text,
  incident_updates: Type.Array(
    Type.Object({
      id: Text,
      status: statuses,
      body: Text,
      incident_id: Text,
      created_at: Time,
      updated_at: Time,
      display_at: Time,
      affected_components: OrNull(Type.Array(Type.Object({ code: Text, name: Text }))),
    }),
  ),
  components: Type.Array(Component),
});
const Incident = Type.Object(
  event(
    Words("investigating", "identified", "monitoring", "resolved", "postmortem"),
    Words("none", "minor", "major", "critical"),
  ),
);
const Maintenance = Type.Object({
  ...event(Words("scheduled", "in_progress", "verifying", "completed"), Words("maintenance")),
  scheduled_for: Time,
  scheduled_until: Time,
});
const Summary = Type.Object({
  page: Page,
  status: Status,
  components: Type.Array(Component),
  incidents: Type.Array(Incident),
  scheduled_maintenances: Type.Array(Maintenance),
});

/** Parses JSON and holds it against a schema without further fields. */
function readAs(schema: TSchema, json: string): Record<string, Record<string, unknown>[]> {
  const value: unknown = JSON.parse(json);
  expect([...Value.Errors(schema, value)]).toEqual([]);
  return value as Record<string, Record<string, unknown>[]>;
}

describe("the summary in Statuspage's shape", () => {
  it.each(Object.entries(makeViews()))("has its fields and words: %s", (_, view) => {
    expect(readAs(Summary, renderSummary(view))).toMatchObject({ page: { id: "acme" } });
    readAs(Type.Object({ page: Page, status: Status }), renderStatus(view));
    readAs(Type.Object({ page: Page, components: Type.Array(Component) }), renderComponents(view));
    readAs(Type.Object({ page: Page, incidents: Type.Array(Incident) }), renderIncidents(view));
    readAs(Type.Object({ page: Page, incidents: Type.Array(Incident) }), renderUnresolved(view));
    readAs(Type.Object({ page: Page, scheduled_maintenances: Type.Array(Maintenance) }), renderWindows(view));
  });

  it("lists a group before its monitors, with the worst of their statuses", () => {
    const monitors = [
      makeMonitor(1),
      makeMonitor(2, { status: "degraded" }),
      makeMonitor(3, { status: "maintenance" }),
    ];
    const view = makeView({
      groups: [
        { name: null, monitors: [makeMonitor(9)] },
        { name: "Europe", monitors },
      ],
    });
    const { components = [] } = readAs(Summary, renderSummary(view));
    expect(components.map(({ id, group, group_id, status }) => [id, group, group_id, status])).toEqual([
      ["9", false, null, "operational"],
      ["group-1", true, null, "degraded_performance"],
      ["1", false, "group-1", "operational"],
      ["2", false, "group-1", "degraded_performance"],
      ["3", false, "group-1", "under_maintenance"],
    ]);
    expect(components[1]?.["components"]).toEqual(["1", "2", "3"]);
  });

  it("has the time of the newest change of the page, of each group and of each monitor, never that of its making", () => {
    const monitors = [makeMonitor(1, { changedAt: hoursAgo(90) }), makeMonitor(2, { changedAt: hoursAgo(80) })];
    const quiet = makeView({
      groups: [{ name: "Europe", monitors }],
      incidents: [],
      maintenance: [],
      changedAt: hoursAgo(100),
    });
    const changesOf = (view: PageView) => {
      const { page, components = [] } = readAs(Summary, renderSummary(view)) as unknown as {
        readonly page: { readonly updated_at: string };
        readonly components?: readonly { readonly updated_at: string }[];
      };
      return [page, ...components].map(({ updated_at: at }) => at);
    };
    const times = (...hours: readonly number[]) => hours.map((count) => hoursAgo(count).toISOString());
    expect(changesOf(quiet)).toEqual(times(80, 80, 90, 80));
    const over = makeMaintenance(3, { status: "completed", startsAt: hoursAgo(72), endsAt: hoursAgo(70) });
    const maintenance = [{ ...over, monitorIds: [1] }];
    expect(changesOf({ ...quiet, maintenance })).toEqual(times(70, 70, 70, 80));
    expect(changesOf({ ...quiet, maintenance, incidents: [makeIncident(7)] })).toEqual(times(28, 70, 70, 80));
    expect(changesOf({ ...quiet, changedAt: hoursAgo(2) })).toEqual(times(2, 2, 2, 2));
    expect(renderSummary({ ...quiet, generatedAt: hoursAgo(-1) })).toBe(renderSummary(quiet));
  });

  it("dates maintenance by its announcement and its planned start", () => {
    const view = makeView({ maintenance: [makeMaintenance(1, { announcedAt: hoursAgo(3) })] });
    const [window] = readAs(Summary, renderSummary(view))["scheduled_maintenances"] ?? [];
    const [announced, starts, ends] = [hoursAgo(3), hoursAgo(-20), hoursAgo(-22)].map((time) => time.toISOString());
    expect(window).toMatchObject({
      created_at: announced,
      updated_at: announced,
      started_at: starts,
      scheduled_for: starts,
      scheduled_until: ends,
    });
  });

  it("never calls a monitor operational if its status is unknown", () => {
    const view = makeView({ groups: [{ name: null, monitors: [makeMonitor(1, { status: "unknown" })] }] });
    const { components = [] } = readAs(Summary, renderSummary(view));
    expect(components[0]).toMatchObject({
      status: "degraded_performance",
      description: expect.stringContaining("unknown") as string,
    });
    expect(JSON.parse(renderStatus(makeView({ overallStatus: "unknown" })))).toMatchObject({
      status: { indicator: "minor", description: "Status unknown" },
    });
  });

  it("has what is open and what is ahead; the lists have all", () => {
    const view = makeView({
      incidents: [makeIncident(8, { resolvedAt: null, status: "identified" }), makeIncident(7)],
      maintenance: [makeMaintenance(1, { status: "completed" }), makeMaintenance(2)],
    });
    const ids = (rows: Record<string, unknown>[] = []) => rows.map(({ id }) => id);
    const summary = readAs(Summary, renderSummary(view));
    expect(ids(summary["incidents"])).toEqual(["incident-8"]);
    expect(ids(summary["scheduled_maintenances"])).toEqual(["maintenance-2"]);
    expect(ids(readAs(Type.Object({}), renderIncidents(view))["incidents"])).toEqual(["incident-8", "incident-7"]);
    expect(ids(readAs(Type.Object({}), renderUnresolved(view))["incidents"])).toEqual(["incident-8"]);
    expect(ids(readAs(Type.Object({}), renderWindows(view))["scheduled_maintenances"])).toHaveLength(2);
    expect(summary["incidents"]?.[0]?.["incident_updates"]).toMatchObject([
      { status: "resolved" },
      { status: "investigating" },
    ]);
  });
});
