import { describe, expect, it } from "vitest";
import type { FormatName } from "#control-plane/notify/webhooks/formats/formats.ts";
import { FORMATS } from "#control-plane/notify/webhooks/formats/formats.ts";
import { toOutcome } from "#control-plane/notify/webhooks/send/outcome.ts";

const NOW = new Date("2026-03-01T12:00:00Z");

function outcomeOf(name: FormatName, body: string | object, headers: readonly { name: string; value: string }[] = []) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return toOutcome({ ok: true, status: 200, headers, body: text, isTruncated: false }, NOW, FORMATS[name]);
}

/** Answers with success that refuse the message for good. */
const PERMANENT: readonly (readonly [FormatName, string | object])[] = [
  ["slack", "no_service"],
  ["slack", "invalid_blocks\n"],
  ["slack", { ok: false, error: "channel_not_found" }],
  ["telegram", { ok: false, error_code: 400, description: "Bad Request: chat not found" }],
  ["telegram", { ok: false, error_code: 403, description: "Forbidden: bot was kicked from the group chat" }],
  ["teams", "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 404 with Con"],
  ["discord", { message: "Unknown Webhook", code: 10_015 }],
  ["google-chat", { error: { code: 404, message: "Space not found.", status: "NOT_FOUND" } }],
  ["mattermost", { id: "web.incoming_webhook.channel.app_error", message: "Couldn't find", status_code: 404 }],
  ["ntfy", { code: 40_301, http: 403, error: "forbidden" }],
  ["gotify", { error: "Unauthorized", errorCode: 401, errorDescription: "you need to provide a valid token" }],
  ["pushover", { user: "invalid", errors: ["user identifier is invalid"], status: 0, request: "5042853c" }],
  ["pagerduty", { status: "invalid event", message: "Event object is invalid", errors: ["Invalid routing key"] }],
  ["opsgenie", { code: 401, message: "Key is not valid", took: 0.001, requestId: "43a29c5c" }],
  ["jsm", { message: "Could not authenticate", code: 403, requestId: "43a29c5c" }],
  ["incident-io", { type: "validation_error", status: 422, errors: [] }],
  ["alertmanager", { code: 601, message: "0.labels in body is required" }],
];

/** Answers with success that refuse the message for now. */
const TEMPORARY: readonly (readonly [FormatName, string | object])[] = [
  ["slack", "rollup_error"],
  ["slack", { ok: false, error: "internal_error" }],
  ["telegram", { ok: false, error_code: 429, description: "Too Many Requests: retry after 5" }],
  ["telegram", { ok: false }],
  ["teams", "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with Con"],
  ["teams", "Webhook message delivery failed with error: Error contacting Microsoft Teams endpoint"],
  ["teams", { error: { code: "WorkflowTriggerIsNotEnabled", message: "Could not execute workflow" } }],
  ["discord", { message: "You are being rate limited.", retry_after: 0.3, global: false }],
  ["google-chat", { error: { code: 429, status: "RESOURCE_EXHAUSTED" } }],
  ["ntfy", { code: 42_901, http: 429, error: "limit reached" }],
  ["pagerduty", { status: "throttle exceeded", message: "Requests for this service are arriving too quickly" }],
  ["opsgenie", { message: "Something went wrong", took: 0.001, requestId: "43a29c5c" }],
  ["alertmanager", { status: "error", errorType: "server_error", error: "no" }],
];

/** Answers of success, also of receivers that only speak a provider's format, and what nobody knows. */
const TAKEN: readonly (readonly [FormatName, string | object])[] = [
  ["slack", "ok"],
  ["slack", ""],
  ["slack", "message_received"],
  ["slack", { result: "success", msg: "" }],
  ["slack", { ok: true, ts: "1" }],
  ["slack", "<html>no_service</html>"],
  ["telegram", { ok: true, result: { message_id: 365, text: '{"ok":false}' } }],
  ["telegram", ""],
  ["teams", "1"],
  ["teams", ""],
  ["discord", { id: "1", embeds: [{ code: 10_015 }] }],
  ["discord", ""],
  ["google-chat", { name: "spaces/A/messages/B", text: '"error"', cardsV2: [{ error: { code: 404 } }] }],
  ["mattermost", "ok"],
  ["ntfy", { id: "sPs71M8A2T", event: "message", message: "http 500", http: undefined }],
  ["gotify", { id: 25, message: "errorCode: 401" }],
  ["pushover", { status: 1, request: "647d2300" }],
  ["pagerduty", { status: "success", message: "Event processed", dedup_key: "7" }],
  ["opsgenie", { result: "Request will be processed", took: 0.302, requestId: "43a29c5c" }],
  ["jsm", { result: "Request will be processed", requestId: "43a29c5c" }],
  ["incident-io", { status: "success", message: "Event accepted for processing", deduplication_key: "7" }],
  ["alertmanager", ""],
];

describe("an answer with success that refuses the message", () => {
  it.each(PERMANENT)("of %s fails at once: %j", (name, body) => {
    expect(outcomeOf(name, body)).toMatchObject({ kind: "refused", code: "refused_by_provider", responseCode: 200 });
    expect(outcomeOf(name, body)).not.toHaveProperty("isOwn");
  });

  it.each(TEMPORARY)("of %s is tried again: %j", (name, body) => {
    expect(outcomeOf(name, body)).toMatchObject({ kind: "retry", code: "refused_by_provider", responseCode: 200 });
  });

  it.each(TAKEN)("is none of %s: %j", (name, body) => {
    expect(outcomeOf(name, body)).toMatchObject({ kind: "delivered" });
  });

  it("is tried with each format but the standard one, whose answers say nothing", () => {
    const names = new Set([...PERMANENT, ...TEMPORARY].map(([name]) => name));
    expect(Object.keys(FORMATS).filter((name) => !names.has(name as FormatName))).toEqual(["standard"]);
    for (const [, body] of [...PERMANENT, ...TEMPORARY]) {
      expect(outcomeOf("standard", body)).toMatchObject({ kind: "delivered" });
    }
  });

  it("has its first 200 characters as reason, on one line", () => {
    const long = { ok: false, error_code: 400, description: `a\n${"b".repeat(300)}` };
    const { message } = outcomeOf("telegram", JSON.stringify(long, null, 2)) as { readonly message: string };
    expect(message).toMatch(/^\{ "ok": false, "error_code": 400, "description": "a\\nb{50,}…$/);
    expect(message).toHaveLength(200);
  });

  it("makes the next attempt wait as long as it says", () => {
    const headers = [{ name: "retry-after", value: "5" }];
    expect(outcomeOf("telegram", { ok: false, error_code: 429 }, headers)).toMatchObject({ waitMs: 5_000 });
  });
});
