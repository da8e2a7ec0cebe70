import { describe, expect, it } from "vitest";
import {
  adviseOn,
  FORMAT_NAMES,
  FORMATS,
  keepMasked,
  maskOptions,
  parseOptions,
} from "#control-plane/notify/webhooks/formats/formats.ts";

const { standard, slack, telegram, ntfy, pushover, pagerduty, opsgenie } = FORMATS;
const PUSHOVER = { token: "azGDORePK8gMaC0QOYAMyEEuzJnyUi", user: "uQiRzpo4DXghDmr9QzzfQu27cmVRsG" };
const PRIORITY = ["format_options.priority", "must be a whole number from -2 to 1"] as const;
const TELEGRAM = { bot_token: "123456:ABC-DEF1234ghIkl", chat_id: "-1001234567890" };

describe("the formats", () => {
  it("are those of the documentation, each under its name", () => {
    expect(Object.values(FORMATS).map(({ name }) => name)).toEqual([...FORMAT_NAMES]);
    expect(FORMAT_NAMES[0]).toBe("standard");
  });

  it("have these options, all masked but a priority", () => {
    const described = FORMAT_NAMES.flatMap((name) =>
      FORMATS[name].options.map((one) => `${name}.${one.name}${one.required ? "" : "?"}`),
    );
    expect(described).toEqual([
      "telegram.bot_token",
      "telegram.chat_id",
      "ntfy.topic",
      "ntfy.token?",
      "gotify.app_token",
      "pushover.token",
      "pushover.user",
      "pushover.priority?",
      "pagerduty.routing_key",
      "opsgenie.api_key",
      "jsm.api_key",
      "incident-io.token",
    ]);
    const shown = Object.values(FORMATS).flatMap(({ options }) => options.filter(({ secret }) => !secret));
    expect(shown).toEqual([pushover.options[2]]);
    const values = { token: "a1", user: "u1", priority: "-1" };
    expect(maskOptions(pushover, values)).toEqual({ token: "****", user: "****", priority: "-1" });
    expect(keepMasked(maskOptions(pushover, values), values)).toEqual(values);
  });

  it("say what is known about the end of their provider", () => {
    expect(FORMAT_NAMES.filter((name) => adviseOn(FORMATS[name]) !== null)).toEqual(["opsgenie"]);
    expect(adviseOn(opsgenie)).toBe(
      "Opsgenie ends on 2027-04-05. The format jsm takes its place: change the webhook before that day.",
    );
  });
});

describe("format_options", () => {
  it.each([
    [standard, undefined, {}],
    [slack, null, {}],
    [slack, {}, {}],
    [telegram, TELEGRAM, TELEGRAM],
    [telegram, { ...TELEGRAM, chat_id: "@status_channel" }, { ...TELEGRAM, chat_id: "@status_channel" }],
    [telegram, { ...TELEGRAM, chat_id: -1_001_234_567_890 }, TELEGRAM],
    [ntfy, { topic: "alerts" }, { topic: "alerts" }],
    [ntfy, { topic: "alerts", token: null }, { topic: "alerts" }],
    [ntfy, { topic: "alerts", token: "tk_a1" }, { topic: "alerts", token: "tk_a1" }],
    [pushover, PUSHOVER, PUSHOVER],
    [pushover, { ...PUSHOVER, priority: "1" }, { ...PUSHOVER, priority: "1" }],
    [pushover, { ...PUSHOVER, priority: -2 }, { ...PUSHOVER, priority: "-2" }],
    [pagerduty, { routing_key: "a".repeat(32) }, { routing_key: "a".repeat(32) }],
    [opsgenie, { api_key: "eb243592-faa2" }, { api_key: "eb243592-faa2" }],
  ])("of $name can be %j", (format, given, options) => {
    expect(parseOptions(format, given)).toEqual({ ok: true, options });
  });

  it.each([
    [standard, [], "format_options", "must be an object of strings"],
    [standard, "a=b", "format_options", "must be an object of strings"],
    [standard, { a: "b" }, "format_options.a", "is no option of the format standard, which has none"],
    [
      telegram,
      { ...TELEGRAM, topic: "a" },
      "format_options.topic",
      "is no option of the format telegram, which has bot_token, chat_id",
    ],
    [telegram, { chat_id: "1" }, "format_options.bot_token", "is required: token of the bot, as BotFather shows it"],
    [
      telegram,
      { ...TELEGRAM, bot_token: "123/456:abc" },
      "format_options.bot_token",
      "must be the bot's number, a colon and letters, digits, - and _, as in 123456:ABC-DEF1234ghIkl",
    ],
    [
      telegram,
      { ...TELEGRAM, chat_id: "general" },
      "format_options.chat_id",
      "must be a number, as in -1001234567890, or @ and the name of a public channel",
    ],
    [ntfy, { topic: "a/b" }, "format_options.topic", "must be 1 to 64 letters, digits, - and _"],
    [ntfy, { topic: "a\n" }, "format_options.topic", "must be 1 to 64 letters, digits, - and _"],
    [ntfy, { topic: ["a"] }, "format_options.topic", "must be a string: topic to publish to"],
    [
      ntfy,
      { topic: "a", token: "tk\r\nx-evil: 1" },
      "format_options.token",
      "must be visible ASCII characters without spaces",
    ],
    [pushover, { token: "a" }, "format_options.user", "is required: key of the user or group"],
    [pushover, { ...PUSHOVER, priority: 2 }, ...PRIORITY],
    [pushover, { ...PUSHOVER, priority: "-3" }, ...PRIORITY],
    [pushover, { ...PUSHOVER, priority: "1.0" }, ...PRIORITY],
    [pushover, { ...PUSHOVER, priority: "-0" }, ...PRIORITY],
    [pagerduty, { routing_key: "k".repeat(257) }, "format_options.routing_key", "must have at most 256 characters"],
    [opsgenie, { api_key: "" }, "format_options.api_key", "must be visible ASCII characters without spaces"],
  ])("of $name cannot be %j", (format, given, field, message) => {
    expect(parseOptions(format, given)).toEqual({ ok: false, field, message });
  });

  it("have no members that an object inherits, and unknown names are cut", () => {
    const proto = JSON.parse('{"__proto__": "a"}') as unknown;
    expect(parseOptions(slack, proto)).toMatchObject({ ok: false, field: "format_options.__proto__" });
    expect(parseOptions(pagerduty, { constructor: "a" })).toMatchObject({ field: "format_options.constructor" });
    expect(parseOptions(slack, { [`a\n${"b".repeat(1_000)}`]: "c" })).toMatchObject({
      field: `format_options.a ${"b".repeat(37)}…`,
    });
  });
});
