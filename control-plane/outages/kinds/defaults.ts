import {
  CHECK_TYPES,
  kindOf,
  OPTION_NAMES,
  type CheckType,
  type KindOptions,
} from "#control-plane/outages/kinds/kinds.ts";
import type { CommonDraft } from "#control-plane/outages/kinds/common.ts";
import { PROBE_FIELDS } from "#control-plane/outages/kinds/kind.ts";
import type { MonitorDraft, MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";

const NO_OPTIONS = Object.fromEntries(OPTION_NAMES.map((name) => [name, null])) as unknown as KindOptions;

/** The options without a value from the user. `locations` are chosen when the monitor is created. */
export const DEFAULT_SETTINGS: MonitorSettings = {
  method: "GET",
  follow: true,
  timeout_seconds: 15,
  expected_code: 200,
  expected_codes: null,
  keyword: null,
  keyword_mode: "present",
  json: null,
  // These two stand where the documentation has them.
  dns: null,
  port: null,
  heartbeat: null,
  ...(NO_OPTIONS as Omit<KindOptions, "dns" | "heartbeat">),
  locations: [],
  quorum: "majority",
  retries: 2,
  recovery: 1,
  degraded_ms: null,
  watch_domain: false,
  notify_email: false,
  notify_advisories: false,
  notify_emails: null,
  repeat_minutes: null,
};

const DEFAULT_INTERVAL_MINUTES = 5;

/** Returns a monitor of a check type as it is without any field from the user: without target and name. */
export function defaultDraft(checkType: CheckType, shortestIntervalMinutes: number): MonitorDraft {
  const interval = Math.max(DEFAULT_INTERVAL_MINUTES, shortestIntervalMinutes);
  const { defaults, options } = kindOf(checkType);
  return {
    ...DEFAULT_SETTINGS,
    ...defaults,
    ...(options === null ? {} : { [checkType]: options.defaults(interval) }),
    name: "",
    url: "",
    check_type: checkType,
    interval_minutes: interval,
    is_active: true,
    tags: [],
    depends_on: null,
    request_headers: {},
    body: null,
  };
}

/** Fields that only some check types have. */
const ONLY_FOR = listOnlyFor();

function listOnlyFor(): ReadonlyMap<string, readonly CheckType[]> {
  const found = new Map<string, CheckType[]>();
  for (const name of CHECK_TYPES) {
    const { fields, options, probe } = kindOf(name);
    const own = [...fields, ...(options === null ? [] : [name]), ...(probe === null ? [] : PROBE_FIELDS)];
    for (const field of own) found.set(field, [...(found.get(field) ?? []), name]);
  }
  // Those that cannot be without it come first.
  const isOptional = (name: CheckType, field: string) =>
    kindOf(name).required[field as keyof CommonDraft] === undefined;
  for (const [field, names] of found) {
    found.set(
      field,
      names.toSorted((one, other) => Number(isOptional(one, field)) - Number(isOptional(other, field))),
    );
  }
  return found;
}

/** The check types that have a field; null: all. */
export function checkTypesOf(field: keyof MonitorDraft): readonly CheckType[] | null {
  return ONLY_FOR.get(field) ?? null;
}
