import { Type, type TObject, type TSchema } from "typebox";
import { parseParams } from "#shared/schema/schema.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { CHANGE, CREATE, OLD_CHANGE, OLD_CREATE, type Given } from "#control-plane/monitors/settings/fields.ts";
import { MOST_HEADERS } from "#control-plane/monitors/settings/headers.ts";
import type { GivenComposite } from "#control-plane/outages/kinds/composite.ts";
import { kindOf, OPTION_NAMES } from "#control-plane/outages/kinds/kinds.ts";
import type { Read } from "#shared/schema/problem.ts";

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
  "certificate_error",
  "domain",
  "domain_error",
  "heartbeat_url",
  "cron_line",
  "checks",
  "created_at",
  "updated_at",
];

/** Maximum length of the name of a monitor. */
const LONGEST_NAME = 200;

/** Which fields a write has: those of v4, or the fewer ones of older versions. */
type FieldSet = "current" | "old";

/** Parses the fields of a creation. */
export function parseCreation(raw: Readonly<Record<string, unknown>>, fields: FieldSet): Read<Given> {
  return parse(fields === "current" ? CREATE : OLD_CREATE, raw);
}

/** The options in a row of a document that name monitors, which have no id there. */
export const ROW_OPTIONS: Readonly<Record<string, TSchema>> = Object.fromEntries(OPTION_NAMES.flatMap(rowSchemaOf));

/** Names of the secrets that a row of a document leaves out. */
export const SECRETS_MISSING = Type.Array(Type.String({ maxLength: 120 }), {
  maxItems: MOST_HEADERS + 1,
  examples: [["request_headers.Authorization", "body"]],
  description:
    "Secrets that are not in the row: request_headers.<name> and body. An import takes them from your monitor with " +
    "this name; without one the monitor is created paused",
});

/** The fields of a row of a document, in which monitors are named and have no id. */
const ROW = Type.Object({
  ...CREATE.properties,
  ...ROW_OPTIONS,
  depends_on: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: LONGEST_NAME }))),
  secrets_missing: Type.Optional(SECRETS_MISSING),
});

function rowSchemaOf(name: (typeof OPTION_NAMES)[number]): readonly (readonly [string, TSchema])[] {
  const { references = null } = kindOf(name).options ?? {};
  return references === null ? [] : [[name, Type.Optional(references.rowSchema)]];
}

/** The fields of a row, as parsed. */
export type GivenRow = Omit<Given, "depends_on" | "composite"> & {
  readonly composite?: GivenComposite;
  readonly depends_on?: string | null;
  readonly secrets_missing?: readonly string[];
};

/** Parses the fields of a row of a document. */
export function parseRow(raw: Readonly<Record<string, unknown>>): Read<GivenRow> {
  return parse(ROW, raw) as Read<GivenRow>;
}

/** Parses the fields of an update. */
export function parseChange(raw: Readonly<Record<string, unknown>>, fields: FieldSet): Read<Given> {
  return parse(fields === "current" ? CHANGE : OLD_CHANGE, raw);
}

function parse(schema: TObject, raw: Readonly<Record<string, unknown>>): Read<Given> {
  return parseParams(schema, raw, {
    from: "json",
    unknown: "refuse",
    readOnly: READ_ONLY,
    readOnlyInside: READ_ONLY_INSIDE,
  });
}

/** The same within the objects of kinds. */
const READ_ONLY_INSIDE: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  OPTION_NAMES.map((name) => [name, new Set(kindOf(name).options?.readOnly)]),
);
