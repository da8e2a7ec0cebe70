import { Type, type Static } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { IdField, PageFields } from "#control-plane/http/params.ts";
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

const FIELDS = {
  title: Type.String({
    minLength: 1,
    maxLength: 200,
    examples: [EXAMPLE.title],
    description: "What is done; status pages show it if the window is public",
  }),
  monitor_ids: Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
    maxItems: 1_000,
    description: "Ids of monitors that the window covers. A window needs at least one monitor or tag",
  }),
  tags: Type.Array(Type.String({ maxLength: 1_000 }), {
    maxItems: 20,
    examples: [EXAMPLE.tags],
    description: "The window covers the monitors with one of these tags too. 1 to 50 of a-z 0-9 : _ . / - each",
  }),
  starts_at: Type.String({
    minLength: 16,
    maxLength: 40,
    examples: [EXAMPLE.starts_at],
    description: `Start; with rrule the earliest start. ${TIME}`,
  }),
  ends_at: Nullable(
    Type.String({
      minLength: 16,
      maxLength: 40,
      description: `End of a window without rrule. ${TIME}`,
    }),
  ),
  duration_seconds: Nullable(
    Type.Integer({
      minimum: 60,
      maximum: 2_592_000,
      description: "How long it is open each time: 60 seconds to 30 days. Required with rrule, else instead of ends_at",
    }),
  ),
  rrule: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description:
        "Recurrence rule (RFC 5545), for example FREQ=WEEKLY;BYDAY=SA: daily, weekly, monthly or yearly, at most 24 " +
        "starts a day. null: once. A time that clocks skip is as much later; of a time that they show twice, the " +
        "first counts",
    }),
  ),
  timezone: Type.String({
    minLength: 1,
    maxLength: 64,
    examples: [EXAMPLE.timezone],
    description: "IANA time zone of the days and times of rrule. Default: UTC",
  }),
  public: Type.Boolean({ description: "Whether status pages show the window. Default: false" }),
};

const { title, starts_at, ...OPTIONAL } = FIELDS;

/** Body of a creation. */
export const CREATE = Type.Object(
  { title, starts_at, ...Type.Partial(Type.Object(OPTIONAL)).properties },
  { examples: [EXAMPLE] },
);

/** Body of an update: the fields to change. */
export const CHANGE = Type.Partial(
  Type.Object({
    ...FIELDS,
    status: Type.Enum(STATUSES, {
      description:
        "cancelled cancels the window and ends it if it is in progress; scheduled takes this back. Other values have " +
        "no effect",
    }),
  }),
);

/** Fields of a creation or an update, as parsed. */
export type Given = Static<typeof CHANGE>;

/** Fields of answers that clients can send back. */
export const READ_ONLY = ["id", "next_starts_at", "current_ends_at", "created_at", "updated_at"];

/** Query of GET. */
export const READ = Type.Object({
  id: Type.Optional(IdField),
  status: Type.Optional(Type.Enum(STATUSES, { description: "Only windows with this status" })),
  monitor_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      examples: [1],
      description: "Only windows that name this monitor in monitor_ids",
    }),
  ),
  ...PageFields,
});

const Time = (description: string) => Type.String({ format: "date-time", description });

/** A window as answers show it. */
export const SHOWN = Type.Object({
  id: IdField,
  title: Type.String({ description: "What is done" }),
  monitor_ids: Type.Array(Type.Integer(), { description: "Monitors that the window covers" }),
  tags: Type.Array(Type.String(), { description: "It covers the monitors with one of these tags too" }),
  starts_at: Time("Start; with rrule the earliest start"),
  ends_at: Nullable(Time("End; null with rrule")),
  rrule: Nullable(Type.String({ description: "Recurrence rule (RFC 5545); null: once" })),
  duration_seconds: Nullable(Type.Integer({ description: "How long it is open each time; null without rrule" })),
  timezone: Type.String({ description: "Time zone of the days and times of rrule" }),
  public: Type.Boolean({ description: "Whether status pages show the window" }),
  status: Type.Enum(STATUSES, { description: "completed: it is not open again" }),
  next_starts_at: Nullable(Time("The first start after now; null if there is none")),
  current_ends_at: Nullable(Time("When it ends; null if it is not in progress")),
  created_at: Time("Time of creation"),
  updated_at: Time("Time of the last change by a user"),
});
