import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";

/** 366 days, in seconds. */
const LONGEST_SECONDS = 31_622_400;

/** When the pings of a heartbeat are expected; omitted parts keep their values. */
export const HEARTBEAT = Nullable(
  Type.Object(
    {
      period_seconds: Type.Optional(
        Type.Integer({
          minimum: 30,
          maximum: LONGEST_SECONDS,
          examples: [3_600],
          description: "Time from one ping to the next, in seconds. Default: interval_minutes x 60",
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
        }),
      ),
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
          }),
        ),
      ),
      timezone: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 64,
          examples: ["Europe/Berlin"],
          description: "IANA time zone of cron. Default: UTC",
        }),
      ),
      methods: Type.Optional(
        Type.Enum(["any", "post"], {
          description: "post: requests with other methods than POST are not counted. Default: any",
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
