import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { IdField, PageFields } from "#control-plane/http/params.ts";
import { EVENT_TYPES } from "#control-plane/notify/webhooks/resource.ts";

const STATUSES = ["pending", "retrying", "delivered", "failed", "dead"] as const;
const MOST_ID = Number.MAX_SAFE_INTEGER;

/** Filters of the delivery log. */
export const FILTERS = Type.Object({
  webhook_id: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MOST_ID, description: "Only deliveries to this webhook", examples: [1] }),
  ),
  event_type: Type.Optional(Type.Enum(EVENT_TYPES, { description: "Only deliveries of events of this type" })),
  status: Type.Optional(Type.Enum(STATUSES, { description: "Only deliveries with this status" })),
});

/** Query of the delivery log. */
export const READ = Type.Object({ id: Type.Optional(IdField), ...FILTERS.properties, ...PageFields });

const Time = (description: string) => Type.String({ format: "date-time", description });

/** A delivery as answers show it. */
export const DELIVERY = Type.Object({
  id: IdField,
  webhook_id: Type.Integer({ description: "The webhook; it can be deleted by now" }),
  event_id: Type.String({ description: "The event; the same for all its deliveries. Also in the header webhook-id" }),
  event_type: Type.Enum(EVENT_TYPES, { description: "Type of the event" }),
  status: Type.Enum(STATUSES, {
    description:
      "pending: no attempt has finished. retrying: an attempt failed, and another one follows. failed: it ended early. " +
      "dead: no attempts are left",
  }),
  http_status_code: Nullable(Type.Integer({ description: "Status of the newest answer; null if there was none" })),
  attempts: Type.Integer({ description: "Number of attempts, one in progress included" }),
  error_code: Nullable(Type.String({ description: "Why the newest attempt failed, as a word for programs" })),
  error_message: Nullable(Type.String({ description: "The same for people" })),
  duration_ms: Nullable(Type.Integer({ description: "Duration of the newest attempt, milliseconds" })),
  next_attempt_at: Nullable(Time("Time of the next attempt; null: none is planned")),
  replay_of: Nullable(Type.Integer({ description: "The delivery that it repeats; null if it is the first" })),
  provider_ref: Nullable(
    Type.String({
      maxLength: 255,
      description:
        "Id of the message or alert at the provider, as its answer says it; null if it says none, or not yet",
    }),
  ),
  created_at: Time("Time of creation"),
  delivered_at: Nullable(Time("When the receiver took it; null: not yet")),
});

/** A delivery with its attempts. */
export const DELIVERY_WITH_ATTEMPTS = Type.Object({
  ...DELIVERY.properties,
  attempt_log: Type.Array(
    Type.Object({
      attempt: Type.Integer({ description: "Number of the attempt, from 1" }),
      started_at: Time("Beginning of the attempt"),
      ended_at: Nullable(Time("End of the attempt; null if it is in progress")),
      http_status_code: Nullable(Type.Integer({ description: "Status of the answer; null if there was none" })),
      error_code: Nullable(Type.String({ description: "Why it failed, as a word for programs" })),
      error_message: Nullable(Type.String({ description: "The same for people" })),
      response_headers: Type.Array(
        Type.Object({
          name: Type.String({ description: "Name in lower case" }),
          value: Type.String({ description: "Value" }),
        }),
        { description: "Header fields of the answer" },
      ),
      response_body: Nullable(Type.String({ description: "The first 4 KB of the answer; null if there was none" })),
      truncated: Type.Boolean({ description: "Whether the answer was longer" }),
    }),
    { description: "All attempts, oldest first" },
  ),
});
