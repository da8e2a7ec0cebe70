import { isRecord } from "#shared/text/is-record.ts";
import { SCOPES, type Scope } from "#shared/tools/define.ts";
import { BUILT_IN_PLANS, isPlanName, PLAN_NAMES, type Plan, type Plans } from "#control-plane/core/plans.ts";

/** The resulting plans, or one line that says what is wrong in the operator's override. */
type PlansResult = { readonly ok: true; readonly plans: Plans } | { readonly ok: false; readonly message: string };

/** One column of a plan: where its value goes and how it is parsed. */
interface Column {
  readonly field: keyof Plan;
  /** Description of the allowed values, for the error message. */
  readonly allowed: string;
  /** Parses the JSON value; null if it is not allowed. */
  parse(value: unknown): Plan[keyof Plan] | null;
}

// PostgreSQL counts in 32 bits; no plan needs more than a billion.
const MOST = 1_000_000_000;

const COLUMNS: Readonly<Record<string, Column>> = {
  requests_per_minute: count("requestsPerMinute", 1, MOST),
  requests_per_day: count("requestsPerDay", 1, MOST),
  scopes: { field: "scopes", allowed: `a list of ${SCOPES.join(", ")}`, parse: parseScopes },
  webhooks: count("webhooks", 0, MOST),
  // No plan is allowed to have more than 100.
  batch_urls: count("batchUrls", 0, 100),
  monitors: count("monitors", 0, MOST),
  shortest_interval_minutes: count("shortestIntervalMinutes", 1, 1_440),
  locations: count("locations", 1, 1_000),
  keys: count("keys", 0, MOST),
  audit_export: {
    field: "auditExport",
    allowed: "true or false",
    parse: (value) => (typeof value === "boolean" ? value : null),
  },
};

/**
 * Applies an operator's override (VANTAGE_PLANS) to the built-in plans: `{"<plan>": {"<column>": value, ...}, ...}`.
 * Columns that it does not name keep their built-in values.
 */
export function overridePlans(override: unknown): PlansResult {
  if (!isRecord(override)) return wrong("must be a JSON object of plans");
  const plans: Record<string, Plan> = { ...BUILT_IN_PLANS };
  for (const [name, row] of Object.entries(override)) {
    if (!isPlanName(name)) return wrong(`"${name}" is not a plan; allowed: ${PLAN_NAMES.join(", ")}`);
    if (!isRecord(row)) return wrong(`"${name}" must be an object of columns`);
    for (const [key, value] of Object.entries(row)) {
      const column = Object.hasOwn(COLUMNS, key) ? COLUMNS[key] : undefined;
      if (column === undefined)
        return wrong(`"${name}.${key}" is not a column; allowed: ${Object.keys(COLUMNS).join(", ")}`);
      const parsed = column.parse(value);
      if (parsed === null) return wrong(`"${name}.${key}" must be ${column.allowed}`);
      plans[name] = { ...(plans[name] ?? BUILT_IN_PLANS[name]), [column.field]: parsed };
    }
  }
  return { ok: true, plans: plans as Plans };
}

function count(field: keyof Plan, minimum: number, maximum: number): Column {
  return {
    field,
    allowed: `an integer between ${minimum} and ${maximum}`,
    parse: (value) =>
      typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum ? value : null,
  };
}

function parseScopes(value: unknown): readonly Scope[] | null {
  if (!Array.isArray(value)) return null;
  const scopes = SCOPES.filter((scope) => value.includes(scope));
  return scopes.length === new Set(value).size ? scopes : null;
}

function wrong(message: string): PlansResult {
  return { ok: false, message };
}
