import {
  PROBED_TYPES,
  type CheckType,
  type DnsCondition,
  type HeartbeatSettings,
  type MonitorDraft,
  type MonitorSettings,
  type VisualSettings,
} from "#control-plane/kinds/monitor.ts";

const DNS_DEFAULT: DnsCondition = { type: "A", op: "any", values: [], dnssec: "not_bogus" };

/** How pictures are taken and compared if a monitor says nothing about it. */
export const VISUAL_DEFAULT: VisualSettings = {
  viewport: { width: 1_280, height: 800 },
  full_page: false,
  wait_ms: 0,
  ignore: [],
  threshold_percent: 0.1,
};
/** A browser has to start and to load everything that belongs to a page. */
const VISUAL_TIMEOUT_SECONDS = 30;

/** When the pings of a heartbeat are expected that says nothing about it but its interval. */
export function defaultHeartbeat(intervalMinutes: number): HeartbeatSettings {
  return { period_seconds: intervalMinutes * 60, grace_seconds: 60, cron: null, timezone: "UTC", methods: "any" };
}

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
  dns: null,
  port: null,
  heartbeat: null,
  visual: null,
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
  return {
    ...DEFAULT_SETTINGS,
    heartbeat: checkType === "heartbeat" ? defaultHeartbeat(interval) : null,
    dns: checkType === "dns" ? DNS_DEFAULT : null,
    visual: checkType === "visual" ? VISUAL_DEFAULT : null,
    timeout_seconds: checkType === "visual" ? VISUAL_TIMEOUT_SECONDS : DEFAULT_SETTINGS.timeout_seconds,
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

const HTTP_TYPES = ["http", "keyword"] as const;

/** Fields that only some check types have. */
const ONLY_FOR: Partial<Record<keyof MonitorDraft, readonly CheckType[]>> = {
  method: HTTP_TYPES,
  request_headers: HTTP_TYPES,
  body: HTTP_TYPES,
  expected_code: HTTP_TYPES,
  expected_codes: HTTP_TYPES,
  follow: HTTP_TYPES,
  json: HTTP_TYPES,
  watch_domain: HTTP_TYPES,
  keyword: ["keyword"],
  keyword_mode: ["keyword"],
  dns: ["dns"],
  port: ["port", "ssl"],
  heartbeat: ["heartbeat"],
  visual: ["visual"],
  timeout_seconds: PROBED_TYPES,
  locations: PROBED_TYPES,
  quorum: PROBED_TYPES,
  retries: PROBED_TYPES,
  recovery: PROBED_TYPES,
  degraded_ms: PROBED_TYPES,
};

/** The check types that have a field; null: all. */
export function checkTypesOf(field: keyof MonitorDraft): readonly CheckType[] | null {
  return ONLY_FOR[field] ?? null;
}
