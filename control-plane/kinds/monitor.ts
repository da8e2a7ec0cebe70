/** What probes check for a monitor; `url` holds the target of each. */
export const PROBED_TYPES = ["http", "keyword", "ssl", "domain", "dns", "ping", "port", "visual"] as const;
/** One of these check types. */
export type ProbedType = (typeof PROBED_TYPES)[number];

/** Everything that a monitor can watch. A heartbeat is not checked: it waits for pings. */
export const CHECK_TYPES = [...PROBED_TYPES, "heartbeat"] as const;
/** One of these check types. */
export type CheckType = (typeof CHECK_TYPES)[number];

/** A condition on the JSON of a response body; `path` is a JSONPath (RFC 9535). */
export interface JsonCondition {
  readonly path: string;
  readonly op: "exists" | "equals" | "not_equals" | "less" | "greater";
  /** Compared with the first node of the path; null for `exists`. */
  readonly value: string | number | boolean | null;
}

/** A condition on the answer of a DNS look-up. */
export interface DnsCondition {
  readonly type: string;
  readonly op: "any" | "equals" | "contains" | "not_contains";
  readonly values: readonly string[];
  readonly dnssec: "ignore" | "not_bogus" | "secure";
}

/** When a heartbeat expects its pings. */
export interface HeartbeatSettings {
  /** Time from one ping to the next. Without effect if `cron` is set. */
  readonly period_seconds: number;
  /** How much later than expected a ping can be. Also the longest duration of a run that reported its start. */
  readonly grace_seconds: number;
  /** Cron expression with five fields; null: every period_seconds. */
  readonly cron: string | null;
  /** IANA name of the time zone of `cron`. */
  readonly timezone: string;
  /** post: requests with other methods are not counted. */
  readonly methods: "any" | "post";
}

/** A rectangle of a picture in which differences do not count; in pixels from the upper left corner. */
export interface IgnoredRegion {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** What a visual monitor takes pictures of, and how they are compared. */
export interface VisualSettings {
  readonly viewport: { readonly width: number; readonly height: number };
  readonly full_page: boolean;
  /** Wait after the page has loaded. */
  readonly wait_ms: number;
  readonly ignore: readonly IgnoredRegion[];
  /** A page has changed if more of its pixels differ. */
  readonly threshold_percent: number;
}

/** The options of a monitor without secrets, under their names in the API; every option has a value. */
export interface MonitorSettings {
  readonly method: "GET" | "HEAD" | "POST";
  readonly follow: boolean;
  readonly timeout_seconds: number;
  readonly expected_code: number;
  /** Overrides expected_code: codes, and ranges such as "200-299". */
  readonly expected_codes: readonly (number | string)[] | null;
  readonly keyword: string | null;
  readonly keyword_mode: "present" | "absent";
  readonly json: JsonCondition | null;
  readonly dns: DnsCondition | null;
  readonly port: number | null;
  /** null for other check types than heartbeat. */
  readonly heartbeat: HeartbeatSettings | null;
  /** null for other check types than visual. */
  readonly visual: VisualSettings | null;
  /** Items of a location expression, each for one probe. */
  readonly locations: readonly string[];
  /** How many fresh locations must fail; majority: more than half. */
  readonly quorum: "majority" | number;
  /** Further checks that must fail before a monitor with one location is down. */
  readonly retries: number;
  /** How many times a location must succeed before it counts as up again. */
  readonly recovery: number;
  readonly degraded_ms: number | null;
  readonly watch_domain: boolean;
  readonly notify_email: boolean;
  /** Whether advisories are mailed too. */
  readonly notify_advisories: boolean;
  /** null: the account's address. */
  readonly notify_emails: readonly string[] | null;
  readonly repeat_minutes: number | null;
}

/** Request headers and body, which can hold secrets. */
export interface MonitorSecrets {
  readonly request_headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** A monitor as its user wrote it. */
export interface Monitor {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  /** As submitted; empty for a heartbeat without one. */
  readonly url: string;
  readonly checkType: CheckType;
  readonly intervalMinutes: number;
  readonly isActive: boolean;
  /** plan: paused by the service after a downgrade; null otherwise. */
  readonly pausedReason: "plan" | null;
  readonly tags: readonly string[];
  /** Id of the monitor whose outage holds this one's notices back. */
  readonly dependsOn: number | null;
  readonly settings: MonitorSettings;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Everything that a user writes about a monitor, under its names in the API; every field has a value. */
export interface MonitorDraft extends MonitorSettings, MonitorSecrets {
  readonly name: string;
  readonly url: string;
  readonly check_type: CheckType;
  readonly interval_minutes: number;
  readonly is_active: boolean;
  readonly tags: readonly string[];
  readonly depends_on: number | null;
}
