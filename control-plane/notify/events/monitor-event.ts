import type { EventFacts, EventType, MailEventType } from "#control-plane/notify/events/event.ts";

/** A monitor as events show it. */
interface EventMonitor {
  readonly id: number;
  readonly name: string;
  readonly url: string;
  readonly check_type: string;
}

/** The kinds of monitors that no location checks: their events have neither a target nor locations. */
const PLACELESS: ReadonlyMap<string, { readonly waitsForPings: boolean }> = new Map([
  ["heartbeat", { waitsForPings: true }],
  ["composite", { waitsForPings: false }],
]);

/** Returns what is special about monitors that no location checks; null: locations check them. */
export function placelessOf(checkType: string): { readonly waitsForPings: boolean } | null {
  return PLACELESS.get(checkType) ?? null;
}

/** A location that fails. */
interface FailingLocation {
  readonly location: string;
  readonly fault: {
    readonly stage: string;
    readonly source: string;
    readonly reason: string;
    readonly message: string;
  } | null;
  /** Unix milliseconds of the first failing check. */
  readonly since: number;
}

/** What people should know about a monitor that is up. */
interface Advisory {
  readonly since: Date;
  readonly locations: readonly string[];
  readonly message: string;
}

/** Kinds of changes of a monitor that receivers are informed of. */
type MonitorChange =
  | "down"
  | "up"
  | "degraded"
  | "recovered_speed"
  | "reminder"
  | "advisory"
  | "no_data"
  | "data_returned"
  | "flapping";

/** A change of a monitor. Times are Unix milliseconds. */
export interface MonitorChangeFacts {
  readonly kind: MonitorChange;
  readonly accountId: number;
  readonly monitor: EventMonitor;
  /** When it was confirmed. */
  readonly at: number;
  /** Last status before an outage or its end, or the last known one before a lack of results; ignored for other kinds. */
  readonly previous: "up" | "down" | "unknown";
  /** Status after a lack of results, or while it is flapping; absent: unknown. Ignored for other kinds. */
  readonly current?: "up" | "down" | "unknown";
  /** Beginning of the outage; null if there is none. */
  readonly startedAt: number | null;
  /** The first good check of a recovery; null otherwise. */
  readonly recoveredAt: number | null;
  readonly incidentId: number | null;
  /** One sentence on the outage with a stable word; null if there is none. */
  readonly cause: { readonly code: string; readonly message: string } | null;
  /** The newest cause, if it can differ from `cause`; absent: it is the same. */
  readonly causeNow?: { readonly code: string; readonly message: string } | null;
  readonly failing: readonly FailingLocation[];
  /** Response time of a degraded monitor; null otherwise. */
  readonly responseMs: number | null;
  /** Response time above which it is slow, for a degraded monitor; absent or null otherwise. */
  readonly limitMs?: number | null;
  /** Port of a check that names one beside its target; absent or null: none. */
  readonly port?: number | null;
  readonly isFlapping: boolean;
  /** What people should know about a monitor that is up; absent: nothing. */
  readonly advisory?: Advisory;
  /** Whether its flapping begins, lasts or ends; absent: the change is another one. */
  readonly phase?: "begins" | "lasts" | "ends";
}

/** The field `data` of an event about a monitor. */
export interface MonitorEventData {
  readonly monitor: EventMonitor;
  readonly previous_status: "up" | "down" | "degraded" | "unknown";
  readonly status: "up" | "down" | "degraded" | "unknown";
  readonly cause: { readonly code: string; readonly message: string } | null;
  /** The newest cause, which differs from `cause` if another fault followed the first of the outage that has ended. */
  readonly cause_now: { readonly code: string; readonly message: string } | null;
  /** The failing locations, each with the error of its newest check. */
  readonly locations: readonly {
    readonly location: string;
    readonly since: string;
    readonly error: FailingLocation["fault"];
  }[];
  readonly incident_id: number | null;
  /** Beginning of the outage, or of the lack of results. */
  readonly started_at: string | null;
  /** Its duration, until now if it lasts. */
  readonly duration_seconds: number | null;
  readonly response_time_ms: number | null;
  /** Response time above which a degraded monitor is slow; absent for other events. */
  readonly degraded_ms?: number;
  /** Port of a check that names one beside its target; absent for others. */
  readonly port?: number;
  readonly flapping: boolean;
  /** monitor.advisory: what begins, as reads of the monitor show it. */
  readonly advisory?: { readonly since: string; readonly locations: readonly string[]; readonly message: string };
  /** Only of mails about flapping. */
  readonly phase?: "begins" | "lasts" | "ends";
}

const TYPES: Readonly<Record<MonitorChange, EventType | MailEventType>> = {
  down: "monitor.down",
  up: "monitor.up",
  degraded: "monitor.degraded",
  recovered_speed: "monitor.up",
  reminder: "reminder",
  advisory: "monitor.advisory",
  no_data: "monitor.unwatched",
  data_returned: "monitor.watched",
  flapping: "flapping",
};

/** Describes a change of a monitor as an event. */
export function toMonitorEvent(change: MonitorChangeFacts): EventFacts {
  const { accountId, monitor, at, incidentId, isFlapping } = change;
  return {
    accountId,
    type: TYPES[change.kind],
    createdAt: new Date(at),
    data: toData(change),
    monitorId: monitor.id,
    incidentId,
    isFlapping,
  };
}

function toData(change: MonitorChangeFacts): MonitorEventData {
  const { monitor, startedAt, failing, cause, incidentId, responseMs, isFlapping, advisory, phase } = change;
  const { limitMs = null, port = null } = change;
  const endedAt = change.recoveredAt ?? change.at;
  return {
    monitor: { id: monitor.id, name: monitor.name, url: monitor.url, check_type: monitor.check_type },
    ...statusesOf(change),
    cause,
    cause_now: change.causeNow ?? cause,
    locations: failing.map(({ location, since, fault }) => {
      return { location, since: new Date(since).toISOString(), error: fault };
    }),
    incident_id: incidentId,
    started_at: startedAt === null ? null : new Date(startedAt).toISOString(),
    duration_seconds: startedAt === null ? null : Math.max(0, Math.round((endedAt - startedAt) / 1_000)),
    response_time_ms: responseMs,
    ...(limitMs === null ? {} : { degraded_ms: limitMs }),
    ...(port === null ? {} : { port }),
    flapping: isFlapping,
    ...(advisory && { advisory: { ...advisory, since: advisory.since.toISOString() } }),
    ...(phase === undefined ? {} : { phase }),
  };
}

function statusesOf({
  kind,
  previous,
  current = "unknown",
}: MonitorChangeFacts): Pick<MonitorEventData, "previous_status" | "status"> {
  switch (kind) {
    case "down":
      return { previous_status: previous, status: "down" };
    case "up":
      return { previous_status: previous, status: "up" };
    case "degraded":
      return { previous_status: "up", status: "degraded" };
    case "recovered_speed":
      return { previous_status: "degraded", status: "up" };
    case "advisory":
      return { previous_status: "up", status: "up" };
    case "reminder":
      return { previous_status: "down", status: "down" };
    case "no_data":
      return { previous_status: previous, status: "unknown" };
    case "flapping":
      return { previous_status: current, status: current };
    case "data_returned":
      return { previous_status: "unknown", status: current };
  }
}
