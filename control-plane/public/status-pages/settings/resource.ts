import { Type } from "typebox";
import { refuse, type Read } from "#shared/schema/problem.ts";
import { Lines, Nullable } from "#shared/tools/fields.ts";
import { readLine, readLines } from "#control-plane/core/user-text.ts";
import { IdField } from "#control-plane/http/params.ts";
import { defineResource, type GivenOf, type ShownOf, stored } from "#control-plane/http/resource.ts";
import { LOGO_RULE } from "#control-plane/public/status-pages/logos/logo.ts";
import { MOST_HOST, readDomain } from "#control-plane/public/status-pages/settings/domain.ts";
import { LEAST_SLUG, MOST_SLUG, readSlug } from "#control-plane/public/status-pages/settings/slug.ts";

/** Maximum number of monitors of a page. */
export const MOST_MONITORS = 200;
/** Maximum number of groups of a page. */
export const MOST_GROUPS = 50;
/** Maximum number of characters of a title, and of the name of a monitor or a group. */
export const MOST_NAME = 200;
/** Maximum number of characters of the address of the site that a page is about. */
const MOST_HOMEPAGE = 2_000;
/** Characters of a logo: more than the largest one has, so that a larger one is refused by its size in bytes. */
const MOST_DATA_URI = 1_000_000;
/** Minutes from the confirmation of an outage until it is an incident of a page. */
const INCIDENT_MINUTES = 2;

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

const Time = (description: string) => Type.String({ format: "date-time", description });

/** A status page. */
export const statusPage = defineResource({
  name: "status_page",
  noun: "status page",
  path: "/api/v4/status",
  tag: "Status pages",
  scope: "monitors",
  ref: { $id: "StatusPage", description: "A status page" },
  example: { title: "Example Shop", slug: "example-shop", monitors: [{ id: 1, name: "Shop" }] },
  fields: {
    id: { shown: IdField },
    title: stored(
      Type.String({ minLength: 1, maxLength: MOST_NAME, examples: ["Example Shop"], description: "One line" }),
      { shown: "One line", read: readLine, form: { label: "Title" } },
    ),
    slug: stored(
      Type.String({
        minLength: LEAST_SLUG,
        maxLength: MOST_SLUG,
        examples: ["example-shop"],
        description: "Last part of the page's address: a-z 0-9 -, without - at either end; unique in the service",
      }),
      {
        shown: "Last part of the page's address",
        read: (_field, given) => readSlug(given),
        form: { label: "Last part of the address", hint: "Of a-z 0-9 and -, such as example-shop." },
      },
    ),
    url: { shown: Type.String({ description: "Address of the page" }) },
    description: stored(
      Nullable(
        Lines({
          minLength: 1,
          maxLength: 1_000,
          examples: ["Status of the shop and its payments."],
          description: "Plain text below the title; null: none",
        }),
      ),
      {
        shown: "Plain text below the title; null: none",
        initial: null,
        read: readLines,
        form: { label: "Text below the title" },
      },
    ),
    footer: stored(
      Nullable(
        Lines({
          minLength: 1,
          maxLength: 500,
          examples: ["Support: help@example.com"],
          description: "Plain text at the end of the page; null: none",
        }),
      ),
      {
        shown: "Plain text at the end of the page; null: none",
        initial: null,
        read: readLines,
        form: { label: "Text at the end" },
      },
    ),
    homepage_url: stored(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: MOST_HOMEPAGE,
          examples: ["https://www.example.com/"],
          description:
            "http or https address of the site that the page is about, linked at the top; null: none. Default: null",
        }),
      ),
      {
        shown: "Address of the site that the page is about; null: none",
        initial: null,
        read: readHomepage,
        form: { label: "Your site", hint: "Linked at the top, such as https://www.example.com/. Empty: none." },
      },
    ),
    accent_color: stored(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: 30,
          examples: ["#0969da"],
          description:
            "Colour of links, buttons and the rule at the top, # and six hexadecimal digits. It is made darker on light grounds " +
            "and lighter on dark ones as far as text needs it; states keep their colours. null: that of the service. Default: null",
        }),
      ),
      {
        shown: "Colour of links and buttons, #rrggbb in lower case; null: that of the service",
        initial: null,
        read: readColour,
        form: {
          label: "Accent colour",
          hint: "Of links, buttons and the rule at the top, such as #0969da. Empty: that of the service.",
        },
      },
    ),
    logo: {
      isHandled: true,
      given: Nullable(
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
    },
    logo_url: {
      shown: Nullable(Type.String({ description: "Address of its logo, which changes with it; null if it has none" })),
    },
    is_public: stored(
      Type.Boolean({
        examples: [true],
        description:
          "Whether everybody can see the page; false: only with a key of the account, and its members who are signed in. Default: true",
      }),
      {
        shown: "Whether everybody can see the page",
        initial: true,
        form: { label: "Everybody can see the page", hint: "Otherwise only members, and programs with a key." },
      },
    ),
    domain: stored(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: MOST_HOST,
          examples: ["status.example.com"],
          description:
            "Host name of your own under which the page is served too, once its DNS leads to this service and has the record in " +
            "domain_record; null: none. Sending it again has the record looked for at once",
        }),
      ),
      {
        shown: "Host name under which the page is served too; null: none",
        initial: null,
        read: (_field, given) => readDomain(given),
        form: {
          label: "Own domain",
          hint: "A host name such as status.example.com that leads here. Empty: none.",
        },
      },
    ),
    domain_state: {
      shown: Nullable(
        Type.Union([Type.Literal("pending"), Type.Literal("verified"), Type.Literal("failed")], {
          description:
            "pending: the record of the domain is looked for every 10 minutes, or another page has the domain; verified: it was " +
            "found, and the domain serves the page; failed: it was not found for a day, and is looked for every hour; null: " +
            "no domain",
        }),
      ),
    },
    domain_record: {
      shown: Nullable(
        Type.Object(
          {
            name: Type.String({ description: "Name of the record" }),
            type: Type.Literal("TXT", { description: "Type of the record" }),
            value: Type.String({ description: "Text of the record" }),
          },
          { description: "DNS record that verifies the domain; null: no domain" },
        ),
      ),
    },
    domain_note: {
      shown: Nullable(
        Type.String({
          description:
            "One or two sentences if the record of a verified domain is missing, or if another page has the domain; null: neither",
        }),
      ),
    },
    show_causes: stored(
      Type.Boolean({
        examples: [false],
        description:
          "Whether visitors read the causes of outages as you do, and from which locations they were seen. false: they read " +
          "a sentence without hosts, addresses and answers of the target. Default: false",
      }),
      {
        shown: "Whether visitors read the causes of outages as their account does",
        initial: false,
        form: {
          label: "Visitors read the causes of outages",
          hint: "They have hosts, addresses and answers. Otherwise visitors read a sentence without them.",
        },
      },
    ),
    auto_incidents: stored(
      Type.Boolean({
        examples: [true],
        description:
          "Whether outages of the monitors are incidents of the page, and are mailed to its subscribers. false: only those " +
          "that somebody writes about. The states of the monitors are shown in any case. Default: true",
      }),
      {
        shown: "Whether outages are incidents of the page",
        initial: true,
        form: {
          label: "Outages are incidents of the page",
          hint: "They are mailed to subscribers too. Otherwise only what you write is.",
        },
      },
    ),
    auto_incidents_after_minutes: stored(
      Type.Integer({
        minimum: 0,
        maximum: 1_440,
        examples: [INCIDENT_MINUTES],
        description:
          "Minutes from the confirmation of an outage until it is an incident of the page. One that ends before is none. " +
          `Default: ${INCIDENT_MINUTES}`,
      }),
      {
        shown: "Minutes after which a confirmed outage is one",
        initial: INCIDENT_MINUTES,
        form: { label: "Minutes until an outage is an incident", hint: "One that ends before is none." },
      },
    ),
    response_graph: stored(
      Type.Boolean({
        examples: [false],
        description:
          "Whether visitors see a graph of the response times of each monitor in the last 24 hours, without the locations. " +
          "Default: false",
      }),
      {
        shown: "Whether visitors see a graph of the response times",
        initial: false,
        form: { label: "Visitors see the response times of the last 24 hours" },
      },
    ),
    monitors: {
      isHandled: true,
      given: Type.Array(GivenMonitor, {
        maxItems: MOST_MONITORS,
        examples: [[{ id: 1, name: "Shop" }]],
        description: "Monitors of the page in their order. Default: none",
      }),
      shown: Type.Array(Type.Object({ id: IdField, name: Type.String({ description: "Name on the page" }) }), {
        description: "Monitors of the page in their order",
      }),
    },
    groups: {
      isHandled: true,
      given: Type.Array(GivenGroup, {
        maxItems: MOST_GROUPS,
        examples: [[{ name: "Europe", monitor_ids: [1] }]],
        description: "Headings for some of the monitors. The others come before the first group. Default: none",
      }),
      shown: Type.Array(
        Type.Object({
          name: Type.String({ description: "Heading" }),
          monitor_ids: Type.Array(Type.Integer(), { description: "Monitors of the group in their order" }),
        }),
        { description: "Headings for some of the monitors" },
      ),
    },
    created_at: { shown: Time("Time of creation") },
    updated_at: { shown: Time("Time of the newest change of its settings") },
  },
});

/** Fields of a creation or an update of a page, as parsed. */
export type Given = GivenOf<typeof statusPage>;
/** A page as the answers to its account show it. */
export type ShownPage = ShownOf<typeof statusPage>;

/** Reads an address that visitors go to: nothing but a site, so that a link cannot run a script or carry a password. */
function readHomepage(field: string, given: string): Read<string> {
  const url = URL.parse(given.trim());
  const isSite = url !== null && ["http:", "https:"].includes(url.protocol) && url.username + url.password === "";
  if (isSite && url.href.length <= MOST_HOMEPAGE) return { ok: true, value: url.href };
  const message =
    "must be an http or https address such as https://www.example.com/, without a user name, of at most " +
    `${MOST_HOMEPAGE} characters`;
  return refuse(field, "type", message);
}

/** Reads a colour as #rrggbb. Names and other forms of CSS are not read: programs would have to read them too. */
function readColour(field: string, given: string): Read<string> {
  const colour = given.trim().toLowerCase();
  if (/^#[0-9a-f]{6}$/.test(colour)) return { ok: true, value: colour };
  return refuse(field, "type", "must be a colour such as #0969da: # and six hexadecimal digits");
}
