import { expect, it } from "vitest";
import { STATUS_OF_CODE } from "#control-plane/http/errors.ts";
import { exitCodeOf, exitCodeOfLocations, exitCodeOfVerdict } from "#shared/client/exit-codes.ts";
import { SOURCES } from "#shared/contracts/outcome.ts";

const STATUS: Readonly<Record<keyof typeof STATUS_OF_CODE, number>> = {
  missing_parameter: 2,
  invalid_url: 2,
  target_not_allowed: 2,
  auth_required: 3,
  invalid_api_key: 3,
  insufficient_scope: 3,
  plan_limit_exceeded: 3,
  plan_restricted: 3,
  not_found: 2,
  method_not_allowed: 2,
  conflict: 2,
  gone: 2,
  payload_too_large: 2,
  unsupported_media_type: 2,
  idempotency_mismatch: 2,
  rate_limit_exceeded: 3,
  daily_limit_exceeded: 3,
  internal_error: 5,
  request_failed: 5,
  probe_unavailable: 4,
  service_unavailable: 5,
};

it.each(Object.entries(STATUS_OF_CODE))("an answer %s, %i, has one exit status", (code, status) => {
  expect(exitCodeOf(status, { error: { code, message: "" } })).toBe(STATUS[code as keyof typeof STATUS]);
});

it.each([
  ["target", 1],
  ["resolver", 1],
  ["service", 5],
  ["probe", 4],
] as const)("a failed request is judged by its source: %s is %i", (source, exit) => {
  expect(SOURCES).toContain(source);
  expect(exitCodeOf(502, { error: { code: "request_failed", source } })).toBe(exit);
  expect(exitCodeOf(0, { error: { code: "request_failed", source } })).toBe(exit);
});

it.each([
  ["missing_parameter", 2],
  ["target_not_allowed", 2],
  ["rate_limit_exceeded", 3],
  ["plan_limit_exceeded", 3],
  ["probe_unavailable", 4],
  ["internal_error", 5],
  ["toString", 5],
] as const)("the error of a location or a stream, %s, has no HTTP status and is %i", (code, exit) => {
  expect(exitCodeOf(0, { error: { code } })).toBe(exit);
});

it.each([
  [200, { data: {} }, 0],
  [201, null, 0],
  [301, null, 5],
  [400, null, 2],
  [401, null, 3],
  [403, "<html>", 3],
  [404, [], 2],
  [409, { error: "x" }, 2],
  [422, { error: { code: 7 } }, 2],
  [429, null, 3],
  [500, null, 5],
  [502, null, 5],
  [503, null, 5],
  [504, null, 5],
] as const)("status %i with any body %j is %i", (status, body, exit) => {
  expect(exitCodeOf(status, body)).toBe(exit);
});

it.each([
  ["good", [0, 0, 0]],
  ["neutral", [0, 0, 0]],
  ["warning", [0, 1, 0]],
  ["bad", [1, 1, 0]],
] as const)("a verdict %s with --fail-on critical, warning and never is %j", (verdict, exits) => {
  expect([
    exitCodeOfVerdict(verdict, "critical"),
    exitCodeOfVerdict(verdict, "warning"),
    exitCodeOfVerdict(verdict, "never"),
  ]).toEqual(exits);
});

it.each([
  [[0, 0], 0],
  [[0, 1, 0], 1],
  [[0, 4], 0],
  [[4, 1, 3], 1],
  [[4, 4], 4],
  [[2, 5], 5],
  [[], 4],
] as const)("of several locations %j the worst result counts: %i", (codes, exit) => {
  expect(exitCodeOfLocations(codes)).toBe(exit);
});
