import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { LONGEST_VALUE } from "#control-plane/core/header-fields.ts";
import { readLabel } from "#control-plane/core/user-text.ts";
import { IdField } from "#control-plane/http/params.ts";
import { defineResource, type GivenOf, type ShownOf, stored } from "#control-plane/http/resource.ts";
import type { EventType } from "#control-plane/notify/events/event.ts";
import { adviseOn, FORMAT_NAMES, FORMATS } from "#control-plane/notify/webhooks/formats/formats.ts";

/** Every type of event that accounts can subscribe to, in the order in which answers list them. */
export const EVENT_TYPES = [
  "monitor.down",
  "monitor.up",
  "monitor.degraded",
  "monitor.advisory",
  "ssl.expiring",
  "ssl.expired",
  "ssl.chain_changed",
  "domain.expiring",
  "domain.expired",
  "visual.changed",
  "monitor.unwatched",
  "monitor.watched",
  "test",
] as const satisfies readonly EventType[];

/** Types that a subscription gets only if it names them. */
export const NAMED_ONLY: ReadonlySet<EventType> = new Set(["monitor.advisory", "monitor.unwatched", "monitor.watched"]);

/** Maximum number of own header fields of a subscription. */
export const MOST_HEADERS = 10;
/** Maximum length of texts that have stricter rules of their own, in characters. */
const LONGEST_TEXT = 1_000;
const MOST_ID = Number.MAX_SAFE_INTEGER;

/** The options of all formats in one line. */
const OPTION_LIST = Object.values(FORMATS)
  .filter(({ options }) => options.length > 0)
  .map(({ name, options }) => {
    return `${name}: ${options.map((one) => (one.required ? one.name : `${one.name} (optional)`)).join(", ")}`;
  })
  .join("; ");

/** What is known about the end of providers. */
const ENDS = Object.values(FORMATS).flatMap((format) => adviseOn(format) ?? []);

const Filter = Type.Object({
  monitor_ids: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: MOST_ID }), {
      maxItems: 1_000,
      description: "Ids of monitors",
    }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String({ maxLength: LONGEST_TEXT }), {
      maxItems: 20,
      description: "Tags of monitors: 1 to 50 of a-z 0-9 : _ . / - each",
    }),
  ),
});

const Time = (description: string) => Type.String({ format: "date-time", description });

/** A subscription to events. */
export const webhook = defineResource({
  name: "webhook",
  noun: "webhook",
  path: "/api/v4/webhooks",
  tag: "Webhooks",
  scope: "webhook",
  example: { url: "https://hooks.example.com/vantage", name: "On-call", events: ["monitor.down", "monitor.up"] },
  fields: {
    id: { shown: IdField },
    name: stored(Type.String({ maxLength: 200, examples: ["On-call"], description: "Label. Default: empty" }), {
      shown: "Label",
      initial: "",
      read: readLabel,
    }),
    url: stored(
      Type.String({
        minLength: 1,
        maxLength: 2_048,
        examples: ["https://hooks.example.com/vantage"],
        description: "Where events are sent with POST; https only",
      }),
      { shown: "Where events are sent" },
    ),
    secret: {
      isHandled: true,
      given: Type.String({
        maxLength: LONGEST_TEXT,
        description:
          "Signs deliveries. 8 to 256 visible ASCII characters; after whsec_ valid base64. Default: one is generated. " +
          "A replaced secret signs too for 24 hours",
      }),
      shown: Type.String({ description: "The secret, masked", examples: ["whsec_****x9Q="] }),
    },
    signing_secret: {
      shown: Type.Optional(
        Type.String({ description: "The generated secret; shown once, in the answer that made it" }),
      ),
    },
    events: {
      isHandled: true,
      given: Nullable(
        Type.Array(Type.Enum(EVENT_TYPES), {
          maxItems: 100,
          description:
            "Event types to send. Default or null: all that the plan allows, but for monitor.advisory, monitor.unwatched and " +
            "monitor.watched, which are sent only where they are named",
        }),
      ),
      shown: Type.Array(Type.Enum(EVENT_TYPES), { description: "Event types that are sent" }),
    },
    filter: {
      isHandled: true,
      given: Nullable(
        Type.Object(Filter.properties, {
          description:
            "Sends only events about one of these monitors, or about monitors with one of these tags. Default or null: all " +
            "monitors. Tests are always sent",
        }),
      ),
      shown: Nullable(
        Type.Object({
          monitor_ids: Type.Array(Type.Integer(), { description: "Ids of monitors" }),
          tags: Type.Array(Type.String(), { description: "Tags of monitors" }),
        }),
      ),
    },
    headers: {
      isHandled: true,
      given: Type.Record(Type.String(), Type.String({ maxLength: LONGEST_VALUE }), {
        maxProperties: MOST_HEADERS,
        examples: [{ Authorization: "Bearer s3cret" }],
        description:
          "Header fields to send, at most 10. Encrypted at rest. Responses show each value as ****; a value of **** in a " +
          "change keeps the stored value",
      }),
      shown: Type.Record(Type.String(), Type.String(), { description: "Own header fields, masked" }),
    },
    format: stored(
      Type.Enum(FORMAT_NAMES, {
        description:
          "How events are written. Default: standard, the JSON of the event. Others are what the provider takes" +
          ENDS.map((advice) => `. ${advice}`).join(""),
      }),
      { shown: "How events are written", initial: "standard" },
    ),
    format_options: {
      isHandled: true,
      given: Type.Record(Type.String(), Type.Union([Type.String({ maxLength: LONGEST_TEXT }), Type.Integer()]), {
        maxProperties: 20,
        description:
          `What the format needs beside the address. ${OPTION_LIST}. Encrypted at rest; responses show secret values as ****, ` +
          "which keeps the stored value in a change",
      }),
      shown: Type.Record(Type.String(), Type.String(), {
        description: "What the format needs beside the address; secret values are masked",
      }),
    },
    managed_by: {
      isHandled: true,
      given: Nullable(
        Type.String({
          maxLength: LONGEST_TEXT,
          examples: ["shop"],
          description:
            "Who manages it: 1 to 42 of a-z 0-9 : _ . / -. The command apply writes the owner of its document here, and with " +
            "--prune deletes no others. Default or null: nobody",
        }),
      ),
      shown: Nullable(Type.String({ description: "Who manages it; null: nobody" })),
    },
    is_active: stored(Type.Boolean({ description: "Whether events are sent. Default: true" }), {
      shown: "Whether events are sent",
      initial: true,
    }),
    inactive_reason: {
      shown: Nullable(
        Type.Enum(["plan_limit", "failing", "gone"], {
          description:
            "Why the service made it inactive. plan_limit: the plan allows fewer webhooks. failing: it failed for days. gone: " +
            "the receiver answered 410. null if it is active, or a user made it inactive",
        }),
      ),
    },
    created_at: { shown: Time("Time of creation") },
    updated_at: { shown: Time("Time of the last change") },
  },
});

/** Fields of a creation or an update, as parsed. */
export type Given = GivenOf<typeof webhook>;
/** A subscription as the API shows it. */
export type ShownWebhook = ShownOf<typeof webhook>;
