import { Type, type TSchema } from "typebox";
import { SOURCES } from "#shared/contracts/outcome.ts";
import { Nullable } from "#shared/tools/fields.ts";
import type { DocumentPart } from "#control-plane/accounts/document-part.ts";
import { IdField } from "#control-plane/http/params.ts";
import { PING_KINDS } from "#control-plane/watching/heartbeats/ping.ts";
import { SHOWN_TCP } from "#control-plane/outages/kinds/tcp.ts";
import { SHOWN_EXPIRY } from "#control-plane/monitors/routes/expiry-schemas.ts";
import { SHOWN_VISUAL } from "#control-plane/monitors/routes/visual-schema.ts";
import { OLD_RECORD, RECORD } from "#control-plane/monitors/settings/fields.ts";
import { NOTIFY_STATES } from "#control-plane/monitors/serialize.ts";

const Time = (description: string) => Type.String({ format: "date-time", description });
const Percent = (period: string) =>
  Nullable(Type.Number({ description: `Of the last ${period}, percent; null while no time is known` }));
const Milliseconds = (part: string) =>
  Nullable(Type.Number({ description: `${part} of the last 24 hours, milliseconds; null without a result` }));

const STATUS = Type.Enum(["up", "down", "unknown"], {
  description: "unknown: new, paused, or no recent result",
});

/** Why a check failed, in fixed words. */
export const FAULT = {
  stage: Type.Enum(["dns", "connect", "tls", "request", "response"], { description: "How far the check got" }),
  source: Type.Enum([...SOURCES], { description: "Party that failed" }),
  reason: Type.String({ description: "Cause as a fixed word" }),
};

/** When pings are expected, and what the newest ones say. */
const SHOWN_HEARTBEAT = Type.Object(
  {
    period_seconds: Type.Integer({ description: "Time from one ping to the next, seconds" }),
    grace_seconds: Type.Integer({ description: "How much later a ping can be, seconds" }),
    cron: Nullable(Type.String({ description: "Cron expression used in place of the period; null: none" })),
    timezone: Type.String({ description: "Time zone of cron" }),
    methods: Type.Enum(["any", "post"], { description: "Request methods that are counted" }),
    last_ping_at: Nullable(Time("Time of the newest ping of any kind")),
    last_kind: Nullable(Type.Enum([...PING_KINDS], { description: "Kind of the newest ping" })),
    last_duration_ms: Nullable(
      Type.Integer({ description: "Duration of the newest run that reported its start, milliseconds" }),
    ),
    run_started_at: Nullable(Time("Start of the oldest run that has not ended")),
    deadline_at: Nullable(Time("When it is late without a further ping; null: no ping is expected")),
  },
  { description: "heartbeat: when pings are expected, and the newest ones; null for other check types" },
);

const SHOWN_PING = Type.Object({
  received_at: Time("Time of arrival"),
  kind: Type.Enum([...PING_KINDS], { description: "What it reports; exit: the end of a run with an exit code" }),
  exit_code: Nullable(
    Type.Integer({ description: "Exit code of the run, -2147483648 to 4294967295; null for other kinds" }),
  ),
  rid: Nullable(Type.String({ description: "Id of the run, as given" })),
  method: Type.String({ description: "Request method" }),
  remote_addr: Type.String({ description: "Address of the client" }),
  user_agent: Nullable(Type.String({ description: "User-Agent of the client" })),
  duration_ms: Nullable(Type.Integer({ description: "Duration of the run that it ended, milliseconds" })),
  body: Nullable(Type.String({ description: "Body of the request; null: none, or it was not kept" })),
  body_truncated: Type.Boolean({ description: "Whether the body was longer, or was not kept" }),
});

/** Which monitors a composite follows, and how they are. */
const SHOWN_COMPOSITE = Nullable(
  Type.Object(
    {
      monitor_ids: Type.Array(IdField, { description: "Ids of the monitors that it follows" }),
      down_when: Type.Enum(["any", "all", "percent"], { description: "How many of them must be down until it is" }),
      percent: Nullable(Type.Integer({ description: "percent: the least share that must be down, percent" })),
      members: Type.Array(
        Type.Object({ id: IdField, name: Type.String({ description: "Name of the monitor" }), status: STATUS }),
        { description: "The monitors that it follows, by id, as they are now" },
      ),
    },
    { description: "composite: the monitors that it follows; null for other check types" },
  ),
);

/** A monitor in responses. */
export const MONITOR = Type.Object(
  {
    id: IdField,
    ...RECORD.properties,
    paused_reason: Nullable(
      Type.Enum(["plan"], { description: "plan: the service paused it because the plan allows fewer monitors" }),
    ),
    status: STATUS,
    notify_emails: Type.Array(
      Type.Object({
        email: Type.String({ description: "Address" }),
        confirmed: Type.Boolean({ description: "Whether its owner has confirmed it; mail is sent only then" }),
        unsubscribed_at: Nullable(
          Type.String({
            format: "date-time",
            description:
              "When its owner unsubscribed: no mail is sent until the owner asks for it again. null: the owner has not",
          }),
        ),
      }),
      { description: "Receivers of mail; the address of the account if none is set" },
    ),
    notify_state: Type.Enum([...NOTIFY_STATES], {
      description:
        "Whether anybody is mailed; the first that holds. off: notify_email is false; mail_not_configured: this service " +
        "cannot send mail; no_recipient: no address is confirmed; mail_failing: the last delivery to one of the addresses " +
        "failed, and nothing was delivered to it for a minute or more",
    }),
    ...SHOWN_EXPIRY,
    heartbeat: Nullable(SHOWN_HEARTBEAT),
    heartbeat_url: Nullable(
      Type.String({
        description:
          "Address to which the job sends its pings. It is a secret: no key is needed. null: no heartbeat, or " +
          "the key has only the scope monitors:read",
      }),
    ),
    tcp: SHOWN_TCP,
    visual: SHOWN_VISUAL,
    composite: SHOWN_COMPOSITE,
    degraded: Type.Boolean({ description: "Whether it is up but responds slower than degraded_ms" }),
    flapping: Type.Boolean({ description: "Whether its status changed more than 4 times within an hour" }),
    advisory: Nullable(
      Type.Object(
        {
          since: Time("Since when they fail"),
          locations: Type.Array(Type.String(), {
            description: "Locations that fail, or whose first try fails each time",
          }),
          message: Type.String({ description: "Explanation for people" }),
        },
        {
          description:
            "Locations that keep failing while the monitor is up, or where three planned checks in a row failed and passed " +
            "on the re-check; or, without a location, that the server speaks nothing newer than TLS 1.1. null: none of these",
        },
      ),
    ),
    last_checked_at: Nullable(Time("Beginning of the newest check")),
    next_check_at: Nullable(Time("Planned time of the next check; null while paused")),
    schedule_lag_ms: Nullable(
      Type.Integer({ description: "How much later than planned the newest check began, milliseconds" }),
    ),
    last_change_at: Nullable(Time("Time of the newest change of status")),
    last_error: Nullable(
      Type.Object(
        { ...FAULT, message: Type.String({ description: "Cause for people" }) },
        {
          description:
            "Fault of the newest failing check; of a visual or domain monitor also why nothing is known; null: none",
        },
      ),
    ),
    uptime: Type.Object(
      { d1: Percent("24 hours"), d7: Percent("7 days"), d30: Percent("30 days"), d90: Percent("90 days") },
      { description: "Share of the known time in which it was up, without maintenance" },
    ),
    response_ms: Type.Object(
      { p50: Milliseconds("Median"), p95: Milliseconds("95th percentile"), p99: Milliseconds("99th percentile") },
      { description: "Response times" },
    ),
    created_at: Time("Time of creation"),
    updated_at: Time("Time of the newest change of its settings"),
  },
  { $id: "Monitor", description: "A monitor" },
);

const CHECK = {
  id: Type.Integer({ description: "Number of the check" }),
  checked_at: Time("Beginning of the check"),
  status: Type.Enum(["up", "down", "unknown", "degraded"], { description: "Result of this check alone" }),
  response_time_ms: Nullable(Type.Integer({ description: "Time to the response, milliseconds" })),
  http_status_code: Nullable(Type.Integer({ description: "Status of the final response; null if it is not HTTP" })),
};

const { id: _number, ...CHECK_ALONE } = CHECK;
/** A check that has no number. */
export const CHECK_AT = { ...CHECK_ALONE, location: Type.String({ description: "Where it ran" }) };

/** A new monitor, or a heartbeat with a new address. */
export const CREATED = Type.Object({
  ...MONITOR.properties,
  cron_line: Type.Optional(
    Type.String({
      description:
        "heartbeat: a line for a crontab that runs a job, whose path is to be filled in, and sends its exit code. A comment " +
        "stands above it where the time zone is not UTC, and where no crontab has such a period: then the call alone follows",
    }),
  ),
});

/** A monitor with its newest checks. */
export const MONITOR_WITH_CHECKS = Type.Object({
  ...MONITOR.properties,
  heartbeat: Nullable(
    Type.Object({
      ...SHOWN_HEARTBEAT.properties,
      pings: Type.Array(SHOWN_PING, { description: "The 20 newest pings, newest first" }),
    }),
  ),
  checks: Type.Array(
    Type.Object({
      ...CHECK,
      location: CHECK_AT.location,
      error: Nullable(Type.Object(FAULT, { description: "Cause of a failure; null: none" })),
    }),
    { description: "The 20 newest checks, newest first" },
  ),
});

/** A monitor in responses before v4. */
export const OLD_MONITOR = Type.Object({ id: IdField, ...OLD_RECORD.properties, status: STATUS });
/** A monitor with its newest checks before v4. */
export const OLD_MONITOR_WITH_CHECKS = Type.Object({
  ...OLD_MONITOR.properties,
  checks: Type.Array(Type.Object(CHECK), { description: "The 20 newest checks, newest first" }),
});

const ROW_COUNTS = {
  created: Type.Integer({ description: "Number of rows that are new" }),
  updated: Type.Integer({ description: "Number of rows that changed what you had" }),
  unchanged: Type.Integer({ description: "Number of rows that you had as they are" }),
  ids: Type.Array(IdField, { description: "Ids of what the rows are, in their order; none for a dry run" }),
};

/** Returns the result of an import. The counts of the monitors come first. */
export function importedSchema(parts: readonly Pick<DocumentPart, "name">[]) {
  const others = parts.map(({ name }) => [
    name,
    Type.Optional(Type.Object(ROW_COUNTS, { description: `The same for ${name}; absent for version 1` })),
  ]);
  return Type.Object({
    ...ROW_COUNTS,
    ...(Object.fromEntries(others) as Record<string, TSchema>),
    secrets_missing: Type.Array(
      Type.Object({
        row: Type.Integer({ description: "Index in monitors" }),
        name: Type.String({ description: "Name of the monitor" }),
        secrets_missing: Type.Array(Type.String(), { description: "Secrets that it does not have" }),
      }),
      { description: "Monitors that are paused because they lack a secret" },
    ),
    changes: Type.Optional(
      Type.Array(
        Type.Object({
          row: Type.String({ description: "List and index of the row, such as monitors.3" }),
          action: Type.Enum(["created", "changed"], { description: "What would happen to what the row is" }),
          fields: Type.Array(Type.String(), {
            description: "Dotted names of the fields that would change; none of what would be created",
          }),
        }),
        { description: "dry_run: the rows that would write something" },
      ),
    ),
  });
}

/** Result of a request to check a monitor now. */
export const RUN = Type.Object({ id: IdField });
