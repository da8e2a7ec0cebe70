import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { OPTIONS, PROBED, type Kind } from "#control-plane/outages/kinds/kind.ts";
import { asked } from "#control-plane/outages/kinds/form-field.ts";

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

/** 366 days, in seconds. */
const LONGEST_SECONDS = 31_622_400;

/** When the pings are expected; omitted parts keep their values. */
const SCHEMA = Nullable(
  Type.Object(
    {
      cron: Type.Optional(
        Nullable(
          Type.String({
            minLength: 1,
            maxLength: 200,
            examples: ["30 2 * * *"],
            description:
              "Cron expression with five fields by which pings are expected, in place of the period, as the cron of " +
              "Debian reads it; or @hourly, @daily, @weekly, @monthly, @yearly. Where day of month or day of week begins " +
              "with *, both must match; else either. Default: null",
            ...asked("Schedule", "what", {
              hint: "As in a crontab, such as 30 2 * * *. Empty: by the period below",
            }),
          }),
        ),
      ),
      timezone: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 64,
          examples: ["Europe/Berlin"],
          description: "IANA time zone of cron. Default: UTC",
          ...asked("Time zone of the schedule", "what", {
            hint: "Such as Europe/Berlin. Empty: UTC",
            input: "zone",
            empty: "UTC",
          }),
        }),
      ),
      period_seconds: Type.Optional(
        Type.Integer({
          minimum: 30,
          maximum: LONGEST_SECONDS,
          examples: [3_600],
          description: "Time from one ping to the next, in seconds. Default: interval_minutes x 60",
          ...asked("Period (seconds)", "what", {
            hint: "Time from one run to the next, without a schedule. Empty: 300",
            empty: 300,
          }),
        }),
      ),
      grace_seconds: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: LONGEST_SECONDS,
          examples: [300],
          description:
            "How much later than expected a ping can be, in seconds. Also the longest duration of a run that reports " +
            "its start. Default: 60",
          ...asked("Grace (seconds)", "what", { hint: "How late a run may be. Empty: 60", empty: 60 }),
        }),
      ),
      methods: Type.Optional(
        Type.Enum(["any", "post"], {
          description: "post: requests with other methods than POST are not counted. Default: any",
          ...asked("Requests that count", "more"),
        }),
      ),
    },
    {
      additionalProperties: false,
      examples: [{ cron: "30 2 * * *", timezone: "Europe/Berlin", grace_seconds: 300 }],
      description: "heartbeat: when pings are expected",
    },
  ),
);

/** When the pings of a heartbeat are expected that says nothing about it but its interval. */
export function defaultHeartbeat(intervalMinutes: number): HeartbeatSettings {
  return { period_seconds: intervalMinutes * 60, grace_seconds: 60, cron: null, timezone: "UTC", methods: "any" };
}

/** Pings that a job sends. It is not checked: it waits for them. */
export const heartbeat = {
  ...PROBED,
  label: "Heartbeat",
  watches: "pings that your job sends",
  target: null,
  options: {
    ...OPTIONS,
    schema: SCHEMA,
    readOnly: ["last_ping_at", "last_kind", "last_duration_ms", "run_started_at", "deadline_at", "pings"],
    defaults: defaultHeartbeat,
    read: (given, present, defaults) => ({
      ok: true,
      value: given === null ? defaults : { ...defaults, ...present, ...(given as Partial<HeartbeatSettings>) },
    }),
    // A new interval is a new period, unless the same request sets the period.
    follow: (options, intervalMinutes, given) =>
      (given as Partial<HeartbeatSettings> | null)?.period_seconds === undefined
        ? { ...options, period_seconds: intervalMinutes * 60 }
        : options,
  },
  probe: null,
  locations: "none",
  evidence: { ...PROBED.evidence, gathers: "pings" },
  words: {
    nameless: "heartbeat",
    unchecked: "which waits for pings",
    opened: "First missed or failed ping",
    recovered: "First good ping",
    unexplained: "a ping was missed or reported a failure",
    causes: {},
  },
} as const satisfies Kind<HeartbeatSettings>;
