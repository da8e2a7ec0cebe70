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
import { asked } from "#control-plane/outages/kinds/form-field.ts";

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
      path: Type.String({
        minLength: 1,
        maxLength: 1_000,
        description: "JSONPath (RFC 9535) of the value to compare",
        ...asked("Value in the JSON", "expect", { hint: "A JSONPath such as $.status. Empty: no condition" }),
      }),
      op: Type.Enum([...JSON_OPS], {
        description: "Comparison with the first value that the path selects",
        ...asked("It", "expect"),
      }),
      value: Type.Optional(
        Type.Unsafe<JsonCondition["value"]>({
          anyOf: [{ type: "string", maxLength: 1_000 }, { type: "number" }, { type: "boolean" }, { type: "null" }],
          description: "Value to compare with; less and greater need a number, exists needs none",
          ...asked("This value", "expect", {
            hint: 'A number, true, false, null or text. Text that looks like one of them: in quotes, as "1"',
            input: "json-value",
            empty: undefined,
          }),
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
  // Each kind has a label for it.
  ...asked("Address", "what"),
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
    ...asked("Check every (minutes)", "when", { hint: "Empty: 5" }),
  }),
  expected_code: EXPECTED_CODE,
  notify_email: Type.Boolean({
    description: "Whether outages are reported by mail. Default: false",
    ...asked("Send mail when it fails", "who"),
  }),
  is_active: Type.Boolean({ description: "Whether it is checked; false: paused. Default: true" }),
};

const FIELDS = {
  ...OLDEST,
  name: Type.String({
    minLength: 1,
    maxLength: 200,
    examples: ["Shop"],
    description: "Name in lists, pages and mails. Default: the target",
    ...asked("Name", "what", { hint: "In lists, mails and on status pages. Empty: the address" }),
  }),
  method: Type.Enum(["GET", "HEAD", "POST"], {
    description: "http, keyword: request method. Default: GET",
    ...asked("Method", "request"),
  }),
  request_headers: Type.Record(Type.String(), Type.String({ maxLength: LONGEST_VALUE }), {
    maxProperties: MOST_HEADERS,
    examples: [{ Authorization: "Bearer s3cret" }],
    description:
      "http, keyword, websocket: header fields to send, at most 20. Encrypted at rest. Responses show each value as ****; a " +
      "value of **** in a change keeps the stored value, unless the url leads to another origin. After a redirect to another scheme, host or port only " +
      "Accept, Accept-*, User-Agent and Content-Type are sent",
    ...asked("Header fields", "request", {
      hint: "One a line, as Name: value. They are stored encrypted and shown as ****",
    }),
  }),
  body: Nullable(
    Type.Unsafe<string>({
      type: "string",
      maxLength: LONGEST_BODY,
      "x-kind": "text",
      description:
        "http, keyword: request body of POST; null: none. Encrypted at rest. Responses show it as ****; **** in a " +
        "change keeps the stored body. Not sent after a redirect to another scheme, host or port",
      ...asked("Body of a POST", "request", { hint: "Stored encrypted, shown as ****" }),
    }),
  ),
  keyword: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      examples: ["Welcome"],
      description: "keyword: text to find in the body. Required for this check type",
      ...asked("Text", "what", { hint: "What the page must or must not have" }),
    }),
  ),
  keyword_mode: Type.Enum(["present", "absent"], {
    description: "keyword: whether the text must be present or absent. Default: present",
    ...asked("The text", "what"),
  }),
  expected_codes: Nullable(
    Type.Array(Type.Union([Type.Integer(), Item]), {
      minItems: 1,
      maxItems: 20,
      examples: [["2xx", 304, "400-403"]],
      description:
        "http, keyword: accepted statuses, ranges and classes (2xx) of them; used instead of expected_code. Default: null",
      ...asked("Expected statuses", "expect", { hint: "Such as 200, 2xx or 200-399. Empty: 200", input: "codes" }),
    }),
  ),
  timeout_seconds: Type.Integer({
    minimum: 1,
    maximum: 30,
    examples: [15],
    description: "Time limit of one check. visual: at least 10. Default: 15; visual: 30",
    ...asked("Time limit (seconds)", "when", { hint: "Empty: 15" }),
  }),
  follow: Type.Boolean({
    description: "http, keyword: follow redirects; the status is that of the final response. Default: true",
    ...asked("Follow redirects", "request"),
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
      ...asked("Port", "what"),
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
    ...asked("Locations", "when", {
      hint: "One a line: a region, country, city, tag or probe:<id>. Empty: up to three regions",
    }),
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
    ...asked("Down when this many locations fail", "when", {
      hint: "majority, or a number. Empty: majority",
      input: "text",
    }),
  }),
  retries: Type.Integer({
    minimum: 0,
    maximum: 5,
    description: "With one location: further checks that must fail until it is down. Default: 2",
    ...asked("Checks that must fail again", "when", { hint: "With one location. Empty: 2" }),
  }),
  recovery: Type.Integer({
    minimum: 1,
    maximum: 5,
    description: "How many checks in a row must succeed at a location until it counts as up again. Default: 1",
    ...asked("Good checks until it is up again", "when", { hint: "Empty: 1" }),
  }),
  degraded_ms: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: 60_000,
      examples: [2_000],
      description: "Slower responses, in milliseconds, count as degraded. Default: null",
      ...asked("Slow from (milliseconds)", "expect", { hint: "Empty: never slow" }),
    }),
  ),
  watch_domain: Type.Boolean({
    description: "http, keyword: also watch the registration of the domain. Default: false",
    ...asked("Watch the registration of the domain too", "more"),
  }),
  tags: Type.Array(Item, {
    maxItems: MOST_TAGS,
    examples: [["shop", "team:web"]],
    description: "Labels of 1 to 50 of a-z 0-9 : _ . / -",
    ...asked("Tags", "what", {
      hint: "Words of a-z, 0-9 and : _ . / - with spaces between them",
      input: "words",
    }),
  }),
  depends_on: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: MOST_ID,
      description: "Id of a monitor: while that one is down, notices of this one are held back. Default: null",
      ...asked("Depends on monitor", "more", {
        hint: "Number of a monitor: while that one is down, notifications of this one wait",
      }),
    }),
  ),
  notify_advisories: Type.Boolean({
    description:
      "Whether advisories are mailed too, where notify_email is true: locations that fail alone, or only at the first " +
      "try. Default: false",
    ...asked("Send mail about warnings too", "more"),
  }),
  notify_emails: Nullable(
    Type.Array(Type.Union([Item, Type.Object({ email: Item })]), {
      maxItems: 10,
      examples: [["ops@example.com"]],
      description:
        "Addresses for mail, each used after its owner has confirmed it; null: the address of the account. Responses " +
        "show objects with email and confirmed, which are accepted too",
      ...asked("Mail to", "who", {
        hint: "One address a line. Empty: the address of the account. Each is asked to confirm first",
      }),
    }),
  ),
  repeat_minutes: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: 1_440,
      examples: [60],
      description: "Interval of reminders during an outage, in minutes; null: none. Default: null",
      ...asked("Remind every (minutes)", "more", { hint: "Empty: no reminders" }),
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
