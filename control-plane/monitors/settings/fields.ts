import { Type, type Static } from "typebox";
import { listAll } from "#shared/text/list.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { checkTypesOf } from "#control-plane/outages/kinds/defaults.ts";
import { CHECK_TYPES, kindOf, OPTION_SCHEMAS } from "#control-plane/outages/kinds/kinds.ts";
import { LONGEST_VALUE } from "#control-plane/core/header-fields.ts";
import { MOST_HEADERS } from "#control-plane/monitors/settings/headers.ts";
import { HTTP_STATUS_RANGE } from "#shared/monitor-checks/define.ts";
import { JSON_OPS } from "#shared/monitor-checks/monitor-http.ts";
import type { JsonCondition } from "#control-plane/outages/kinds/common.ts";

/** The one expected status. */
const EXPECTED_CODE = Type.Integer({
  ...HTTP_STATUS_RANGE,
  examples: [200],
  description: "http, keyword: expected HTTP status. Default: 200",
});

/** A condition on a JSON body. */
const JSON_CONDITION = Nullable(
  Type.Object(
    {
      path: Type.String({ minLength: 1, maxLength: 1_000, description: "JSONPath (RFC 9535) of the value to compare" }),
      op: Type.Enum([...JSON_OPS], {
        description: "Comparison with the first value that the path selects",
      }),
      value: Type.Optional(
        Type.Unsafe<JsonCondition["value"]>({
          anyOf: [{ type: "string", maxLength: 1_000 }, { type: "number" }, { type: "boolean" }, { type: "null" }],
          description: "Value to compare with; less and greater need a number, exists needs none",
        }),
      ),
    },
    {
      additionalProperties: false,
      examples: [{ path: "$.status", op: "equals", value: "ok" }],
      description: "http, keyword: a further condition on the JSON of the response. Default: null",
    },
  ),
);

/** Maximum length of a request body that a monitor sends, in characters. */
const LONGEST_BODY = 65_536;
/** Maximum number of tags of a monitor. */
export const MOST_TAGS = 20;
const MOST_ID = Number.MAX_SAFE_INTEGER;
/** Maximum length of an item of a list, in characters; the rules of each list are stricter. */
const LONGEST_ITEM = 1_000;
const Item = Type.String({ maxLength: LONGEST_ITEM });

const URL_FIELD = Type.String({
  maxLength: 8_192,
  examples: ["https://example.com/health"],
  description: `Target. ${describeTargets()}. Required for these; for ${describeUntargeted()} it is a note of your own`,
});

const OLD_URL = Type.String({ ...URL_FIELD, minLength: 1 });

/** The fields of every API version. */
const OLDEST = {
  url: URL_FIELD,
  check_type: Type.Enum([...CHECK_TYPES], {
    examples: ["http"],
    description: `${CHECK_TYPES.map((name) => `${name}: ${kindOf(name).watches}`).join("; ")}. Default: http`,
  }),
  interval_minutes: Type.Integer({
    minimum: 1,
    maximum: 1_440,
    examples: [5],
    description:
      "Time between two checks at each location; the plan limits it. heartbeat: the period, if heartbeat does not set " +
      "it. Default: 5",
  }),
  expected_code: EXPECTED_CODE,
  notify_email: Type.Boolean({ description: "Whether outages are reported by mail. Default: false" }),
  is_active: Type.Boolean({ description: "Whether it is checked; false: paused. Default: true" }),
};

const FIELDS = {
  ...OLDEST,
  name: Type.String({
    minLength: 1,
    maxLength: 200,
    examples: ["Shop"],
    description: "Name in lists, pages and mails. Default: the target",
  }),
  method: Type.Enum(["GET", "HEAD", "POST"], { description: "http, keyword: request method. Default: GET" }),
  request_headers: Type.Record(Type.String(), Type.String({ maxLength: LONGEST_VALUE }), {
    maxProperties: MOST_HEADERS,
    examples: [{ Authorization: "Bearer s3cret" }],
    description:
      "http, keyword, websocket: header fields to send, at most 20. Encrypted at rest. Responses show each value as ****; a " +
      "value of **** in a change keeps the stored value, unless the url leads to another origin. After a redirect to another scheme, host or port only " +
      "Accept, Accept-*, User-Agent and Content-Type are sent",
  }),
  body: Nullable(
    Type.Unsafe<string>({
      type: "string",
      maxLength: LONGEST_BODY,
      "x-kind": "text",
      description:
        "http, keyword: request body of POST; null: none. Encrypted at rest. Responses show it as ****; **** in a " +
        "change keeps the stored body. Not sent after a redirect to another scheme, host or port",
    }),
  ),
  keyword: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      examples: ["Welcome"],
      description: "keyword: text to find in the body. Required for this check type",
    }),
  ),
  keyword_mode: Type.Enum(["present", "absent"], {
    description: "keyword: whether the text must be present or absent. Default: present",
  }),
  expected_codes: Nullable(
    Type.Array(Type.Union([Type.Integer(), Item]), {
      minItems: 1,
      maxItems: 20,
      examples: [["2xx", 304, "400-403"]],
      description:
        "http, keyword: accepted statuses, ranges and classes (2xx) of them; used instead of expected_code. Default: null",
    }),
  ),
  timeout_seconds: Type.Integer({
    minimum: 1,
    maximum: 30,
    examples: [15],
    description: "Time limit of one check. visual: at least 10. Default: 15; visual: 30",
  }),
  follow: Type.Boolean({
    description: "http, keyword: follow redirects; the status is that of the final response. Default: true",
  }),
  json: JSON_CONDITION,
  // These two stand where the document has had them; the options of other kinds follow.
  dns: OPTION_SCHEMAS.dns,
  port: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: 65_535,
      examples: [443],
      description: (checkTypesOf("port") ?? []).map((name) => `${name}: ${kindOf(name).portNote}`).join(". "),
    }),
  ),
  heartbeat: OPTION_SCHEMAS.heartbeat,
  ...(OPTION_SCHEMAS as Omit<typeof OPTION_SCHEMAS, "dns" | "heartbeat">),
  locations: Type.Array(Item, {
    maxItems: 50,
    examples: [["eu-west"]],
    description:
      "Where it is checked, one probe for each item: a region, country, continent, city, AS<number>, tag or " +
      "probe:<id>; + joins terms. The plan limits their number. Default: up to 3 regions with an online probe. visual has exactly one, a heartbeat none",
  }),
  quorum: Type.Unsafe<"majority" | number>({
    anyOf: [
      { type: "string", enum: ["majority"] },
      { type: "integer", minimum: 1, maximum: 50 },
    ],
    "x-kind": "quorum",
    examples: ["majority"],
    description:
      "How many of the locations with a recent result must fail until it is down: majority (more than half) or a " +
      "number. Default: majority",
  }),
  retries: Type.Integer({
    minimum: 0,
    maximum: 5,
    description: "With one location: further checks that must fail until it is down. Default: 2",
  }),
  recovery: Type.Integer({
    minimum: 1,
    maximum: 5,
    description: "How many checks in a row must succeed at a location until it counts as up again. Default: 1",
  }),
  degraded_ms: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: 60_000,
      examples: [2_000],
      description: "Slower responses, in milliseconds, count as degraded. Default: null",
    }),
  ),
  watch_domain: Type.Boolean({
    description: "http, keyword: also watch the registration of the domain. Default: false",
  }),
  tags: Type.Array(Item, {
    maxItems: MOST_TAGS,
    examples: [["shop", "team:web"]],
    description: "Labels of 1 to 50 of a-z 0-9 : _ . / -",
  }),
  depends_on: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: MOST_ID,
      description: "Id of a monitor: while that one is down, notices of this one are held back. Default: null",
    }),
  ),
  notify_advisories: Type.Boolean({
    description:
      "Whether advisories are mailed too, where notify_email is true: locations that fail alone, or only at the first " +
      "try. Default: false",
  }),
  notify_emails: Nullable(
    Type.Array(Type.Union([Item, Type.Object({ email: Item })]), {
      maxItems: 10,
      examples: [["ops@example.com"]],
      description:
        "Addresses for mail, each used after its owner has confirmed it; null: the address of the account. Responses " +
        "show objects with email and confirmed, which are accepted too",
    }),
  ),
  repeat_minutes: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: 1_440,
      examples: [60],
      description: "Interval of reminders during an outage, in minutes; null: none. Default: null",
    }),
  ),
};

/** Every field that a user can write. */
export const RECORD = Type.Object(FIELDS);
/** Body of an update: the fields to change. */
export const CHANGE = Type.Partial(RECORD);
/** Body of a creation. */
export const CREATE = CHANGE;
/** Every field that a user can write before v4. */
export const OLD_RECORD = Type.Object(OLDEST);
/** Body of an update before v4. */
export const OLD_CHANGE = Type.Partial(OLD_RECORD);
/** Body of a creation before v4. */
export const OLD_CREATE = Type.Object({ ...OLD_CHANGE.properties, url: OLD_URL });

/** Names of the secrets that a row of a document leaves out. */
export const SECRETS_MISSING = Type.Array(Type.String({ maxLength: 120 }), {
  maxItems: MOST_HEADERS + 1,
  examples: [["request_headers.Authorization", "body"]],
  description:
    "Secrets that are not in the row: request_headers.<name> and body. An import takes them from your monitor with " +
    "this name; without one the monitor is created paused",
});

/** Says what url is, by the kinds with targets of one form. */
function describeTargets(): string {
  const targeted = CHECK_TYPES.filter((name) => kindOf(name).target !== null);
  const byForm = Map.groupBy(targeted, (name) => kindOf(name).target?.form);
  return Array.from(byForm, ([form, names]) => `${listAll(names)}: ${form}`).join(". ");
}

function describeUntargeted(): string {
  return listAll(CHECK_TYPES.filter((name) => kindOf(name).target === null).map((name) => `a ${name}`));
}

/** Fields of a creation, an update or a row of an import, as parsed. */
export type Given = Static<typeof CHANGE>;
