import { describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

// Bodies as large as the service takes, filled with one list, object or text: each is refused, and its field is named.

const MB = 1_048_576;

const plane = await stopAfterAll(startControlPlane());
const key = await plane.createKey();

const list = (item: string, bytes: number): string =>
  `[${`${item},`.repeat(Math.floor(bytes / (item.length + 1)) - 1)}${item}]`;
const members = (bytes: number): string =>
  `{${Array.from({ length: Math.floor(bytes / 12) }, (_, n) => `"k${n.toString(36)}":1`).join(",")}}`;

const SIZE = MB - 1_000;
const NUMBERS = list("200", SIZE);
const TEXTS = list('"a"', SIZE);
const LISTS = list("[[]]", SIZE);
const MEMBERS = members(SIZE);
const LONG = `"${"x".repeat(SIZE)}"`;

const WEBHOOK = '"url":"https://example.com/"';
const MONITOR = '"url":"https://example.com/"';

const PAGE = '"title":"x","slug":"oversize"';
const inDocument = (lists: string): string => `{"version":2,"monitors":[],${lists}}`;
const inPage = (monitors: string): string => `{${PAGE},"monitors":${monitors}}`;
const inWindow = (monitors: string): string =>
  `{"title":"x","starts_at":"2099-01-01T00:00:00Z","duration_seconds":60,"monitors":${monitors}}`;

function send(method: string, path: string, body: string) {
  return plane.call(`/api/${path}`, { method, key, body, headers: { "content-type": "application/json" } });
}

describe("a body of 1 MB is refused and its field is named", () => {
  it.each<readonly [method: string, path: string, field: string, body: string]>([
    ["POST", "v4/monitors", "expected_codes", `{${MONITOR},"expected_codes":${NUMBERS}}`],
    ["POST", "v4/monitors", "notify_emails", `{${MONITOR},"notify_emails":${TEXTS}}`],
    ["POST", "v4/monitors", "tags", `{${MONITOR},"tags":${LISTS}}`],
    ["POST", "v4/monitors", "locations", `{${MONITOR},"locations":${TEXTS}}`],
    ["POST", "v4/monitors", "request_headers", `{${MONITOR},"request_headers":${MEMBERS}}`],
    ["POST", "v4/monitors", "dns.values", `{${MONITOR},"check_type":"dns","dns":{"values":${TEXTS}}}`],
    ["POST", "v4/monitors", "heartbeat.k0", `{"check_type":"heartbeat","heartbeat":${MEMBERS}}`],
    ["POST", "v4/monitors", "visual.ignore", `{${MONITOR},"visual":{"ignore":${TEXTS}}}`],
    ["POST", "v4/monitors", "visual", `{${MONITOR},"visual":{"ignore":${LISTS}}}`],
    ["POST", "v4/monitors", "json.value", `{${MONITOR},"json":{"path":"$","op":"equals","value":${LONG}}}`],
    ["POST", "v4/monitors", "k0", MEMBERS],
    ["PUT", "v4/monitors?id=1", "notify_emails", `{"notify_emails":${LISTS}}`],
    ["PUT", "v4/monitors?action=bulk", "ids", `{"set":{"retries":0},"ids":${TEXTS}}`],
    ["PUT", "v4/monitors?action=bulk", "set.k0", `{"ids":[1],"set":${MEMBERS}}`],
    ["PUT", "v4/monitors?action=bulk", "set.notify_emails", `{"ids":[1],"set":{"notify_emails":${TEXTS}}}`],
    ["POST", "v3/monitors", "k0", `{${MONITOR},${MEMBERS.slice(1)}`],
    ["PUT", "v3/monitors?id=1", "k0", MEMBERS],
    ["POST", "v4/monitors?action=import", "monitors.0.expected_codes", inRow(`"expected_codes":${NUMBERS}`)],
    ["POST", "v4/monitors?action=import", "monitors.0.k0", inRow(MEMBERS.slice(1, -1))],
    ["POST", "v4/monitors?action=import", "k0", `{"version":1,"monitors":[{}],${MEMBERS.slice(1)}`],
    ["POST", "v4/monitors?action=import", "monitors.0.secrets_missing", inRow(`"secrets_missing":${TEXTS}`)],
    ["POST", "v4/monitors?action=import", "status_pages", inDocument(`"status_pages":${LISTS}`)],
    ["POST", "v4/monitors?action=import", "maintenance", inDocument(`"maintenance":${NUMBERS}`)],
    ["POST", "v4/monitors?action=import", "status_pages.0.monitors", inDocument(`"status_pages":[${inPage(NUMBERS)}]`)],
    [
      "POST",
      "v4/monitors?action=import",
      "status_pages.0.k0",
      inDocument(`"status_pages":[{${PAGE},${MEMBERS.slice(1)}]`),
    ],
    ["POST", "v4/monitors?action=import", "maintenance.0.monitors", inDocument(`"maintenance":[${inWindow(TEXTS)}]`)],
    ["POST", "v4/batch", "urls", `{"urls":${NUMBERS}}`],
    ["POST", "v4/measurements", "locations", `{"tool":"check","params":{${MONITOR}},"locations":${TEXTS}}`],
    ["POST", "v4/measurements", "params", `{"tool":"check","params":${MEMBERS}}`],
    ["POST", "v4/webhooks", "events", `{${WEBHOOK},"events":${TEXTS}}`],
    ["POST", "v4/webhooks", "headers", `{${WEBHOOK},"headers":${MEMBERS}}`],
    ["POST", "v4/webhooks", "filter.monitor_ids", `{${WEBHOOK},"filter":{"monitor_ids":${NUMBERS}}}`],
    ["POST", "v4/webhooks", "format_options", `{${WEBHOOK},"format":"ntfy","format_options":${MEMBERS}}`],
    ["POST", "v4/webhooks", "secret", `{${WEBHOOK},"secret":${LONG}}`],
    ["POST", "v4/status", "monitors", `{"title":"Shop","slug":"shop","monitors":${LISTS}}`],
    [
      "POST",
      "v4/status",
      "groups.0.monitor_ids",
      `{"title":"Shop","slug":"shop","groups":[{"name":"A","monitor_ids":${NUMBERS}}]}`,
    ],
    ["POST", "v4/incidents", "monitor_ids", `{"title":"Slow","text":"Known.","monitor_ids":${NUMBERS}}`],
    ["PUT", "v4/incidents?id=1", "update.k0", `{"update":${MEMBERS}}`],
    ["POST", "v4/maintenance", "tags", `{"title":"Backup","starts_at":"2099-01-01T00:00:00Z","tags":${TEXTS}}`],
    ["POST", "v4/check", "locations", `{${MONITOR},"locations":${TEXTS}}`],
    ["POST", "v4/check", "body", MEMBERS],
    ["POST", "v3/check", "body", `{"api_key":"x",${MEMBERS.slice(1)}`],
  ])("%s %s: %s", async (method, path, field, body) => {
    expect(body.length).toBeLessThanOrEqual(MB);
    const { status, body: answer, text } = await send(method, path, body);
    expect([status, answer.error], text.slice(0, 500)).toMatchObject([400, { field }]);
    expect(text.length).toBeLessThan(5_000);
  });
});

it("a form of more fields than any call has is refused", async () => {
  const answer = await plane.call("/api/v4/check", {
    key,
    body: "a&".repeat(MB / 2),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
  expect([answer.status, answer.body.error]).toMatchObject([400, { field: "body", reason: "range" }]);
});

it("a call of a tool with more arguments than any has is refused as a message", async () => {
  const body = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"check","arguments":${members(SIZE)}}}`;
  const { status, body: answer } = await plane.call("/mcp", {
    key,
    body,
    headers: { "content-type": "application/json" },
  });
  expect([status, answer]).toMatchObject([
    400,
    { id: 7, error: { message: "message.params.arguments: must have at most 100 fields." } },
  ]);
});

function inRow(fields: string): string {
  return `{"version":1,"monitors":[{${fields}}]}`;
}
