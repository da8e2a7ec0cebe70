import { Type } from "typebox";
import { Lines, Nullable } from "#shared/tools/fields.ts";
import { EVIDENCE } from "#control-plane/outages/incidents/evidence-schema.ts";
import { IMPACTS, STATUSES } from "#control-plane/outages/incidents/incident.ts";
import { IdField, PageFields } from "#control-plane/http/params.ts";
import { MOST_TEXT } from "#control-plane/outages/incidents/texts.ts";

/** Path of the incidents endpoint. */
export const INCIDENTS_URL = "/api/v4/incidents";

/** Maximum number of monitors or pages that one incident names. */
const MOST_IDS = 100;
const TEXT_RULE = "line breaks are allowed, other control characters are not";

const Title = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "One line",
  examples: ["Payments are delayed"],
});
const StatusWord = Type.Enum([...STATUSES], { description: "resolved: the incident has ended" });
const IMPACT = "How much users of the service notice; maintenance: it is planned work";
const ImpactWord = Type.Enum([...IMPACTS], { description: IMPACT });
const Ids = (what: string) =>
  Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
    maxItems: MOST_IDS,
    description: `${what}; at least one monitor or page is required`,
    examples: [[1]],
  });
const moment = (description: string) => Type.String({ format: "date-time", description });

/** Query of GET /api/v4/incidents. */
export const QUERY = Type.Object({
  id: Type.Optional(IdField),
  monitor_id: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: "Only incidents of this monitor" }),
  ),
  status: Type.Optional(
    Type.Enum(["open", ...STATUSES], { description: "Only incidents with this status; open: those not resolved" }),
  ),
  ...PageFields,
});

/** Body of POST /api/v4/incidents. */
export const OPEN = Type.Object(
  {
    title: Title,
    text: Lines({
      minLength: 1,
      maxLength: MOST_TEXT,
      description: `First update; ${TEXT_RULE}`,
      examples: ["We are looking into it."],
    }),
    status: Type.Optional(Type.Enum([...STATUSES], { default: "investigating", description: "Status from the start" })),
    impact: Type.Optional(Type.Enum([...IMPACTS], { default: "minor", description: IMPACT })),
    public: Type.Optional(Type.Boolean({ default: true, description: "Whether status pages show it" })),
    monitor_ids: Type.Optional(Ids("Monitors of your account that it concerns")),
    page_ids: Type.Optional(Ids("Status pages of your account that show it")),
  },
  { examples: [{ title: "Payments are delayed", text: "We are looking into it.", monitor_ids: [1] }] },
);

/** Body of PUT /api/v4/incidents. */
export const CHANGE = Type.Object(
  {
    acknowledged: Type.Optional(
      Type.Boolean({ description: "true: somebody works on it. false withdraws it", examples: [true] }),
    ),
    note: Type.Optional(
      Lines({
        minLength: 1,
        maxLength: MOST_TEXT,
        description: `Text for the timeline, never public; ${TEXT_RULE}`,
        examples: ["The database host has no free disk space."],
      }),
    ),
    title: Type.Optional(Title),
    impact: Type.Optional(ImpactWord),
    public: Type.Optional(Type.Boolean({ description: "Whether status pages show it" })),
    page_ids: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
        maxItems: MOST_IDS,
        description:
          "Status pages of your account that show it, in place of those named before; pages with its monitors show it in " +
          "any case. Subscribers of a page that is added get the next update",
        examples: [[1]],
      }),
    ),
    update: Type.Optional(
      Type.Object(
        {
          status: Type.Optional(
            Type.Enum([...STATUSES], {
              description: "Status from now on; unchanged if absent. An outage of a monitor resolves when it recovers",
            }),
          ),
          text: Type.String({
            minLength: 1,
            maxLength: MOST_TEXT,
            description: `Message to the users of the service; ${TEXT_RULE}`,
          }),
          public: Type.Optional(
            Type.Boolean({ description: "Whether status pages show this update; as the incident if absent" }),
          ),
        },
        { additionalProperties: false, description: "An update", examples: [{ text: "The cause is known." }] },
      ),
    ),
  },
  { examples: [{ acknowledged: true }] },
);

/** Fields of an incident that a write is allowed to send back; they are ignored. */
export const READ_ONLY = [
  "id",
  "monitor",
  "monitor_ids",
  "status",
  "manual",
  "started_at",
  "confirmed_at",
  "recovered_at",
  "resolved_at",
  "duration_seconds",
  "cause",
  "cause_now",
  "locations",
  "suppressed_by",
  "updates",
  "timeline",
  "evidence",
  "evidence_reason",
];

const Fault = Type.Object(
  {
    stage: Type.String({ description: "dns, connect, tls, request or response" }),
    source: Type.String({ description: "Party that failed" }),
    reason: Type.String({ description: "Cause as a stable word" }),
    message: Type.String({ description: "Cause for people" }),
  },
  { description: "Newest fault at this location during the incident" },
);

const CAUSE = {
  code: Type.String({ description: "Cause as a stable word, e.g. connect_refused" }),
  message: Type.String({ description: "Cause for people, one line of at most 300 characters" }),
};

const Update = Type.Object({
  id: Type.Integer({ description: "Id of the update" }),
  at: moment("When it was written"),
  by: Nullable(Type.String({ description: "Who wrote it" })),
  status: StatusWord,
  text: Type.String({ description: "Message to the users of the service" }),
  public: Type.Boolean({ description: "Whether status pages show it" }),
});

/** An incident in a list. */
export const INCIDENT = Type.Object({
  id: IdField,
  monitor: Nullable(
    Type.Object(
      {
        id: Type.Integer({ description: "Id of the monitor" }),
        name: Type.String({ description: "Its name when the outage began" }),
        url: Nullable(Type.String({ description: "Its target when the outage began" })),
        check_type: Type.String({ description: "What it checks" }),
      },
      { description: "Monitor whose outage this is, also after its deletion; null if the incident was opened by hand" },
    ),
  ),
  monitor_ids: Type.Array(Type.Integer(), { description: "Ids of the monitors that it concerns" }),
  page_ids: Type.Array(Type.Integer(), { description: "Ids of further status pages that show it" }),
  title: Type.String({ description: "One line" }),
  status: StatusWord,
  impact: ImpactWord,
  manual: Type.Boolean({ description: "Whether it was opened by hand" }),
  public: Type.Boolean({ description: "Whether status pages show it" }),
  started_at: moment("First failing check, or when it was opened by hand"),
  confirmed_at: moment("When the outage was confirmed"),
  recovered_at: Nullable(moment("First good check of the recovery; null without one")),
  resolved_at: Nullable(moment("When it ended; null while it is open")),
  duration_seconds: Type.Integer({ minimum: 0, description: "Seconds from started_at to its end, or until now" }),
  cause: Nullable(
    Type.Object(CAUSE, {
      description: "Why the monitor went down: the first cause; null if the incident was opened by hand",
    }),
  ),
  cause_now: Nullable(
    Type.Object(CAUSE, {
      description:
        "The newest cause, which differs from cause if another fault followed the first; null if the incident was opened by hand",
    }),
  ),
  locations: Type.Array(
    Type.Object({
      location: Type.String({ description: "Location of the monitor" }),
      status: Type.Enum(["down", "up"], { description: "up: it recovered during the incident" }),
      error: Nullable(Fault),
    }),
    { description: "Locations from which the target failed" },
  ),
  suppressed_by: Nullable(
    Type.Integer({ description: "Id of the monitor whose outage held the notices back; null if none did" }),
  ),
  acknowledged: Nullable(
    Type.Object(
      { at: moment("When"), by: Type.String({ description: "Who" }) },
      { description: "Who works on it; null if nobody has said so" },
    ),
  ),
  updates: Type.Array(Update, { description: "Newest updates, newest first, at most 20" }),
});

/** An incident with everything that happened, as a single read returns it. */
export const DETAILS = Type.Object({
  ...INCIDENT.properties,
  updates: Type.Array(Update, { description: "Newest updates, newest first, at most 100" }),
  timeline: Type.Array(
    Type.Object({
      at: moment("When it happened"),
      kind: Type.String({
        description:
          "opened, confirmed, location_failed, location_recovered, cause_changed, recovered, resolved, flapping, reminder, suppressed, " +
          "released, evidence, mailed, mail_delayed, mail_failed, paused, deleted, changed_target, acknowledged, unacknowledged, edited, " +
          "note or update. mailed and mail_failed: one for each recipient and notice, when its mail was sent, was refused " +
          "or was given up; mail_delayed: it is not sent after a minute",
      }),
      by: Nullable(Type.String({ description: "Who did it; null: the service" })),
      text: Type.String({ description: "What happened, for people" }),
    }),
    { description: "Newest 500 entries, oldest first" },
  ),
  evidence: Nullable(EVIDENCE),
  evidence_reason: Nullable(
    Type.Enum(["too_many", "target_busy"], {
      description:
        "Why nothing was gathered. too_many: 10 outages of the account were examined within a minute. target_busy: the host " +
        "was examined three times within a minute. null if it was gathered, will be, or could not be for another reason",
    }),
  ),
});
