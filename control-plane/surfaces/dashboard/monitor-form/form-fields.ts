import { isRecord } from "#shared/text/is-record.ts";
import { kindOf, type CheckType } from "#control-plane/outages/kinds/kinds.ts";
import { PROBE_FIELDS } from "#control-plane/outages/kinds/kind.ts";
import { RECORD } from "#control-plane/monitors/settings/fields.ts";

/** How a value is typed. zone: the name of a time zone; lines: one item a line; words: items with spaces or commas; ids, codes: numbers so; pairs: "Name: value" a line. */
type Input =
  | "text"
  | "zone"
  | "number"
  | "textarea"
  | "checkbox"
  | "select"
  | "lines"
  | "words"
  | "ids"
  | "codes"
  | "pairs"
  | "json-value"
  | "ignored";

/** Parts of the form, in their order; those after the first two are folded. */
export const GROUPS = ["what", "who", "when", "expect", "request", "more"] as const;
/** A part of the form. */
export type Group = (typeof GROUPS)[number];

/** A field of the form of a monitor. */
export interface FormField {
  /** Its path in the API, such as `tcp.send`. */
  readonly name: string;
  readonly input: Input;
  readonly group: Group;
  /** What an empty field means for a monitor that exists: null sets the default. Absent: an empty value is sent. */
  readonly empty?: string | number | null;
}

/** The fields of every kind, in the order of the form. */
const COMMON: readonly FormField[] = [
  { name: "url", input: "text", group: "what" },
  { name: "name", input: "text", group: "what" },
  { name: "tags", input: "words", group: "what" },
  { name: "notify_email", input: "checkbox", group: "who" },
  { name: "notify_emails", input: "lines", group: "who", empty: null },
  { name: "notify_advisories", input: "checkbox", group: "more" },
  { name: "repeat_minutes", input: "number", group: "more", empty: null },
  { name: "depends_on", input: "number", group: "more", empty: null },
];

/** The fields that some kinds have, by their names. */
const SHARED: readonly FormField[] = [
  { name: "port", input: "number", group: "what", empty: null },
  { name: "keyword", input: "text", group: "what", empty: null },
  { name: "keyword_mode", input: "select", group: "what" },
  { name: "interval_minutes", input: "number", group: "when" },
  { name: "locations", input: "lines", group: "when" },
  { name: "quorum", input: "text", group: "when" },
  { name: "retries", input: "number", group: "when" },
  { name: "recovery", input: "number", group: "when" },
  { name: "timeout_seconds", input: "number", group: "when" },
  { name: "expected_codes", input: "codes", group: "expect", empty: null },
  { name: "degraded_ms", input: "number", group: "expect", empty: null },
  { name: "json.path", input: "text", group: "expect" },
  { name: "json.op", input: "select", group: "expect" },
  { name: "json.value", input: "json-value", group: "expect" },
  { name: "method", input: "select", group: "request" },
  { name: "request_headers", input: "pairs", group: "request" },
  { name: "body", input: "textarea", group: "request", empty: null },
  { name: "follow", input: "checkbox", group: "request" },
  { name: "watch_domain", input: "checkbox", group: "more" },
];

/** The options that kinds alone have. */
const OPTIONS: Readonly<Record<string, readonly FormField[]>> = {
  dns: [
    { name: "dns.type", input: "select", group: "what" },
    { name: "dns.op", input: "select", group: "expect" },
    { name: "dns.values", input: "lines", group: "expect" },
    { name: "dns.dnssec", input: "select", group: "expect" },
  ],
  tcp: [
    { name: "tcp.preset", input: "select", group: "what", empty: null },
    { name: "tcp.tls", input: "select", group: "what" },
    { name: "tcp.send", input: "textarea", group: "request", empty: null },
    { name: "tcp.send_hex", input: "textarea", group: "request", empty: null },
    { name: "tcp.expect", input: "text", group: "expect", empty: null },
  ],
  grpc: [
    { name: "grpc.service", input: "text", group: "what", empty: null },
    { name: "grpc.tls", input: "checkbox", group: "what" },
    { name: "grpc.metadata", input: "pairs", group: "request" },
  ],
  websocket: [
    { name: "websocket.subprotocol", input: "text", group: "what", empty: null },
    { name: "websocket.send", input: "textarea", group: "request", empty: null },
    { name: "websocket.expect", input: "text", group: "expect", empty: null },
  ],
  visual: [
    { name: "visual.viewport.width", input: "number", group: "more" },
    { name: "visual.viewport.height", input: "number", group: "more" },
    { name: "visual.full_page", input: "checkbox", group: "more" },
    { name: "visual.wait_ms", input: "number", group: "more" },
    { name: "visual.threshold_percent", input: "number", group: "expect" },
    { name: "visual.ignore", input: "ignored", group: "more" },
  ],
  heartbeat: [
    { name: "heartbeat.cron", input: "text", group: "what", empty: null },
    { name: "heartbeat.timezone", input: "zone", group: "what", empty: "UTC" },
    { name: "heartbeat.period_seconds", input: "number", group: "what", empty: 300 },
    { name: "heartbeat.grace_seconds", input: "number", group: "what", empty: 60 },
    { name: "heartbeat.methods", input: "select", group: "more" },
  ],
  composite: [
    { name: "composite.monitor_ids", input: "ids", group: "what" },
    { name: "composite.down_when", input: "select", group: "what" },
    { name: "composite.percent", input: "number", group: "what", empty: null },
  ],
};

/** Returns the fields of the form of a kind, in their order, by what the kind has. */
export function fieldsOf(checkType: CheckType): readonly FormField[] {
  const kind = kindOf(checkType);
  const own: ReadonlySet<string> = new Set([
    ...kind.fields,
    ...(kind.probe === null ? [] : ["interval_minutes", ...PROBE_FIELDS]),
  ]);
  const shared = SHARED.filter(({ name }) => own.has(name.split(".", 1)[0] ?? ""));
  const [url, ...common] = COMMON;
  const all = [...(url === undefined ? [] : [url]), ...(OPTIONS[checkType] ?? []), ...common, ...shared];
  return all.filter(
    ({ name }) => !(name === "locations" && kind.locations === "none") && !(name === "url" && kind.target === null),
  );
}

/** Returns the values of a field of the API that has few, by its schema; "" first if it can be null. */
export function valuesOf(path: string): readonly string[] {
  let schema: unknown = RECORD;
  let isNullable = false;
  for (const name of path.split(".")) {
    schema = alternativesOf(schema).find((one) => isRecord(one["properties"]) && one["properties"][name] !== undefined);
    schema = isRecord(schema) && isRecord(schema["properties"]) ? schema["properties"][name] : null;
  }
  for (const one of alternativesOf(schema)) if (one["type"] === "null") isNullable = true;
  const values = alternativesOf(schema).flatMap((one) => (Array.isArray(one["enum"]) ? one["enum"] : []));
  const texts = values.filter((value): value is string => typeof value === "string");
  return isNullable ? ["", ...texts] : texts;
}

/** Returns a schema, or the schemas that it allows one of. */
function alternativesOf(schema: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!isRecord(schema)) return [];
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? anyOf.flatMap(alternativesOf) : [schema];
}
