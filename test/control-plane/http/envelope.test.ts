import { describe, expect, it } from "vitest";
import { codeInVersion, errorBody, successBody } from "#control-plane/http/envelope.ts";

const facts = { requestId: "req_1", durationMs: 12 };
const pagination = { total: 3, page: 1, per_page: 25, pages: 1 };
const extras = { cached: true, pagination, location: { region: "eu-west" } };

describe("a success", () => {
  it("is {data, meta} with the version in v4, additive fields included", () => {
    expect(successBody("v4", { a: 1 }, facts, extras)).toEqual({
      data: { a: 1 },
      meta: {
        request_id: "req_1",
        duration_ms: 12,
        api_version: "4.0",
        cached: true,
        pagination,
        location: { region: "eu-west" },
      },
    });
  });

  it("is the same in v3 without additive fields", () => {
    expect(successBody("v3", [1], facts, extras)).toEqual({
      data: [1],
      meta: { request_id: "req_1", duration_ms: 12, api_version: "3.0", cached: true, pagination },
    });
  });

  it("has ok next to data in v2", () => {
    expect(successBody("v2", { a: 1 }, facts, { cached: false, share_id: "x" })).toEqual({
      ok: true,
      data: { a: 1 },
      meta: { request_id: "req_1", duration_ms: 12, cached: false },
    });
  });

  it("is flat in v1; a list, which has no fields, is in data", () => {
    expect(successBody("v1", { a: 1 }, facts)).toEqual({ success: true, a: 1, request_id: "req_1" });
    expect(successBody("v1", [1], facts, { pagination })).toEqual({
      success: true,
      data: [1],
      pagination,
      request_id: "req_1",
    });
  });
});

describe("an error", () => {
  const details = { message: "No.", field: "url", reason: "type", retryAfterSeconds: 1, headers: { a: "b" } };

  it("has code, message and details, and the version in v4 only", () => {
    const error = { code: "conflict", message: "No.", field: "url", reason: "type", retry_after_seconds: 1 };
    const meta = { request_id: "req_1", duration_ms: 12 };
    expect(errorBody("v4", "conflict", details, facts)).toEqual({ error, meta: { ...meta, api_version: "4.0" } });
    expect(errorBody("v3", "conflict", details, facts)).toEqual({ error, meta });
  });

  it("is a message in v2 and v1", () => {
    const meta = { request_id: "req_1", duration_ms: 12 };
    expect(errorBody("v2", "conflict", details, facts)).toEqual({ ok: false, error: "No.", meta });
    expect(errorBody("v1", "conflict", details, facts)).toEqual({ success: false, error: "No." });
  });

  it("is invalid_url for a bad url before v4, and missing_parameter for everything else", () => {
    expect(codeInVersion("v4", "missing_parameter", "url")).toBe("missing_parameter");
    expect(codeInVersion("v3", "missing_parameter", "url")).toBe("invalid_url");
    expect(codeInVersion("v1", "missing_parameter", "url")).toBe("invalid_url");
    expect(codeInVersion("v3", "missing_parameter", "timeout")).toBe("missing_parameter");
    expect(codeInVersion("v3", "not_found", "url")).toBe("not_found");
  });
});
