import { Type } from "typebox";
import { MONITOR } from "#control-plane/monitors/routes/schemas.ts";
import type { MonitorView } from "#control-plane/monitors/serialize.ts";

/** The fields of a monitor that show whether it needs attention. */
export const SUMMARY = Type.Pick(MONITOR, [
  "id",
  "name",
  "url",
  "check_type",
  "tags",
  "is_active",
  "status",
  "degraded",
  "flapping",
  "advisory",
  "last_checked_at",
  "last_change_at",
  "last_error",
  "uptime",
  "response_ms",
]);

/** Returns these fields of a monitor. */
export function summarise(view: MonitorView): Readonly<Record<string, unknown>> {
  return pick(view, Object.keys(SUMMARY.properties));
}

/** Returns the named fields of a monitor. */
export function pick(view: MonitorView, names: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(names.map((name) => [name, view[name as keyof MonitorView]] as const));
}
