import type { ExactNumber } from "#shared/json/exact.ts";

/** A condition on the JSON of a response body; `path` is a JSONPath (RFC 9535). */
export interface JsonCondition {
  readonly path: string;
  readonly op: "exists" | "equals" | "not_equals" | "less" | "greater";
  /** Compared with the first node of the path; null for `exists`. */
  readonly value: string | ExactNumber | boolean | null;
}

/** The options that more than one kind can have, under their names in the API. Those of one kind are its object. */
export interface CommonSettings {
  readonly method: "GET" | "HEAD" | "POST";
  readonly follow: boolean;
  readonly timeout_seconds: number;
  readonly expected_code: number;
  /** Overrides expected_code: codes, ranges such as "200-299", and classes such as "2xx". */
  readonly expected_codes: readonly (number | string)[] | null;
  readonly keyword: string | null;
  readonly keyword_mode: "present" | "absent";
  readonly json: JsonCondition | null;
  readonly port: number | null;
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

/** What a monitor sends that can hold secrets. */
export interface MonitorSecrets {
  /** Values by name: request headers, or the field of the kind's own options that is in their place. */
  readonly request_headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** What a user writes about a monitor of any kind. */
export interface CommonDraft extends CommonSettings {
  readonly request_headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly name: string;
  readonly url: string;
  readonly interval_minutes: number;
  readonly is_active: boolean;
  readonly tags: readonly string[];
  readonly depends_on: number | null;
}
