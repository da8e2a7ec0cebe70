import type { TObject } from "typebox";
import { isRecord } from "#shared/is-record.ts";
import { parseParams } from "#shared/schema.ts";
import { CHANGE, CREATE, OLD_CHANGE, OLD_CREATE, type Given } from "#control-plane/monitors/settings/fields.ts";
import { refuse, type Read } from "#control-plane/monitors/settings/read.ts";

/** Check types of later releases. */
const LATER: ReadonlySet<unknown> = new Set(["visual"]);

/** Fields of responses that a write can send back; they are dropped. */
const READ_ONLY = [
  "id",
  "status",
  "degraded",
  "flapping",
  "advisory",
  "last_checked_at",
  "next_check_at",
  "schedule_lag_ms",
  "last_change_at",
  "last_error",
  "uptime",
  "response_ms",
  "notify_state",
  "paused_reason",
  "ssl_days",
  "certificate",
  "domain",
  "heartbeat_url",
  "cron_line",
  "visual",
  "checks",
  "created_at",
  "updated_at",
];

/** The same within `heartbeat`. */
const READ_ONLY_HEARTBEAT: ReadonlySet<string> = new Set([
  "last_ping_at",
  "last_kind",
  "last_duration_ms",
  "run_started_at",
  "deadline_at",
  "pings",
]);

/** Which fields a write has: those of v4, or the fewer ones of older versions. */
type FieldSet = "current" | "old";

/** Parses the fields of a creation. */
export function parseCreation(raw: Readonly<Record<string, unknown>>, fields: FieldSet): Read<Given> {
  return parse(fields === "current" ? CREATE : OLD_CREATE, raw);
}

/** Parses the fields of an update. */
export function parseChange(raw: Readonly<Record<string, unknown>>, fields: FieldSet): Read<Given> {
  return parse(fields === "current" ? CHANGE : OLD_CHANGE, raw);
}

function parse(schema: TObject, raw: Readonly<Record<string, unknown>>): Read<Given> {
  if (LATER.has(raw["check_type"])) {
    const message = `${String(raw["check_type"])} is not available yet; use http, keyword, ssl, domain, dns, ping, port or heartbeat`;
    return refuse("check_type", "enum", message);
  }
  return parseParams(schema, withoutReadOnly(raw), { from: "json", unknown: "refuse", readOnly: READ_ONLY });
}

function withoutReadOnly(raw: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { heartbeat } = raw;
  if (!isRecord(heartbeat)) return raw;
  const writable = Object.entries(heartbeat).filter(([name]) => !READ_ONLY_HEARTBEAT.has(name));
  return { ...raw, heartbeat: Object.fromEntries(writable) };
}
