import type { MonitorDraft, MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import type { MonitorSecrets } from "#control-plane/outages/kinds/common.ts";
import type { Scheduled } from "#control-plane/watching/checking/schedule/schedule.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { kindOf, optionsOf } from "#control-plane/outages/kinds/kinds.ts";
import { withSecrets } from "#control-plane/outages/kinds/secrets.ts";
import type { NewMonitor, StoredMonitor } from "#control-plane/monitors/store.ts";
import type { Plan } from "#control-plane/core/plans.ts";

/** Returns a stored monitor as its user wrote it. */
export function draftOf(monitor: StoredMonitor, secrets: MonitorSecrets): MonitorDraft {
  const { request_headers: values, body } = secrets;
  const settings = { ...monitor.settings, request_headers: {}, body };
  return {
    ...withSecrets(settings, monitor.checkType, values),
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

/** Returns the settings of a monitor without its secrets, which are kept apart. */
export function settingsOf(draft: MonitorDraft): MonitorSettings {
  const open = withSecrets(draft, draft.check_type, {});
  const names = Object.keys(DEFAULT_SETTINGS) as readonly (keyof MonitorSettings)[];
  return Object.fromEntries(names.map((name) => [name, open[name]] as const)) as unknown as MonitorSettings;
}

/**
 * Returns what the schedule of a monitor depends on. After a downgrade the record keeps its interval and its locations,
 * and the schedule has those that the plan allows.
 */
export function scheduleOf(monitor: Omit<NewMonitor, "secrets">, plan: Plan): Scheduled {
  const { locations, timeout_seconds } = monitor.settings;
  const extra = kindOf(monitor.checkType).probe?.extraSeconds(optionsOf(monitor.checkType, monitor.settings)) ?? 0;
  return {
    id: monitor.id,
    accountId: monitor.accountId,
    locations: locations.slice(0, plan.locations),
    intervalSeconds: Math.max(monitor.intervalMinutes, plan.shortestIntervalMinutes) * 60,
    timeoutSeconds: timeout_seconds + extra,
  };
}

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

/** Reports whether the options that the kind alone has change so that what was known does not apply any more. */
function haveNewStart(before: MonitorDraft, after: MonitorDraft): boolean {
  const [one, other] = [optionsOf(before.check_type, before), optionsOf(after.check_type, after)];
  return one !== null && other !== null && kindOf(after.check_type).options?.isNewStart(one, other) === true;
}

/** Compares a monitor with its present fields. */
export function compareDrafts(before: MonitorDraft, after: MonitorDraft): DraftChange {
  const kind = kindOf(after.check_type);
  const differs = (...fields: readonly (keyof MonitorDraft)[]) =>
    fields.some((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  return {
    isChanged: differs(...(Object.keys(after) as (keyof MonitorDraft)[])),
    isNewStart:
      differs("check_type", "port") || (kind.target !== null && differs("url")) || haveNewStart(before, after),
    isRescheduled: kind.probe !== null && differs("interval_minutes", "timeout_seconds", "locations"),
    isExpectedOtherwise: differs("heartbeat"),
  };
}
