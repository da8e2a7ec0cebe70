import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";
import type { MonitorSecrets } from "#control-plane/outages/kinds/common.ts";
import type { VisualSettings } from "#control-plane/outages/kinds/visual.ts";
import type { RecentCheck } from "#control-plane/outages/history/recent.ts";
import type { CompositeSettings } from "#control-plane/outages/kinds/composite.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";
import type { MonitorStatus } from "#control-plane/watching/checking/monitor-status.ts";
import type { ExpiryDetails } from "#control-plane/watching/expiry/read/expiry-details.ts";
import type { HeartbeatFacts } from "#control-plane/watching/heartbeats/heartbeats.ts";
import type { ShownPing } from "#control-plane/watching/heartbeats/shown-pings.ts";
import type { Statistics } from "#control-plane/outages/history/history.ts";
import { maskSecrets } from "#control-plane/outages/kinds/secrets.ts";
import { draftOf } from "#control-plane/monitors/draft.ts";
import type { StoredMonitor } from "#control-plane/monitors/store.ts";
import type { MonitorPictures } from "#control-plane/watching/pictures/monitor-pictures.ts";

/** Whether anybody is mailed about a monitor, and if not, why: the first of these that holds. */
export const NOTIFY_STATES = ["off", "mail_not_configured", "no_recipient", "mail_failing", "ok"] as const;

/** Receivers of mail about a monitor, as shown. */
export interface NotifyFacts {
  readonly notify_emails: readonly {
    readonly email: string;
    readonly confirmed: boolean;
    readonly unsubscribed_at: string | null;
  }[];
  readonly notify_state: (typeof NOTIFY_STATES)[number];
}

/** What is shown of a monitor beside its record; null if nothing is known yet. */
interface MonitorDetails {
  readonly secrets: MonitorSecrets;
  readonly state: MonitorStatus | null;
  readonly statistics: Statistics | null;
  /** null if it is no heartbeat. */
  readonly heartbeat: HeartbeatFacts | null;
  readonly expiry: ExpiryDetails | null;
  /** null if it takes no pictures. */
  readonly pictures: MonitorPictures | null;
  /** The monitors that it follows; none if it is no composite. */
  readonly members: readonly MemberView[];
  readonly notify: NotifyFacts;
}

/** A monitor that a composite follows. */
interface MemberView {
  readonly id: number;
  readonly name: string;
  readonly status: "up" | "down" | "unknown";
}

/** A monitor in the form of the current API. */
export type MonitorView = ReturnType<typeof showMonitor>;

/** Returns a monitor in the form of the current API; secrets are masked. */
export function showMonitor(
  monitor: StoredMonitor,
  { secrets, state, statistics, heartbeat, expiry, pictures, members, notify }: MonitorDetails,
) {
  const { name, url, check_type, interval_minutes, expected_code, notify_email, is_active, ...options } = draftOf(
    monitor,
    maskSecrets(secrets),
  );
  return {
    id: monitor.id,
    name,
    url,
    check_type,
    interval_minutes,
    expected_code,
    notify_email,
    is_active,
    paused_reason: monitor.pausedReason,
    status: state?.status ?? "unknown",
    ...options,
    ...notify,
    ssl_days: expiry?.certificate?.first_to_end.days_left ?? null,
    certificate: expiry?.certificate ?? null,
    certificate_error: expiry?.certificate_error ?? null,
    domain: expiry?.domain ?? null,
    domain_error: expiry?.domain_error ?? null,
    heartbeat: showHeartbeat(monitor, heartbeat),
    heartbeat_url: heartbeat?.url ?? null,
    visual: showVisual(monitor, pictures),
    composite: showComposite(monitor, members),
    degraded: state?.isDegraded ?? false,
    flapping: state?.isFlapping ?? false,
    advisory: showAdvisory(state?.advisory ?? (state?.status === "up" ? expiry?.advisory : null) ?? null),
    last_checked_at: timeOf(heartbeat === null ? state?.lastCheckedAt : heartbeat.lastPingAt),
    next_check_at: monitor.isActive ? timeOf(state?.nextCheckAt) : null,
    schedule_lag_ms: state?.scheduleLagMs ?? null,
    last_change_at: timeOf(state?.lastChangeAt),
    last_error: state?.lastError ?? pictures?.fault ?? domainFault(monitor, state, expiry) ?? compositeFault(monitor),
    uptime: statistics?.uptime ?? { d1: null, d7: null, d30: null, d90: null },
    response_ms: statistics?.responseMs ?? { p50: null, p95: null, p99: null },
    created_at: monitor.createdAt.toISOString(),
    updated_at: monitor.updatedAt.toISOString(),
  };
}

/** A heartbeat as reads show it: its settings, and what its pings say. */
interface HeartbeatView extends HeartbeatSettings {
  readonly last_ping_at: string | null;
  readonly last_kind: HeartbeatFacts["lastKind"];
  readonly last_duration_ms: number | null;
  readonly run_started_at: string | null;
  readonly deadline_at: string | null;
  /** The newest ones, newest first; on the read of one monitor. */
  readonly pings?: readonly ShownPing[];
}

function showHeartbeat({ settings }: StoredMonitor, facts: HeartbeatFacts | null): HeartbeatView | null {
  if (settings.heartbeat === null) return null;
  return {
    ...settings.heartbeat,
    last_ping_at: timeOf(facts?.lastPingAt),
    last_kind: facts?.lastKind ?? null,
    last_duration_ms: facts?.lastDurationMs ?? null,
    run_started_at: timeOf(facts?.runStartedAt),
    deadline_at: timeOf(facts?.deadlineAt),
  };
}

/** Returns why nothing is known about the domain of a domain monitor; null: something is, or it was not checked yet. */
function domainFault(
  { checkType, isActive }: StoredMonitor,
  state: MonitorStatus | null,
  expiry: ExpiryDetails | null,
): MonitorStatus["lastError"] {
  const isRegistered = kindOf(checkType).probe?.judgedBy === "registry";
  if (!isRegistered || !isActive || state?.status !== "unknown" || state.lastCheckedAt === null) return null;
  const reason = expiry?.domain_error?.reason ?? "no_registration_data";
  const message = expiry?.domain_error?.message ?? "The registry has not answered yet.";
  return { stage: "response", source: "service", reason, message };
}

/** Which monitors it follows, and how they are. */
interface CompositeView extends CompositeSettings {
  readonly members: readonly MemberView[];
}

function showComposite({ settings }: StoredMonitor, members: readonly MemberView[]): CompositeView | null {
  if (settings.composite === null) return null;
  return { ...settings.composite, members: members.map(({ id, name, status }) => ({ id, name, status })) };
}

/** Returns why nothing is known about a composite without monitors. */
function compositeFault({ settings: { composite }, isActive }: StoredMonitor): MonitorStatus["lastError"] {
  if (composite === null || !isActive || composite.monitor_ids.length > 0) return null;
  const message = "None of the monitors that it follows exists any more.";
  return { stage: "request", source: "service", reason: "no_members", message };
}

/** How pictures are taken and compared, and the two that count. */
interface VisualView extends VisualSettings {
  readonly accepted: { readonly picture_id: number; readonly at: string } | null;
  readonly latest: {
    readonly picture_id: number;
    readonly at: string;
    readonly ratio: number;
    /** The same as `ratio`, by a name that says its unit. */
    readonly changed_percent: number;
    readonly difference_picture_id: number | null;
  } | null;
}

function showVisual({ settings }: StoredMonitor, facts: MonitorPictures | null): VisualView | null {
  if (settings.visual === null) return null;
  const { accepted, latest } = facts ?? { accepted: null, latest: null };
  return {
    ...settings.visual,
    accepted: accepted === null ? null : { picture_id: accepted.pictureId, at: accepted.at.toISOString() },
    latest:
      latest === null
        ? null
        : {
            picture_id: latest.pictureId,
            at: latest.at.toISOString(),
            ratio: latest.ratio,
            changed_percent: latest.ratio,
            difference_picture_id: latest.differenceId,
          },
  };
}

function showAdvisory(advisory: MonitorStatus["advisory"]) {
  return advisory === null ? null : { ...advisory, since: advisory.since.toISOString() };
}

function timeOf(time: Date | null | undefined): string | null {
  return time?.toISOString() ?? null;
}

/** Returns a monitor in the form of versions before v4. */
export function showOldMonitor(view: MonitorView) {
  const { id, url, check_type, interval_minutes, expected_code, notify_email, is_active, status } = view;
  return { id, url, check_type, interval_minutes, expected_code, notify_email, is_active, status };
}

/** Returns a check of the history in the form of versions before v4, which know neither locations nor degraded. */
export function showOldCheck({ id, checked_at, status, response_time_ms, http_status_code }: RecentCheck) {
  return { id, checked_at, status: status === "degraded" ? "up" : status, response_time_ms, http_status_code };
}
