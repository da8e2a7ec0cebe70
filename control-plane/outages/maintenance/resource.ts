import { Type } from "typebox";
import { readLabel } from "#control-plane/core/user-text.ts";
import { refuse } from "#shared/schema/problem.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { openTimeZone } from "#control-plane/core/time-zone.ts";
import { IdField } from "#control-plane/http/params.ts";
import { defineResource, type GivenOf, type ShownOf, stored } from "#control-plane/http/resource.ts";
import { STATUSES } from "#control-plane/outages/maintenance/window.ts";

const TIME = "Without Z or an offset it is a time in the time zone of the window";
const EXAMPLE = {
  title: "Database updates",
  tags: ["database"],
  starts_at: "2026-01-03T02:00:00",
  duration_seconds: 7_200,
  rrule: "FREQ=WEEKLY;BYDAY=SA",
  timezone: "Europe/Berlin",
};

const Time = (description: string) => Type.String({ format: "date-time", description });

/** A maintenance window. */
export const maintenanceWindow = defineResource({
  name: "maintenance",
  noun: "maintenance window",
  path: "/api/v4/maintenance",
  tag: "Maintenance",
  scope: "monitors",
  example: EXAMPLE,
  fields: {
    id: { shown: IdField },
    title: stored(
      Type.String({
        minLength: 1,
        maxLength: 200,
        examples: [EXAMPLE.title],
        description: "What is done; status pages show it if the window is public",
      }),
      {
        shown: "What is done",
        read: readLabel,
      },
    ),
    monitor_ids: {
      isHandled: true,
      given: Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
        maxItems: 1_000,
        description: "Ids of monitors that the window covers. A window needs at least one monitor or tag",
      }),
      shown: Type.Array(Type.Integer(), { description: "Monitors that the window covers" }),
    },
    tags: {
      isHandled: true,
      given: Type.Array(Type.String({ maxLength: 1_000 }), {
        maxItems: 20,
        examples: [EXAMPLE.tags],
        description: "The window covers the monitors with one of these tags too. 1 to 50 of a-z 0-9 : _ . / - each",
      }),
      shown: Type.Array(Type.String(), { description: "It covers the monitors with one of these tags too" }),
    },
    starts_at: {
      isHandled: true,
      isRequired: true,
      given: Type.String({
        minLength: 16,
        maxLength: 40,
        examples: [EXAMPLE.starts_at],
        description: `Start; with rrule the earliest start. ${TIME}`,
      }),
      shown: Time("Start; with rrule the earliest start"),
    },
    ends_at: {
      isHandled: true,
      given: Nullable(
        Type.String({
          minLength: 16,
          maxLength: 40,
          description: `End of a window without rrule. ${TIME}`,
        }),
      ),
      shown: Nullable(Time("End; null with rrule")),
    },
    rrule: {
      isHandled: true,
      given: Nullable(
        Type.String({
          minLength: 1,
          maxLength: 500,
          description:
            "Recurrence rule (RFC 5545), for example FREQ=WEEKLY;BYDAY=SA: daily, weekly, monthly or yearly, at most 24 " +
            "starts a day. null: once. A time that clocks skip is as much later; of a time that they show twice, the " +
            "first counts",
        }),
      ),
      shown: Nullable(Type.String({ description: "Recurrence rule (RFC 5545); null: once" })),
    },
    duration_seconds: {
      isHandled: true,
      given: Nullable(
        Type.Integer({
          minimum: 60,
          maximum: 2_592_000,
          description:
            "How long it is open each time: 60 seconds to 30 days. Required with rrule, else instead of ends_at",
        }),
      ),
      shown: Nullable(Type.Integer({ description: "How long it is open each time; null without rrule" })),
    },
    timezone: stored(
      Type.String({
        minLength: 1,
        maxLength: 64,
        examples: [EXAMPLE.timezone],
        description: "IANA time zone of the days and times of rrule. Default: UTC",
      }),
      {
        shown: "Time zone of the days and times of rrule",
        initial: "UTC",
        read: (field, given) =>
          openTimeZone(given) === null
            ? refuse(field, "enum", "must be the name of a time zone such as Europe/Berlin or UTC")
            : { ok: true, value: given },
      },
    ),
    public: {
      isHandled: true,
      given: Type.Boolean({ description: "Whether status pages show the window. Default: false" }),
      shown: Type.Boolean({ description: "Whether status pages show the window" }),
    },
    status: {
      isHandled: true,
      isOnlyChanged: true,
      given: Type.Enum(STATUSES, {
        description:
          "cancelled cancels the window and ends it if it is in progress; scheduled takes this back. Other values have " +
          "no effect",
      }),
      shown: Type.Enum(STATUSES, { description: "completed: it is not open again" }),
    },
    next_starts_at: { shown: Nullable(Time("The first start after now; null if there is none")) },
    current_ends_at: { shown: Nullable(Time("When it ends; null if it is not in progress")) },
    created_at: { shown: Time("Time of creation") },
    updated_at: { shown: Time("Time of the last change by a user") },
  },
});

/** Fields of a creation or an update, as parsed. */
export type Given = GivenOf<typeof maintenanceWindow>;
/** A window as answers show it. */
export type ShownWindow = ShownOf<typeof maintenanceWindow>;
