import { describe, expect, it } from "vitest";
import { startWireServer } from "#test/servers/wire.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane());
// No allow lists, so this agent can reach only the public internet.
useAgent(plane, "eu-west", { VANTAGE_ALLOW_TARGETS: "", VANTAGE_ALLOW_NAMES: "" });
const key = await plane.createKey();
const sentinel = await stopAfterAll(startWireServer(() => {}, { atOnce: true }));

describe("an invalid parameter is named", () => {
  it.each([
    ["check", "url", "required"],
    ["check?url=", "url", "required"],
    ["check?url=not a host", "url", "invalid_url"],
    ["check?url=http://a.example/%0d&url=http://b.example/", "url", "duplicate"],
    ["check?url=http://exa%0d%0ample.com/", "url", "invalid_url"],
    ["check?url=http://user:pass@example.com/", "url", "invalid_url"],
    [`check?url=http://example.com/${"a".repeat(8_200)}`, "url", "range"],
    ["check?url=http://example.com/&method=PUT", "method", "enum"],
    ["check?url=http://example.com/&follow=yes", "follow", "enum"],
    ["check?url=http://example.com/&timeout=31", "timeout", "range"],
    ["check?url=http://example.com/&timeout=0", "timeout", "range"],
    ["check?url=http://example.com/&timeout=1e1", "timeout", "type"],
    ["check?url=http://example.com/&timeout=", "timeout", "type"],
    ["check?url=http://example.com/&locations=", "locations", "unknown_location"],
    ["check?url=http://example.com/&dry_run=maybe", "dry_run", "enum"],
    ["dns?domain=http://example.com/", "domain", "type"],
    ["dns?domain=exa mple.com", "domain", "type"],
    ["dns?domain=example.com&types=A,AXFR", "types", "enum"],
    ["ssl?host=example.com&port=65536", "port", "range"],
    ["ssl?host=example.com:443", "host", "type"],
    ["ip", "host", "required"],
    ["ping?host=example.com&count=11", "count", "range"],
    ["ping?host=example.com&action=sweep", "action", "enum"],
    ["ping?host=example.com&action=ports", "ports", "required"],
    ["ping?host=example.com&action=ports&ports=0", "ports", "range"],
    ["ping?host=example.com&action=traceroute&max_hops=31", "max_hops", "range"],
    ["health", "url", "required"],
  ])("%s", async (path, field, reason) => {
    const { status, body } = await plane.call(`/api/v4/${path}`, { key });
    expect(body.error).toMatchObject({ code: "missing_parameter", field, reason });
    expect(status).toBe(400);
  });

  it.each([
    ['{"url": ["http://example.com/"]}', "url", "type"],
    ['{"url": {"href": "http://example.com/"}}', "url", "type"],
    ['{"url": 5}', "url", "type"],
    ['{"url": null}', "url", "type"],
    ['{"url": "http://example.com/", "timeout": 5.5}', "timeout", "type"],
    ['{"url": "http://example.com/", "timeout": true}', "timeout", "type"],
    ['{"url": "http://example.com/", "__proto__": {"timeout": 3}}', "__proto__", "unknown"],
    ['{"url": "http://example.com/", "locations": {"region": "eu"}}', "locations", "type"],
    ['{"url": ', "body", "invalid_json"],
    ["[]", "body", "invalid_json"],
    ['"text"', "body", "invalid_json"],
    [`{"url":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, "body", "invalid_json"],
  ])("in JSON: %.60s", async (body, field, reason) => {
    const headers = { "content-type": "application/json" };
    const answer = await plane.call("/api/v4/check", { key, body, headers });
    expect(answer.body.error).toMatchObject({ code: "missing_parameter", field, reason });
    expect(answer.status).toBe(400);
  });
});

describe("a request that cannot be read", () => {
  it("over 1 MB is 413, of another type 415, to another path 404, by another method 405", async () => {
    const json = { "content-type": "application/json" };
    const big = await plane.call("/api/v4/check", { key, headers: json, body: `{"url":"${"a".repeat(1_048_600)}"}` });
    expect([big.status, big.body.error]).toMatchObject([413, { code: "payload_too_large" }]);
    const xml = await plane.call("/api/v4/check", { key, headers: { "content-type": "text/xml" }, body: "<url/>" });
    expect([xml.status, xml.body.error]).toMatchObject([415, { code: "unsupported_media_type" }]);
    const nowhere = await plane.call("/api/v4/nowhere", { key });
    expect([nowhere.status, nowhere.body.error]).toMatchObject([404, { code: "not_found" }]);
    const put = await plane.call("/api/v4/check", { key, method: "PUT" });
    expect([put.status, put.body.error]).toMatchObject([405, { code: "method_not_allowed" }]);
    expect(put.headers.get("allow")).toBe("GET, POST");
    expect(put.headers.get("x-request-id")).toBeTruthy();
  });
});

describe("a target that must not be reached", () => {
  it.each(["127.1", "[::ffff:127.0.0.1]", "169.254.169.254", "printer.local"])("as a URL: %s", async (host) => {
    const url = encodeURIComponent(`http://${host}:${sentinel.port}/`);
    const { status, body } = await plane.call(`/api/v4/check?url=${url}`, { key });
    expect(body.error).toMatchObject({ code: "target_not_allowed" });
    expect(status).toBe(400);
  });

  it.each(["ssl", "ip", "ping", "ping?action=traceroute", "ping?action=ports&ports=80"])(
    "as the host of %s, in any version",
    async (tool) => {
      const separator = tool.includes("?") ? "&" : "?";
      for (const version of ["v4", "v3"]) {
        const path = `/api/${version}/${tool}${separator}host=127.0.0.1`;
        const { body } = await plane.call(path, { key });
        expect(body.error).toMatchObject({ code: "target_not_allowed" });
      }
    },
  );

  it("from every location: the same answer for all ranges, and no packet to the target", async () => {
    const url = encodeURIComponent(`http://127.0.0.1:${sentinel.port}/`);
    const { status, body } = await plane.call(`/api/v4/check?url=${url}&locations=all`, { key });
    expect([status, body.error]).toMatchObject([400, { code: "target_not_allowed" }]);
    expect(sentinel.accepted()).toBe(0);
  });
});
