import { describe, expect, it } from "vitest";
import { FORMAT_NAMES, FORMATS, type FormatName } from "#control-plane/notify/webhooks/formats/formats.ts";
import type { FormatEvent, FormatRequest } from "#control-plane/notify/webhooks/formats/format.ts";
import { EVENT_TYPES } from "#control-plane/notify/webhooks/resource.ts";
import {
  AT,
  EVENTS,
  expiryEvent,
  monitorEvent,
  targetOf,
  visualEvent,
} from "#test/control-plane/notify/webhooks/formats/events.ts";

const TARGETS = {
  telegram: targetOf("https://api.telegram.org", { bot_token: "12:ab", chat_id: "-100" }),
  ntfy: targetOf("https://ntfy.example/", { topic: "alerts" }),
  pagerduty: targetOf("https://events.pagerduty.com/v2/enqueue", { routing_key: "R".repeat(32) }),
  gotify: targetOf("https://gotify.example", { app_token: "A1" }),
  pushover: targetOf("https://api.pushover.net", { token: "a1", user: "u1" }),
  opsgenie: targetOf("https://api.opsgenie.com", { api_key: "key" }),
  jsm: targetOf("https://api.atlassian.com", { api_key: "key" }),
  "incident-io": targetOf("https://api.incident.io/v2/alert_events/http/01", { token: "secret" }),
};
const HOOK = targetOf("https://hooks.example/T0/secret");

function targetFor(name: FormatName): typeof HOOK {
  return (TARGETS as Partial<Record<FormatName, typeof HOOK>>)[name] ?? HOOK;
}

function build(name: FormatName, event: FormatEvent): FormatRequest {
  return FORMATS[name].build(event, targetFor(name));
}

/** Every string of a JSON document. */
function stringsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsOf) : [];
}

/** Events whose texts come from a stranger who fills them to every limit with these characters. */
function filledWith(text: string): readonly FormatEvent[] {
  const long = text.repeat(Math.ceil(30_000 / text.length));
  const fault = { stage: "tls", source: "target", reason: long, message: long };
  const monitor = { id: 7, name: long, url: `https://${long}`, check_type: "http" };
  const failing = Array.from({ length: 100 }, (_, index) => ({ location: `${index} ${long}`, fault, since: AT }));
  const change = { monitor, cause: { code: long, message: long }, failing };
  const certificate = {
    host: long,
    port: 443,
    subject: long,
    issuer: long,
    fingerprint_sha256: long,
    not_before: "2026-09-01T00:00:00.000Z",
    not_after: "2026-11-30T00:00:00.000Z",
  };
  const domain = { name: long, registrar: long, expires_at: null, status: Array.from({ length: 50 }, () => long) };
  return [
    monitorEvent(change),
    monitorEvent({ ...change, kind: "up", previous: "down", recoveredAt: AT }),
    monitorEvent({ ...change, kind: "degraded", startedAt: null, responseMs: 4_200 }),
    expiryEvent("ssl.expired", { monitor, certificate }),
    expiryEvent("ssl.chain_changed", { monitor, certificate, looks_like_renewal: false }),
    expiryEvent("domain.expired", { monitor, domain, cause: { code: long, message: long } }),
    visualEvent(long),
  ];
}

const CHARACTERS = ["x", "é", "💥", '"', "\\", "<", "&", "*", "a\n", "\u0000b", "漢", "@everyone ", "\u202e<!here>"];

const others = FORMAT_NAMES.filter((name) => name !== "standard");

it("every format is tried with the limits of its provider, and every event type that is sent", () => {
  expect(others.filter((name) => LIMITS[name] === undefined)).toEqual([]);
  expect(EVENT_TYPES.filter((type) => EVENTS[type] === undefined)).toEqual([]);
});

describe.each(FORMAT_NAMES)("%s", (name) => {
  it.each(Object.keys(EVENTS))("sends %s as JSON, the same bytes at every attempt", (type) => {
    const event = EVENTS[type]!;
    const first = build(name, event);
    expect(first.headers["content-type"]).toBe("application/json");
    expect(Object.keys(first.headers)).toEqual(Object.keys(first.headers).map((header) => header.toLowerCase()));
    expect(JSON.parse(first.body)).toBeTypeOf("object");
    expect(build(name, structuredClone(event))).toEqual(first);
    // Secrets stay at the origin of the url, by which alone a change is judged.
    expect(new URL(first.url).origin).toBe(new URL(targetFor(name).url).origin);
  });
});

describe.each(others)("%s, whatever the texts of an event are,", (name) => {
  const sent = CHARACTERS.flatMap((text) => filledWith(text).map((event) => build(name, event)));

  it("sends no control characters and none that reorder text", () => {
    for (const { body, url } of sent) {
      expect(
        stringsOf(JSON.parse(body)).filter((text) => /(?!\n)\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u.test(text)),
      ).toEqual([]);
      expect(url).toMatch(/^https:\/\/[\x21-\x7e]+$/);
    }
  });

  it("cuts no code point in halves", () => {
    expect(sent.filter(({ body }) => stringsOf(JSON.parse(body)).some((text) => !text.isWellFormed()))).toEqual([]);
  });

  it("keeps to the limits of its provider", () => {
    const problems = sent.flatMap(({ body }) => LIMITS[name]?.(JSON.parse(body) as never, body) ?? []);
    expect(problems).toEqual([]);
  });

  it("does without the address of the service", () => {
    const { body } = FORMATS[name].build(EVENTS["monitor.down"]!, { ...targetFor(name), pageUrl: null });
    expect(body).not.toContain("/api/v4/");
    expect(stringsOf(JSON.parse(body)).filter((text) => text === "")).toEqual([]);
  });
});

/** What becomes a mention in a chat, of all that an account can write into an event. */
const MENTIONS = "<!channel> <!here> @all @here <users/all> <users/1> @everyone <@U1> <@&2> <at>all</at> @someone ";
/** What would mention somebody at a provider; null: it knows no mentions in texts. */
const CHATS: Record<FormatName, RegExp | null> = {
  standard: null,
  teams: null,
  ntfy: null,
  gotify: null,
  pushover: null,
  pagerduty: null,
  opsgenie: null,
  jsm: null,
  alertmanager: null,
  slack: /<[!@]/,
  // Beside allowed_mentions, which is empty.
  discord: /(?<!\\)[<@]/,
  "google-chat": /<users/,
  mattermost: /[<>@]/,
  telegram: /@/,
  "incident-io": /[<>@]/,
};

const chats = FORMAT_NAMES.flatMap((name) => (CHATS[name] === null ? [] : [[name, CHATS[name]] as const]));

it.each(chats)("%s: no text of a user mentions anybody", (name, mention) => {
  const texts = filledWith(MENTIONS).flatMap((event) => stringsOf(JSON.parse(build(name, event).body)));
  expect(texts.filter((text) => text.includes("channel")).length).toBeGreaterThan(0);
  expect(texts.filter((text) => mention.test(text))).toEqual([]);
});

it("discord and teams: nothing beside the texts makes a mention of them", () => {
  for (const event of filledWith(MENTIONS)) {
    expect(JSON.parse(build("discord", event).body)).toMatchObject({ allowed_mentions: { parse: [] } });
    expect(build("teams", event).body).not.toMatch(/"(?:msteams|entities|TextBlock|FactSet)"/);
  }
});

/** Reports what is longer than a provider allows. */
const over = (what: string, value: string | undefined, most: number): readonly string[] =>
  value === undefined || (value.length > 0 && value.length <= most) ? [] : [`${what}: ${value.length} of ${most}`];
const bytes = (text: string): number => Buffer.byteLength(text);

interface Block {
  readonly type: string;
  readonly text?: { readonly text: string };
}

/** "Alert API", Opsgenie. */
function genieLimits(
  sent: Readonly<Record<"message" | "alias" | "description" | "entity" | "note", string | undefined>>,
): readonly string[] {
  return [
    ...over("message", sent.message, 130),
    ...over("alias", sent.alias, 512),
    ...over("description", sent.description, 15_000),
    ...over("entity", sent.entity, 512),
    ...over("note", sent.note, 25_000),
  ];
}

/** The limits of the providers' documentation. */
const LIMITS: Partial<Record<FormatName, (message: never, body: string) => readonly string[]>> = {
  slack: ({ text, blocks }: { readonly text: string; readonly blocks: readonly Block[] }) => [
    ...over("text", text, 3_000),
    ...blocks.flatMap((one) => over(one.type, one.text?.text, one.type === "header" ? 150 : 3_000)),
  ],
  discord: ({ embeds }: { readonly embeds: readonly { readonly title: string; readonly description: string }[] }) =>
    embeds.flatMap(({ title, description }) => [
      ...over("title", title, 256),
      ...over("description", description, 4_096),
      ...over("embed", title + description, 6_000),
    ]),
  teams: (_message: object, body: string) => (body.length * 2 <= 28 * 1_024 ? [] : [`${body.length} characters`]),
  "google-chat": ({ text }: { readonly text: string }, body: string) => [
    ...over("text", text, 4_096),
    ...(bytes(body) <= 32_000 ? [] : [`${bytes(body)} bytes`]),
  ],
  mattermost: ({ attachments }: { readonly attachments: readonly Readonly<Record<string, string>>[] }) => [
    ...attachments.flatMap(({ fallback, title, text }) => [
      ...over("fallback", fallback, 600),
      ...over("title", title, 600),
      ...over("text", text, 4_096),
    ]),
    ...over("attachments", JSON.stringify(attachments), 7_600),
  ],
  gotify: ({ title, message }: Readonly<Record<"title" | "message", string>>) => [
    ...over("title", title, 250),
    ...over("message", message, 4_096),
  ],
  pushover: (sent: Readonly<Record<"title" | "message" | "url" | "url_title", string | undefined>>) => [
    ...over("title", sent.title, 250),
    ...over("message", sent.message, 1_024),
    ...over("url", sent.url, 512),
    ...over("url_title", sent.url_title, 100),
  ],
  "incident-io": (sent: Readonly<Record<"title" | "description" | "deduplication_key", string>>, body: string) => [
    ...over("title", sent.title, 512),
    ...over("description", sent.description, 4_096),
    ...over("deduplication_key", sent.deduplication_key, 255),
    ...(bytes(body) <= 512 * 1_024 ? [] : [`${bytes(body)} bytes`]),
  ],
  telegram: ({ text }: { readonly text: string }) => over("text", text, 4_096),
  ntfy: ({ message }: { readonly message: string }, body: string) => [
    ...(bytes(message) <= 4_096 ? [] : [`message: ${bytes(message)} bytes`]),
    ...(bytes(body) <= 8_192 ? [] : [`${bytes(body)} bytes`]),
  ],
  pagerduty: (
    sent: { readonly dedup_key: string; readonly payload?: { readonly summary: string; readonly source: string } },
    body: string,
  ) => [
    ...over("dedup_key", sent.dedup_key, 255),
    ...over("summary", sent.payload?.summary, 1_024),
    ...over("source", sent.payload?.source, 1_024),
    ...(bytes(body) <= 512 * 1_024 ? [] : [`${bytes(body)} bytes`]),
  ],
  opsgenie: genieLimits,
  jsm: genieLimits,
  alertmanager: (sent: readonly { readonly labels: Readonly<Record<string, string>> }[]) =>
    sent.flatMap(({ labels }) => Object.entries(labels).flatMap(([label, value]) => over(label, value, 100))),
};
