import { describe, expect, it } from "vitest";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import { findConflict, findQuorumConflict } from "#control-plane/monitors/vet.ts";
import { defaultDraft } from "#control-plane/outages/kinds/defaults.ts";
import { mergeGiven } from "#control-plane/monitors/settings/merge.ts";
import { parseChange, parseCreation } from "#control-plane/monitors/settings/parse.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Reads a creation with its default location as the routes do; returns the monitor, or its first problem as a line. */
function create(fields: Fields): MonitorDraft | string {
  const given = parseCreation({ url: "https://example.com", ...fields }, "current");
  if (!given.ok) return lineOf(given.problem);
  const type = given.value.check_type ?? "http";
  const merged = mergeGiven({ ...defaultDraft(type, 1), locations: ["eu-west"] }, given.value);
  if (!merged.ok) return lineOf(merged.problem);
  const conflict = findConflict(merged.value) ?? findQuorumConflict(merged.value);
  return conflict === null ? merged.value : lineOf(conflict);
}

function change(present: MonitorDraft, fields: Fields): MonitorDraft | string {
  const given = parseChange(fields, "current");
  if (!given.ok) return lineOf(given.problem);
  const merged = mergeGiven(present, given.value);
  if (!merged.ok) return lineOf(merged.problem);
  const conflict = findConflict(merged.value) ?? findQuorumConflict(merged.value);
  return conflict === null ? merged.value : lineOf(conflict);
}

function lineOf({ field, reason, message }: { field: string; reason: string; message: string }): string {
  return `${field}: ${reason}: ${message}`;
}

function made(fields: Fields): MonitorDraft {
  const monitor = create(fields);
  if (typeof monitor === "string") throw new Error(monitor);
  return monitor;
}

/** The problem of a value of type MX without its preference. */
const MX_VALUE =
  /^dns.values.0: type: must be a preference \(0 to 65535\) and a name, such as 10 mail.example.com, for type MX$/;

const HOST = { url: "example.com" };

describe("a new monitor", () => {
  it("of type dns looks for an A record unless it says otherwise", () => {
    const usual = { type: "A", op: "any", values: [], dnssec: "not_bogus" };
    expect(made({ ...HOST, check_type: "dns" }).dns).toEqual(usual);
    expect(made({ ...HOST, check_type: "dns", dns: null }).dns).toEqual(usual);
    expect(made({ ...HOST, check_type: "dns", dns: { type: "MX" } }).dns).toEqual({ ...usual, type: "MX" });
    const dns = { type: "TXT", op: "contains", values: ["v=spf1 -all"], dnssec: "secure" };
    expect(made({ ...HOST, check_type: "dns", dns }).dns).toEqual(dns);
  });

  it("has every option that its user gives", () => {
    const given = {
      name: "  Shop  ",
      check_type: "keyword",
      interval_minutes: 1_440,
      is_active: false,
      tags: ["shop", "team:web/eu_1.0-a", "shop"],
      method: "POST",
      request_headers: { "X-Token": " a b " },
      body: "{}\n",
      expected_code: 999,
      expected_codes: ["200", 204, "300-399", "4XX"],
      keyword: "Grüße",
      keyword_mode: "absent",
      follow: false,
      timeout_seconds: 30,
      json: { path: "$.a", op: "less", value: 5 },
      locations: ["eu-west", " us+AS64500 "],
      quorum: 2,
      retries: 0,
      recovery: 5,
      degraded_ms: 60_000,
      watch_domain: true,
      notify_email: true,
      notify_emails: ["a@example.com", { email: "b@example.com", confirmed: true }, "A@example.com"],
      repeat_minutes: 1,
    };
    expect(made(given)).toMatchObject({
      ...given,
      name: "Shop",
      tags: ["shop", "team:web/eu_1.0-a"],
      request_headers: { "X-Token": "a b" },
      expected_codes: [200, 204, "300-399", "4xx"],
      locations: ["eu-west", "us+AS64500"],
      notify_emails: ["a@example.com", "b@example.com"],
    });
  });

  it("takes numbers and switches as text, as everywhere", () => {
    const fields = { interval_minutes: "7", is_active: "0", degraded_ms: "5", quorum: "1" };
    expect(made(fields)).toMatchObject({ interval_minutes: 7, is_active: false, degraded_ms: 5, quorum: 1 });
  });

  it("ignores the fields of responses that are only read", () => {
    const read = {
      id: 7,
      status: "down",
      uptime: { d1: 1 },
      checks: [],
      heartbeat: null,
      visual: null,
      composite: null,
      ssl_days: null,
      certificate: null,
      domain: null,
    };
    expect(made({ ...read, created_at: "x", updated_at: "x", notify_state: "ok", paused_reason: "plan" })).toEqual(
      made({}),
    );
  });

  it("is named after its target if it has no name", () => {
    expect(made({ url: "HTTPS://example.com/shop" }).name).toBe("example.com/shop");
    expect(made({ url: `https://example.com/${"a".repeat(300)}` }).name).toHaveLength(200);
    expect(made({ url: "https://example.com/\u202egnp" }).name).toBe("monitor");
    expect(made({ url: "https://example.com/health?token=s3cret#top" }).name).toBe("example.com/health");
  });
});

describe("a wrong field is named with what is allowed:", () => {
  it.each<readonly [Fields, RegExp]>([
    [{ url: "" }, /^url: required/],
    [{ url: 5 }, /^url: type: must be a string/],
    [{ url: "a".repeat(8_193) }, /^url: range/],
    [{ url: "https://a.example/\r\nHost: b" }, /^url: type: must not contain control characters/],
    [{ name: "" }, /^name: range/],
    [{ name: "   " }, /^name: range/],
    [{ name: "a".repeat(201) }, /^name: range: must have 1 to 200 characters/],
    [{ name: "Shop\r\nBcc: all@example.com" }, /^name: type: must not contain control characters/],
    [{ name: "Shop\u0000" }, /^name: type/],
    [{ name: "a\ud800" }, /^name: type/],
    [{ name: "Shop \u202ednob" }, /^name: type: must not contain U\+202E, a character that reorders text/],
    [{ name: "Shop\u2028x" }, /^name: type/],
    [{ check_type: "heartbeat", locations: ["eu-west"] }, /^locations: unknown: is only for check_type http/],
    [{ heartbeat: { period_seconds: 60 } }, /^heartbeat: unknown: is only for check_type heartbeat/],
    [{ check_type: "heartbeat", heartbeat: { period_seconds: 29 } }, /^heartbeat.period_seconds: range/],
    [{ check_type: "heartbeat", heartbeat: { period_seconds: 31_622_401 } }, /^heartbeat.period_seconds: range/],
    [{ check_type: "heartbeat", heartbeat: { grace_seconds: 0 } }, /^heartbeat.grace_seconds: range/],
    [{ check_type: "heartbeat", heartbeat: { methods: "get" } }, /^heartbeat.methods: enum/],
    [{ check_type: "heartbeat", heartbeat: { speed: 1 } }, /^heartbeat.speed: unknown/],
    [{ visual: { full_page: true } }, /^visual: unknown: is only for check_type visual/],
    [{ check_type: "visual", timeout_seconds: 9 }, /^timeout_seconds: range: must be at least 10/],
    [{ check_type: "visual", locations: ["eu", "us"] }, /^locations: range: must have one item/],
    [{ check_type: "smtp" }, /^check_type: enum: must be one of http, keyword, ssl, domain, dns, ping, port/],
    [{ interval_minutes: 0 }, /^interval_minutes: range: must be between 1 and 1440/],
    [{ interval_minutes: 1_441 }, /^interval_minutes: range/],
    [{ interval_minutes: 1.5 }, /^interval_minutes: type/],
    [{ interval_minutes: null }, /^interval_minutes: type/],
    [{ expected_code: 99 }, /^expected_code: range: must be between 100 and 999/],
    [{ expected_code: 1_000 }, /^expected_code: range/],
    [{ expected_codes: [] }, /^expected_codes: range: must have at least 1 item/],
    [{ expected_codes: Array.from({ length: 21 }, () => 200) }, /^expected_codes: range: must have at most 20 items/],
    [{ expected_codes: [200, 99] }, /^expected_codes.1: range/],
    [{ expected_codes: ["299-200"] }, /^expected_codes.0: range/],
    [
      { expected_codes: ["0xx"] },
      /^expected_codes.0: range: must be a status of 100 to 999, a range such as "200-299", or a/,
    ],
    [{ expected_codes: ["200-299-300"] }, /^expected_codes.0: range/],
    [{ expected_codes: 200 }, /^expected_codes: type: .* or null/],
    [{ method: "PUT" }, /^method: enum: must be one of GET, HEAD, POST/],
    [{ timeout_seconds: 0 }, /^timeout_seconds: range: must be between 1 and 30/],
    [{ timeout_seconds: 31 }, /^timeout_seconds: range/],
    [{ retries: -1 }, /^retries: range: must be between 0 and 5/],
    [{ retries: 6 }, /^retries: range/],
    [{ recovery: 0 }, /^recovery: range: must be between 1 and 5/],
    [{ recovery: 6 }, /^recovery: range/],
    [{ degraded_ms: 0 }, /^degraded_ms: range: must be between 1 and 60000, or null/],
    [{ degraded_ms: 60_001 }, /^degraded_ms: range/],
    [{ repeat_minutes: 1_441 }, /^repeat_minutes: range: must be between 1 and 1440, or null/],
    [{ follow: "yes" }, /^follow: type: must be true or false/],
    [{ quorum: 0 }, /^quorum: range/],
    [{ quorum: "all" }, /^quorum: type/],
    [{ quorum: {} }, /^quorum: type/],
    [{ quorum: 2 }, /^quorum: range: must be majority or at most 1, the number of locations/],
    [{ locations: [] }, /^locations: range/],
    [{ locations: ["all"] }, /^locations.0: unknown_location: each item selects one probe/],
    [{ locations: ["nearest"] }, /^locations.0: unknown_location: each item selects one probe/],
    [{ locations: ["eu", "us:2"] }, /^locations.1: unknown_location: each item selects one probe/],
    [{ locations: ["us:1"] }, /^locations.0: unknown_location: each item selects one probe/],
    [{ locations: ["us+!AS1"] }, /^locations.0: unknown_location: each item selects one probe/],
    [{ locations: ["!us"] }, /^locations.0: unknown_location/],
    [{ locations: ["a,b"] }, /^locations.0: unknown_location/],
    [{ locations: [""] }, /^locations.0: unknown_location/],
    [{ locations: ["DE+AS1", "as1 de"] }, /^locations.1: duplicate/],
    [{ locations: "eu" }, /^locations: type/],
    [{ tags: ["UPPER"] }, /^tags.0: type: must be 1 to 50 of the characters/],
    [{ tags: ["ok", "a b"] }, /^tags.1: type/],
    [{ tags: [""] }, /^tags.0: type/],
    [{ tags: ["a".repeat(51)] }, /^tags.0: type/],
    [{ tags: ["a\n"] }, /^tags.0: type/],
    [{ tags: Array.from({ length: 21 }, (_, n) => `t${n}`) }, /^tags: range: must have at most 20 items/],
    [{ depends_on: 0 }, /^depends_on: range/],
    [{ depends_on: "a" }, /^depends_on: type/],
    [{ notify_emails: ["nobody"] }, /^notify_emails.0: type: must be an email address/],
    [{ notify_emails: ["a@b.example\r\nBcc: c@d.example"] }, /^notify_emails.0: type/],
    [{ notify_emails: ["<a@b.example>"] }, /^notify_emails.0: type/],
    [{ notify_emails: ["a@b.example", "c@"] }, /^notify_emails.1: type/],
    [{ notify_emails: Array.from({ length: 11 }, (_, n) => `${n}@b.example`) }, /^notify_emails: range/],
    [{ body: "x" }, /^body: enum: needs method POST/],
    [{ method: "POST", body: "a".repeat(65_537) }, /^body: range: must have at most 65536 characters, or null/],
    [{ method: "POST", body: "****" }, /^body: type: \*\*\*\* is what responses show/],
    [{ json: { path: "status", op: "exists" } }, /^json.path: type: must be a JSONPath/],
    [{ json: { path: "$.a[", op: "exists" } }, /^json.path: type: must be a JSONPath \(RFC 9535\): /],
    [{ json: { path: "$.a", op: "exists", value: 1 } }, /^json.value: type: must be left out/],
    [{ json: { path: "$.a", op: "less", value: "1" } }, /^json.value: type: must be a number/],
    [{ json: { path: "$.a", op: "matches" } }, /^json.op: enum/],
    [{ json: { op: "exists" } }, /^json.path: required/],
    [{ json: { path: "$.a", op: "exists", more: 1 } }, /^json.more: unknown/],
    [{ json: { path: "$", op: "exists" }, method: "HEAD" }, /^method: enum: must be GET or POST for a json/],
    [{ check_type: "keyword" }, /^keyword: required/],
    [{ check_type: "keyword", keyword: "" }, /^keyword: range/],
    [{ check_type: "keyword", keyword: "a".repeat(1_001) }, /^keyword: range: must have 1 to 1000 characters, or null/],
    [{ check_type: "keyword", keyword: "a\r\nb" }, /^keyword: type/],
    [{ check_type: "keyword", keyword: "a", method: "HEAD" }, /^method: enum: must be GET or POST for a keyword/],
    [{ ...HOST, check_type: "port" }, /^port: required/],
    [{ ...HOST, check_type: "port", port: 0 }, /^port: range: must be between 1 and 65535, or null/],
    [{ ...HOST, check_type: "port", port: 65_536 }, /^port: range/],
    [{ ...HOST, check_type: "dns", dns: { type: "ANY" } }, /^dns.type: enum/],
    [{ ...HOST, check_type: "dns", dns: { op: "equals" } }, /^dns.values: required/],
    [{ ...HOST, check_type: "dns", dns: { values: ["x"] } }, /^dns.values: type: must be left out/],
    [{ ...HOST, check_type: "dns", dns: { type: "MX", op: "not_contains", values: ["mx1.exam.test"] } }, MX_VALUE],
    [
      { ...HOST, check_type: "dns", dns: { op: "contains", values: ["192.0.2.1", "127.0.0.0/8"] } },
      /^dns.values.1: type/,
    ],
    [{ ...HOST, check_type: "dns", dns: { server: "8.8.8.8" } }, /^dns.server: unknown/],
    [{ colour: "red" }, /^colour: unknown: no such field/],
    [{ host: "example.com" }, /^host: unknown/],
  ])("%j", (fields, expected) => {
    expect(create(fields)).toMatch(expected);
  });

  it.each<readonly [Fields, string]>([
    [{ ...HOST, check_type: "ping", keyword: "x" }, "keyword"],
    [{ ...HOST, check_type: "ping", expected_code: 301 }, "expected_code"],
    [{ ...HOST, check_type: "dns", port: 53 }, "port"],
    [{ ...HOST, check_type: "dns", request_headers: { a: "b" } }, "request_headers"],
    [{ dns: { type: "A" } }, "dns"],
    [{ port: 443 }, "port"],
    [{ keyword: "x" }, "keyword"],
    [{ keyword_mode: "absent" }, "keyword_mode"],
  ])("one of another check type: %j", (fields, field) => {
    expect(create(fields)).toMatch(new RegExp(`^${field}: unknown: is only for check_type`));
  });
});

describe("a field of another check type", () => {
  it("is accepted with its default value, so that a record can be sent back", () => {
    const ping = made({ ...HOST, check_type: "ping" });
    expect(change(ping, { ...ping })).toEqual(ping);
    const dns = made({ ...HOST, check_type: "dns" });
    expect(change(dns, { ...dns })).toEqual(dns);
  });
});

describe("a change", () => {
  it("keeps what it does not name", () => {
    const present = made({ tags: ["a"], degraded_ms: 5, json: { path: "$", op: "exists" } });
    expect(change(present, {})).toEqual(present);
    expect(change(present, { name: "New" })).toEqual({ ...present, name: "New" });
    expect(change(present, { degraded_ms: null, json: null })).toEqual({ ...present, degraded_ms: null, json: null });
  });

  it("keeps a stored DNS condition that is refused today, and checks one that is given", () => {
    const dns = { type: "MX", op: "not_contains", values: ["mx1.exam.test"], dnssec: "not_bogus" } as const;
    const present = { ...made({ ...HOST, check_type: "dns" }), dns };
    expect(change(present, { name: "New" })).toEqual({ ...present, name: "New" });
    expect(change(present, { dns })).toMatch(MX_VALUE);
  });

  it("of the check type keeps shared fields and drops those of the old type", () => {
    const http = made({ method: "POST", body: "x", expected_codes: [204], degraded_ms: 9 });
    const keyword = change(http, { check_type: "keyword", keyword: "x" });
    expect(keyword).toEqual({ ...http, check_type: "keyword", keyword: "x" });
    const port = change(keyword as MonitorDraft, { check_type: "port", port: 22, url: "example.com" });
    const expected = { check_type: "port", port: 22, url: "example.com", degraded_ms: 9, name: "example.com" };
    expect(port).toEqual({ ...defaultDraft("port", 1), locations: ["eu-west"], ...expected });
    expect(change(http, { check_type: "keyword" })).toMatch(/^keyword: required/);
  });

  it("that would contradict other fields is refused", () => {
    const post = made({ method: "POST", body: "x" });
    expect(change(post, { method: "GET" })).toMatch(/^body: enum/);
    expect(change(post, { method: "GET", body: null })).toMatchObject({ method: "GET", body: null });
    const two = made({ locations: ["a", "b"], quorum: 2 });
    expect(change(two, { locations: ["a"] })).toMatch(/^quorum: range/);
  });

  it("with the masks of a response keeps the secrets", () => {
    const present = made({ method: "POST", body: "b", request_headers: { "X-A": "1", "X-B": "2" } });
    const masked = { "x-a": "****", "X-B": "****", "X-C": "3" };
    expect(change(present, { body: "****", request_headers: masked })).toMatchObject({
      body: "b",
      request_headers: { "x-a": "1", "X-B": "2", "X-C": "3" },
    });
    expect(change(present, { request_headers: {} })).toMatchObject({ request_headers: {} });
    expect(change(present, { request_headers: { "X-D": "****" } })).toMatch(/^request_headers.X-D: type/);
  });
});
