import { expect, it } from "vitest";
import { failWith, readRetryAfter, toOutcome } from "#control-plane/notify/webhooks/send/outcome.ts";

const NOW = new Date("2026-03-01T12:00:00Z");
const answered = (status: number, headers: readonly { readonly name: string; readonly value: string }[] = []) =>
  toOutcome({ ok: true, status, headers, body: "", isTruncated: false }, NOW);

it.each([200, 201, 204, 299])("%d is delivered", (status) => {
  expect(answered(status)).toMatchObject({ kind: "delivered", responseCode: status });
});

it("only a delivery has the provider's id", () => {
  const reference = (body: string) => body;
  const outcome = (status: number) =>
    toOutcome({ ok: true, status, headers: [], body: "id", isTruncated: false }, NOW, { reference });
  expect(outcome(200)).toMatchObject({ kind: "delivered", providerRef: "id" });
  expect(outcome(500)).not.toHaveProperty("providerRef");
  expect(answered(200)).toMatchObject({ providerRef: null });
});

it.each([199, 301, 307, 400, 401, 404, 429, 500, 503, 999])("%d is tried again", (status) => {
  expect(answered(status)).toMatchObject({ kind: "retry", responseCode: status, code: "http_status" });
});

it("410 ends the delivery", () => {
  expect(answered(410)).toMatchObject({ kind: "refused", code: "gone" });
});

it("a redirect says what to do", () => {
  expect(answered(301)).toMatchObject({ message: expect.stringContaining("set the final address as url") });
});

it("Retry-After is a wait", () => {
  expect(answered(503, [{ name: "retry-after", value: "120" }])).toMatchObject({ waitMs: 120_000 });
  expect(answered(503)).not.toHaveProperty("waitMs");
});

it.each([
  ["30", 30_000],
  [" 0 ", 0],
  ["Sun, 01 Mar 2026 12:01:00 GMT", 60_000],
  ["Sun, 01 Mar 2026 11:00:00 GMT", 0],
  ["soon", null],
  ["-5", null],
  ["9".repeat(400), null],
])("Retry-After %s is %s ms", (text, expected) => {
  expect(readRetryAfter(text, NOW)).toBe(expected);
});

it("an address that is not allowed ends the delivery, every other fault is tried again", () => {
  expect(failWith({ code: "target_not_allowed", message: "" }).kind).toBe("refused");
  expect(failWith({ code: "dns_failed", message: "" }).kind).toBe("retry");
  expect(failWith({ code: "timeout", message: "" }).kind).toBe("retry");
});
