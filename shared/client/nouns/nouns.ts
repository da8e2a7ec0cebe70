/** A filter of a list: a parameter of the query. */
interface Filter {
  readonly name: string;
  readonly meaning: string;
  /** The values that it takes; null: any text. */
  readonly choices: readonly string[] | null;
}

/** A resource of the API as commands show it. */
export interface Noun {
  /** Name of the command. */
  readonly name: string;
  /** One of them, in running text. */
  readonly one: string;
  readonly path: string;
  /** Name of the id in queries and answers. */
  readonly id: string;
  /** Columns of the list; null: the API has no list. */
  readonly columns: readonly string[] | null;
  readonly filters: readonly Filter[];
  /** Whether the API creates and changes it. */
  readonly create: boolean;
  readonly edit: boolean;
  /** Present: the API tries one without creating it. */
  readonly tries?: true;
  /** Whether the API changes many of them in the same way with one request. */
  readonly many: boolean;
  /** Name of the command behind DELETE; null: the API has none. */
  readonly remove: "delete" | "cancel" | null;
}

const ofMonitor: Filter = { name: "monitor_id", meaning: "only those of this monitor", choices: null };
const withStatus = (...choices: readonly string[]): Filter => ({
  name: "status",
  meaning: "only those with this status",
  choices,
});

const written = { id: "id", create: true, edit: true, many: false, remove: "delete", filters: [] } as const;

/** Every resource with commands; a test compares them with the API document. */
export const NOUNS: readonly Noun[] = [
  {
    ...written,
    name: "monitors",
    one: "monitor",
    path: "/api/v4/monitors",
    columns: ["id", "name", "status", "check_type", "url", "interval_minutes", "last_checked_at"],
    filters: [withStatus("up", "down", "unknown"), { name: "tag", meaning: "only those with this tag", choices: null }],
    tries: true,
    many: true,
  },
  {
    ...written,
    name: "incidents",
    one: "incident",
    path: "/api/v4/incidents",
    columns: ["id", "status", "impact", "title", "started_at", "duration_seconds"],
    filters: [ofMonitor, withStatus("open", "investigating", "identified", "monitoring", "resolved")],
    remove: null,
  },
  {
    ...written,
    name: "maintenance",
    one: "maintenance window",
    path: "/api/v4/maintenance",
    columns: ["id", "status", "title", "starts_at", "ends_at", "rrule", "next_starts_at"],
    filters: [ofMonitor, withStatus("scheduled", "in_progress", "completed", "cancelled")],
  },
  {
    ...written,
    name: "status",
    one: "status page",
    path: "/api/v4/status",
    columns: ["id", "slug", "title", "is_public", "updated_at"],
  },
  {
    ...written,
    name: "webhooks",
    one: "webhook",
    path: "/api/v4/webhooks",
    columns: ["id", "name", "is_active", "format", "url"],
  },
  {
    ...written,
    name: "events",
    one: "delivery",
    path: "/api/v4/events",
    columns: ["id", "created_at", "event_type", "webhook_id", "status", "attempts", "http_status_code"],
    filters: [
      { name: "webhook_id", meaning: "only those to this webhook", choices: null },
      { name: "event_type", meaning: "only those of this type of event", choices: null },
      withStatus("pending", "retrying", "delivered", "failed", "dead"),
    ],
    create: false,
    edit: false,
    remove: null,
  },
  {
    ...written,
    name: "measurements",
    one: "measurement",
    path: "/api/v4/measurements",
    columns: ["id", "status", "tool", "total", "completed", "created_at"],
    edit: false,
    remove: "cancel",
  },
  {
    ...written,
    name: "batch",
    one: "batch",
    path: "/api/v4/batch",
    id: "job_id",
    columns: null,
    // It has a command of its own.
    create: false,
    edit: false,
    remove: "cancel",
  },
];
