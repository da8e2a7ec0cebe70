import type {
  PageView,
  ShownDay,
  ShownIncident,
  ShownMaintenance,
  ShownMonitor,
} from "#control-plane/public/status-pages/page.ts";

const NOW = Date.parse("2026-11-23T19:58:00Z");
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** A time before that of the views, in hours; negative: after it. */
export const hoursAgo = (hours: number): Date => new Date(NOW - hours * HOUR_MS);

/** 90 days, of which some have downtime, maintenance or no data. */
export function makeDays(change: (index: number) => Partial<ShownDay> = () => ({})): ShownDay[] {
  return Array.from({ length: 90 }, (_, index) => ({
    day: new Date(NOW - (89 - index) * DAY_MS).toISOString().slice(0, 10),
    uptime: 100,
    downSeconds: 0,
    maintenanceSeconds: 0,
    ...change(index),
  }));
}

/** Days as of an ordinary monitor. */
export const MIXED_DAYS = makeDays((index) => {
  if (index < 9) return { uptime: null };
  if (index % 31 === 20) return { uptime: 99.95, downSeconds: 43 };
  if (index === 60) return { uptime: 87.5, downSeconds: 10_800 };
  if (index === 75) return { maintenanceSeconds: 7_200 };
  return {};
});

/** A monitor that is up. */
export function makeMonitor(id: number, over: Partial<ShownMonitor> = {}): ShownMonitor {
  return {
    id,
    name: `Service ${id}`,
    status: "up",
    responseTimeMs: 123,
    uptime90: 99.953,
    days: MIXED_DAYS,
    changedAt: hoursAgo(28),
    ...over,
  };
}

/** An incident that is resolved. */
export function makeIncident(id: number, over: Partial<ShownIncident> = {}): ShownIncident {
  return {
    id,
    title: "API is down",
    status: "resolved",
    impact: "major",
    startedAt: hoursAgo(30),
    resolvedAt: hoursAgo(28),
    durationSeconds: 7_200,
    monitorIds: [1],
    regions: ["eu-west", "us-east"],
    isOutage: false,
    cause: "The server answered 503 instead of 200.",
    updates: [
      { id: id * 10 + 1, at: hoursAgo(28), status: "resolved", text: "All requests succeed again." },
      { id: id * 10, at: hoursAgo(29), status: "investigating", text: "Requests fail.\nWe look for the cause." },
    ],
    ...over,
  };
}

/** A window that is scheduled for tomorrow. */
export function makeMaintenance(id: number, over: Partial<ShownMaintenance> = {}): ShownMaintenance {
  return {
    id,
    title: "Database upgrade",
    status: "scheduled",
    startsAt: hoursAgo(-20),
    endsAt: hoursAgo(-22),
    announcedAt: hoursAgo(100),
    monitorIds: [2],
    ...over,
  };
}

/** Response times of monitors in each of the last 24 hours. */
export function responsesOf(...ids: readonly number[]): PageView["responses"] {
  const to = Math.floor(NOW / HOUR_MS) * HOUR_MS;
  const points = Array.from({ length: 24 }, (_, index) => {
    return { at: new Date(to - (24 - index) * HOUR_MS), p50: 80 + index, p95: 200, p99: 250 };
  });
  const series = { points, last: 103, p50: 92, p95: 200, p99: 250 };
  return { from: to - 24 * HOUR_MS, to, stepMs: HOUR_MS, series: new Map(ids.map((id) => [id, series])) };
}

/** A page with 10 monitors in two groups, all up, and an event of each kind in the past. */
export function makeView(over: Partial<PageView> = {}): PageView {
  const monitors = Array.from({ length: 10 }, (_, index) => makeMonitor(index + 1));
  return {
    title: "Acme",
    slug: "acme",
    url: "https://vantage.example/status/acme",
    description: "Status of all services of Acme.",
    footer: "Acme Inc., 1 Main Street",
    homepageUrl: "https://www.acme.example/",
    accentColor: null,
    logo: null,
    overallStatus: "operational",
    groups: [
      { name: null, monitors: monitors.slice(0, 4) },
      { name: "Europe", monitors: monitors.slice(4) },
    ],
    incidents: [makeIncident(7)],
    maintenance: [makeMaintenance(2, { status: "completed", startsAt: hoursAgo(60), endsAt: hoursAgo(58) })],
    responses: null,
    stale: null,
    canSubscribe: true,
    changedAt: hoursAgo(300),
    checkedAt: new Date(NOW - 40_000),
    generatedAt: new Date(NOW),
    ...over,
  };
}

/** Texts with which an author of a page could try to break it. */
export const HOSTILE = [
  `<script>alert(1)</script>`,
  `"><img src=x onerror=alert(1)>`,
  `</title></style></textarea><iframe src=//evil.example>`,
  `]]><x>&amp;lt;&#0;`,
  "\u202Egnp.exe\u202D \u2066x\u200F",
  "\u0000\u0008\u001b\uFFFE\uD800",
  "<%= it %><%~ it %>",
  "x".repeat(200),
];

/** A page on which every text is another one. */
export function changeTexts(view: PageView, text: string): PageView {
  return {
    ...view,
    title: text,
    description: text,
    footer: text,
    groups: view.groups.map(({ monitors }) => ({
      name: text,
      monitors: monitors.map((monitor) => ({ ...monitor, name: text })),
    })),
    incidents: view.incidents.map((incident) => ({
      ...incident,
      title: text,
      regions: [text],
      cause: text,
      updates: incident.updates.map((update) => ({ ...update, text })),
    })),
    maintenance: view.maintenance.map((window) => ({ ...window, title: text })),
  };
}

/** Pages in the states that visitors see, by name. */
export function makeViews(): Readonly<Record<string, PageView>> {
  const operational = makeView();
  const groupsWith = (...statuses: readonly ShownMonitor["status"][]) =>
    operational.groups.map((group, at) => ({
      ...group,
      monitors: group.monitors.map((monitor, index) => ({
        ...monitor,
        status: at === 0 ? (statuses[index] ?? "up") : "up",
      })),
    }));
  const open = makeIncident(8, {
    title: "Payments fail for some customers",
    status: "identified",
    impact: "critical",
    startedAt: hoursAgo(2),
    resolvedAt: null,
    durationSeconds: 7_260,
    updates: [{ id: 80, at: hoursAgo(1), status: "identified", text: "A payment provider does not answer." }],
  });
  return {
    operational,
    outage: makeView({
      overallStatus: "partial_outage",
      groups: groupsWith("down", "degraded", "unknown"),
      incidents: [open, makeIncident(7)],
    }),
    maintenance: makeView({
      overallStatus: "under_maintenance",
      groups: groupsWith("up", "maintenance"),
      maintenance: [
        makeMaintenance(1, { status: "in_progress", startsAt: hoursAgo(1), endsAt: hoursAgo(-1) }),
        makeMaintenance(2),
      ],
    }),
    stale: makeView({ overallStatus: "unknown", checkedAt: hoursAgo(3), stale: { at: hoursAgo(3) } }),
    empty: makeView({
      overallStatus: "unknown",
      groups: [],
      incidents: [],
      maintenance: [],
      description: null,
      footer: null,
      canSubscribe: false,
      checkedAt: null,
      stale: { at: null },
    }),
    long: changeTexts(makeView({ incidents: [open] }), "x".repeat(200)),
    hostile: changeTexts(makeView({ incidents: [open] }), HOSTILE.slice(0, 6).join(" ")),
    rtl: changeTexts(makeView({ incidents: [open] }), "שירות התשלומים 2.0 (API)"),
  };
}
