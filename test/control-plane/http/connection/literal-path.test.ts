import { expect, it } from "vitest";
import { acceptLiteralPath } from "#control-plane/http/connection/literal-path.ts";

it.each([
  "/api/heartbeat/abc",
  "/api/heartbeat/abc/start?rid=%zz",
  "/api/heartbeat/%41%20%F0%9F%92%94/%2Fx",
  "/api/heartbeat/%2500",
  "/api/v4/%zz",
  "/api/heartbeats/%00",
])("the target %s stays as it is", (target) => {
  expect(acceptLiteralPath(target)).toBe(target);
});

it.each([
  ["/api/heartbeat/%zz", "/api/heartbeat/%25zz"],
  ["/api/heartbeat/%", "/api/heartbeat/%25"],
  ["/api/heartbeat/abc/%00?rid=%00", "/api/heartbeat/abc/%2500?rid=%00"],
  ["/api/heartbeat/%0a%41#%zz", "/api/heartbeat/%250a%2541#%zz"],
  ["/api/heartbeat/%c0%af", "/api/heartbeat/%25c0%25af"],
  ["/api/heartbeat/%C2%80", "/api/heartbeat/%25C2%2580"],
])("the target %j becomes %s, which a router can read", (target, expected) => {
  expect(acceptLiteralPath(target)).toBe(expected);
  expect(decodeURIComponent(expected.split(/[?#]/)[0] ?? "")).not.toMatch(/\p{Cc}/u);
});
