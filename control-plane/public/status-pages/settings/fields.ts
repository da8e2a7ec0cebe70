import { Type, type Static } from "typebox";
import { Lines, Nullable } from "#shared/tools/fields.ts";
import { IdField } from "#control-plane/http/params.ts";
import {
  INCIDENT_MINUTES,
  MOST_DESCRIPTION,
  MOST_FOOTER,
  MOST_GROUPS,
  MOST_HOMEPAGE,
  MOST_MONITORS,
  MOST_NAME,
} from "#control-plane/public/status-pages/settings/page-settings.ts";
import { LOGO_RULE } from "#control-plane/public/status-pages/logos/logo.ts";
import { MOST_HOST } from "#control-plane/public/status-pages/settings/domain.ts";
import { LEAST_SLUG, MOST_SLUG } from "#control-plane/public/status-pages/settings/slug.ts";

const MonitorId = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  examples: [1],
  description: "Id of a monitor of your account",
});

const GivenMonitor = Type.Object(
  {
    id: MonitorId,
    name: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: MOST_NAME,
          examples: ["Shop"],
          description: "Name on the page; by default, and with null, the name of the monitor, also when that changes",
        }),
      ),
    ),
  },
  { additionalProperties: false },
);

const GivenGroup = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: MOST_NAME, examples: ["Europe"], description: "Heading" }),
    monitor_ids: Type.Array(MonitorId, {
      maxItems: MOST_MONITORS,
      examples: [[1]],
      description: "Monitors of the page in this group, in their order; a monitor is in one group at most",
    }),
  },
  { additionalProperties: false },
);

const TITLE = Type.String({ minLength: 1, maxLength: MOST_NAME, examples: ["Example Shop"], description: "One line" });
const SLUG = Type.String({
  minLength: LEAST_SLUG,
  maxLength: MOST_SLUG,
  examples: ["example-shop"],
  description: "Last part of the page's address: a-z 0-9 -, without - at either end; unique in the service",
});

/** Characters of a logo: more than the largest one has, so that a larger one is refused by its size in bytes. */
const MOST_DATA_URI = 1_000_000;

const OPTIONAL = {
  description: Nullable(
    Lines({
      minLength: 1,
      maxLength: MOST_DESCRIPTION,
      examples: ["Status of the shop and its payments."],
      description: "Plain text below the title; null: none",
    }),
  ),
  footer: Nullable(
    Lines({
      minLength: 1,
      maxLength: MOST_FOOTER,
      examples: ["Support: help@example.com"],
      description: "Plain text at the end of the page; null: none",
    }),
  ),
  homepage_url: Nullable(
    Type.String({
      minLength: 1,
      maxLength: MOST_HOMEPAGE,
      examples: ["https://www.example.com/"],
      description:
        "http or https address of the site that the page is about, linked at the top; null: none. Default: null",
    }),
  ),
  accent_color: Nullable(
    Type.String({
      minLength: 1,
      maxLength: 30,
      examples: ["#0969da"],
      description:
        "Colour of links, buttons and the rule at the top, # and six hexadecimal digits. It is made darker on light grounds " +
        "and lighter on dark ones as far as text needs it; states keep their colours. null: that of the service. Default: null",
    }),
  ),
  logo: Nullable(
    Type.String({
      minLength: 1,
      maxLength: MOST_DATA_URI,
      examples: [
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
      ],
      description:
        `Image in place of the title, as a data URI in base64: ${LOGO_RULE}. The type is read from the image itself. It is ` +
        "shown up to 240 pixels wide and 40 high. Answers have its address, logo_url. null: none. Default: null",
    }),
  ),
  is_public: Type.Boolean({
    examples: [true],
    description:
      "Whether everybody can see the page; false: only with a key of the account, and its members who are signed in. Default: true",
  }),
  domain: Nullable(
    Type.String({
      minLength: 1,
      maxLength: MOST_HOST,
      examples: ["status.example.com"],
      description:
        "Host name of your own under which the page is served too, once its DNS leads to this service and has the record in " +
        "domain_record; null: none. Sending it again has the record looked for at once",
    }),
  ),
  show_causes: Type.Boolean({
    examples: [false],
    description:
      "Whether visitors read the causes of outages as you do, and from which locations they were seen. false: they read " +
      "a sentence without hosts, addresses and answers of the target. Default: false",
  }),
  auto_incidents: Type.Boolean({
    examples: [true],
    description:
      "Whether outages of the monitors are incidents of the page, and are mailed to its subscribers. false: only those " +
      "that somebody writes about. The states of the monitors are shown in any case. Default: true",
  }),
  auto_incidents_after_minutes: Type.Integer({
    minimum: 0,
    maximum: INCIDENT_MINUTES.most,
    examples: [INCIDENT_MINUTES.default],
    description:
      "Minutes from the confirmation of an outage until it is an incident of the page. One that ends before is none. " +
      `Default: ${INCIDENT_MINUTES.default}`,
  }),
  response_graph: Type.Boolean({
    examples: [false],
    description:
      "Whether visitors see a graph of the response times of each monitor in the last 24 hours, without the locations. " +
      "Default: false",
  }),
  monitors: Type.Array(GivenMonitor, {
    maxItems: MOST_MONITORS,
    examples: [[{ id: 1, name: "Shop" }]],
    description: "Monitors of the page in their order. Default: none",
  }),
  groups: Type.Array(GivenGroup, {
    maxItems: MOST_GROUPS,
    examples: [[{ name: "Europe", monitor_ids: [1] }]],
    description: "Headings for some of the monitors. The others come before the first group. Default: none",
  }),
};

/** Body of a creation. */
export const CREATE = Type.Object(
  { title: TITLE, slug: SLUG, ...Type.Partial(Type.Object(OPTIONAL)).properties },
  { examples: [{ title: "Example Shop", slug: "example-shop", monitors: [{ id: 1, name: "Shop" }] }] },
);

/** Body of an update: the fields to change. */
export const CHANGE = Type.Partial(Type.Object({ title: TITLE, slug: SLUG, ...OPTIONAL }));

/** Fields of a creation or an update, as parsed. */
export type Given = Static<typeof CHANGE>;

/** Fields of answers that clients can send back. */
export const READ_ONLY = [
  "id",
  "url",
  "logo_url",
  "domain_state",
  "domain_record",
  "domain_note",
  "created_at",
  "updated_at",
];

const Time = (description: string) => Type.String({ format: "date-time", description });

/** A page as the answers to its account show it. */
export const PAGE = Type.Object(
  {
    id: IdField,
    title: Type.String({ description: "One line" }),
    slug: Type.String({ description: "Last part of the page's address" }),
    url: Type.String({ description: "Address of the page" }),
    description: Nullable(Type.String({ description: "Plain text below the title; null: none" })),
    footer: Nullable(Type.String({ description: "Plain text at the end of the page; null: none" })),
    homepage_url: Nullable(Type.String({ description: "Address of the site that the page is about; null: none" })),
    accent_color: Nullable(
      Type.String({ description: "Colour of links and buttons, #rrggbb in lower case; null: that of the service" }),
    ),
    logo_url: Nullable(Type.String({ description: "Address of its logo, which changes with it; null: it has none" })),
    is_public: Type.Boolean({ description: "Whether everybody can see the page" }),
    domain: Nullable(Type.String({ description: "Host name under which the page is served too; null: none" })),
    domain_state: Nullable(
      Type.Union([Type.Literal("pending"), Type.Literal("verified"), Type.Literal("failed")], {
        description:
          "pending: the record of the domain is looked for every 10 minutes, or another page has the domain; verified: it was " +
          "found, and the domain serves the page; failed: it was not found for a day, and is looked for every hour; null: " +
          "no domain",
      }),
    ),
    domain_record: Nullable(
      Type.Object(
        {
          name: Type.String({ description: "Name of the record" }),
          type: Type.Literal("TXT", { description: "Type of the record" }),
          value: Type.String({ description: "Text of the record" }),
        },
        { description: "DNS record that verifies the domain; null: no domain" },
      ),
    ),
    domain_note: Nullable(
      Type.String({
        description:
          "One or two sentences if the record of a verified domain is missing, or if another page has the domain; null: neither",
      }),
    ),
    show_causes: Type.Boolean({ description: "Whether visitors read the causes of outages as their account does" }),
    auto_incidents: Type.Boolean({ description: "Whether outages are incidents of the page" }),
    auto_incidents_after_minutes: Type.Integer({ description: "Minutes after which a confirmed outage is one" }),
    response_graph: Type.Boolean({ description: "Whether visitors see a graph of the response times" }),
    monitors: Type.Array(Type.Object({ id: IdField, name: Type.String({ description: "Name on the page" }) }), {
      description: "Monitors of the page in their order",
    }),
    groups: Type.Array(
      Type.Object({
        name: Type.String({ description: "Heading" }),
        monitor_ids: Type.Array(Type.Integer(), { description: "Monitors of the group in their order" }),
      }),
      { description: "Headings for some of the monitors" },
    ),
    created_at: Time("Time of creation"),
    updated_at: Time("Time of the newest change of its settings"),
  },
  { $id: "StatusPage", description: "A status page" },
);
