import type { MonitorDraft, MonitorSecrets, MonitorSettings } from "#control-plane/kinds/monitor.ts";
import type { Scheduled } from "#control-plane/checking/schedule/schedule.ts";
import { DEFAULT_SETTINGS } from "#control-plane/kinds/defaults.ts";
import { basisOf } from "#control-plane/kinds/visual-basis.ts";
import type { NewMonitor, StoredMonitor } from "#control-plane/monitors/store.ts";
import type { Plan } from "#control-plane/plans/plans.ts";

/** Returns a stored monitor as its user wrote it. */
export function draftOf(monitor: StoredMonitor, secrets: MonitorSecrets): MonitorDraft {
  return {
    ...monitor.settings,
    ...secrets,
    name: monitor.name,
    url: monitor.url,
    check_type: monitor.checkType,
    interval_minutes: monitor.intervalMinutes,
    is_active: monitor.isActive,
    tags: monitor.tags,
    depends_on: monitor.dependsOn,
  };
}

/** Returns the row of a monitor; its secrets are already sealed. */
export function rowOf(
  draft: MonitorDraft,
  row: Pick<NewMonitor, "id" | "accountId" | "pausedReason" | "secrets">,
): NewMonitor {
  return {
    ...row,
    name: draft.name,
    url: draft.url,
    checkType: draft.check_type,
    intervalMinutes: draft.interval_minutes,
    isActive: draft.is_active,
    tags: draft.tags,
    dependsOn: draft.depends_on,
    settings: settingsOf(draft),
  };
}

function settingsOf(draft: MonitorDraft): MonitorSettings {
  const names = Object.keys(DEFAULT_SETTINGS) as readonly (keyof MonitorSettings)[];
  return Object.fromEntries(names.map((name) => [name, draft[name]] as const)) as unknown as MonitorSettings;
}

/**
 * Returns what the schedule of a monitor depends on. After a downgrade the record keeps its interval and its locations,
 * and the schedule has those that the plan allows.
 */
export function scheduleOf(monitor: Omit<NewMonitor, "secrets">, plan: Plan): Scheduled {
  const { locations, timeout_seconds, visual } = monitor.settings;
  const timeoutSeconds =
    visual === null ? timeout_seconds : timeout_seconds + Math.ceil(visual.wait_ms / 1_000) + COMPARE_SECONDS;
  return {
    id: monitor.id,
    accountId: monitor.accountId,
    locations: locations.slice(0, plan.locations),
    intervalSeconds: Math.max(monitor.intervalMinutes, plan.shortestIntervalMinutes) * 60,
    timeoutSeconds,
  };
}

/** Time to compare and store a picture after its check, in seconds: the check counts as running until then. */
const COMPARE_SECONDS = 60;

/** What a change of a monitor means for its checks. */
export interface DraftChange {
  /** Whether any field differs. */
  readonly isChanged: boolean;
  /** Whether something else is checked: what was known about the monitor does not apply any more. */
  readonly isNewStart: boolean;
  /** Whether it is checked at other times or places. */
  readonly isRescheduled: boolean;
  /** Whether its pings are expected at other times. */
  readonly isExpectedOtherwise: boolean;
}

/** Reports whether pictures of a monitor before and after a change are comparable; true for other check types. */
function haveOneBasis(before: MonitorDraft, after: MonitorDraft): boolean {
  if (before.visual === null || after.visual === null) return before.visual === after.visual;
  return basisOf(before.url, before.visual) === basisOf(after.url, after.visual);
}

/** Compares a monitor with its present fields. */
export function compareDrafts(before: MonitorDraft, after: MonitorDraft): DraftChange {
  const differs = (...fields: readonly (keyof MonitorDraft)[]) =>
    fields.some((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  return {
    isChanged: differs(...(Object.keys(after) as (keyof MonitorDraft)[])),
    isNewStart:
      differs("check_type", "port") ||
      (after.check_type !== "heartbeat" && differs("url")) ||
      !haveOneBasis(before, after),
    isRescheduled: after.check_type !== "heartbeat" && differs("interval_minutes", "timeout_seconds", "locations"),
    isExpectedOtherwise: differs("heartbeat"),
  };
}
