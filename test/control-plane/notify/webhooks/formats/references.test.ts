import { describe, expect, it } from "vitest";
import type { FormatName } from "#control-plane/notify/webhooks/formats/formats.ts";
import { FORMATS } from "#control-plane/notify/webhooks/formats/formats.ts";
import { findReference } from "#control-plane/notify/webhooks/formats/reference.ts";

/** Answers as the providers' documentation shows them, shortened. */
const ANSWERS: readonly (readonly [FormatName, object, string])[] = [
  [
    "discord",
    { type: 0, content: "", embeds: [{ id: "no", title: "a" }], author: { id: "no" }, id: "1234567890123456789" },
    "1234567890123456789",
  ],
  ["google-chat", { name: "spaces/AAA/messages/BBB.BBB", sender: { name: "users/1" } }, "spaces/AAA/messages/BBB.BBB"],
  ["telegram", { ok: true, result: { message_id: 365, from: { id: 1 }, chat: { id: -100 }, text: "a" } }, "365"],
  ["ntfy", { id: "sPs71M8A2T", time: 1_643_935_928, event: "message", topic: "alerts" }, "sPs71M8A2T"],
  ["gotify", { id: 25, appid: 5, message: "a", title: "b", date: "2018-02-27T19:36:10+01:00" }, "25"],
  ["pushover", { status: 1, request: "647d2300-702c-4b38-8b2f-d56326ae460b" }, "647d2300-702c-4b38-8b2f-d56326ae460b"],
  ["pagerduty", { status: "success", message: "Event processed", dedup_key: "7" }, "7"],
  ["opsgenie", { result: "Request will be processed", took: 0.302, requestId: "43a29c5c" }, "43a29c5c"],
  ["jsm", { result: "Request will be processed", requestId: "43a29c5c", took: 0.1 }, "43a29c5c"],
  ["incident-io", { deduplication_key: "7", message: "Event accepted for processing", status: "success" }, "7"],
];

describe("the id of a message at its provider", () => {
  it.each(ANSWERS)("is in the answer of %s", (name, answer, id) => {
    expect(FORMATS[name].reference?.(JSON.stringify(answer))).toBe(id);
    expect(FORMATS[name].reference?.(JSON.stringify(answer, null, 2))).toBe(id);
  });

  it("is tried with an answer of each provider that has one", () => {
    const speaking = Object.values(FORMATS).filter(({ reference }) => reference !== undefined);
    expect(ANSWERS.map(([name]) => name)).toEqual(expect.arrayContaining(speaking.map(({ name }) => name)));
  });

  it("is not in the answers of the others", () => {
    const silent = Object.values(FORMATS).filter(({ reference }) => reference === undefined);
    expect(silent.map(({ name }) => name)).toEqual(["standard", "slack", "teams", "mattermost", "alertmanager"]);
  });

  it("is found in an answer that is cut off behind it, because chats repeat the message", () => {
    const whole = JSON.stringify({ ok: true, result: { message_id: 365, text: '"{[💥'.repeat(3_000) } });
    const cut = (length: number) => FORMATS.telegram.reference?.(whole.slice(0, length));
    const behind = whole.indexOf("365,") + 4;
    expect([4_096, 4_095, behind + 12, behind].map(cut)).toEqual(["365", "365", "365", "365"]);
    expect(cut(behind - 1)).toBeNull();
  });

  it.each([
    ["nothing", ""],
    ["no JSON", "ok"],
    ["a page", "<html>id</html>"],
    ["no object", "[1]"],
    ["no such member", '{"a":"id"}'],
    ["a member of another object", '{"a":{"id":"b"}}'],
    ["a member of an object in a list", '[{"id":"b"}]'],
    ["an object", '{"id":{"id":"b"}}'],
    ["a list", '{"id":["b"]}'],
    ["null", '{"id":null}'],
    ["true", '{"id":true}'],
    ["an empty string", '{"id":""}'],
    ["spaces", '{"id":"a b"}'],
    ["a line break", '{"id":"a\\nb"}'],
    ["letters of other alphabets", '{"id":"ж"}'],
    ["a broken escape", '{"id":"\\x"}'],
    ["a number that may be cut off", '{"id":12'],
    ["a string that is cut off", '{"id":"12'],
    ["more than 255 characters", `{"id":"${"a".repeat(256)}"}`],
    ["an end of what has not begun", ']}:"id":"a"'],
    ["deep nesting", `{"a":${"[".repeat(4_000)}`],
  ])("is null for %s", (_name, body) => {
    expect(findReference(body, ["id"])).toBeNull();
  });

  it("has up to 255 characters, escapes read", () => {
    expect(findReference(`{"id":"${"a".repeat(255)}"}`, ["id"])).toBe("a".repeat(255));
    expect(findReference('{"id":"\\u0041\\/b"}', ["id"])).toBe("A/b");
    expect(findReference('{"\\u0069d":12345678901234567890}', ["id"])).toBe("12345678901234567890");
  });
});
