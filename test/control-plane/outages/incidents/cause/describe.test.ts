import { describe, expect, it } from "vitest";
import { describeCause, describeLocation } from "#control-plane/outages/incidents/cause/describe.ts";
import {
  ALL,
  failingOf,
  REFUSED,
  targetWith,
  type CauseCase,
} from "#test/control-plane/outages/incidents/cause/cases.ts";
import { seeded } from "#test/support/seeded.ts";

const CASES: CauseCase[] = [
  [
    "two causes, the more frequent one first",
    [
      ["ap-south", "connect", "refused", REFUSED],
      ["eu-west us-east", "response", "unexpected_status", "expected 200, got 503"],
    ],
    "http_status",
    "HTTP 503 instead of 200 from eu-west and us-east; connection refused from ap-south (port 443)",
  ],
  [
    "two causes of the same frequency, in the given order",
    [
      ["us-east", "response", "timeout", "late"],
      ["eu-west", "connect", "refused", REFUSED],
    ],
    "timeout",
    "No answer within 15 s from us-east; connection refused from eu-west (port 443)",
  ],
  [
    "more causes than a sentence holds",
    [
      ["a", "connect", "refused", REFUSED],
      ["b", "connect", "reset", "x"],
      ["c", "connect", "unreachable", "x"],
      ["d", "response", "timeout", "x"],
      ["e", "dns", "timeout", "x"],
    ],
    "connect_refused",
    "Connection refused from a (port 443); connection reset from b (port 443); host unreachable from c; other causes from 2 locations",
    { locations: ["a", "b", "c", "d", "e"] },
  ],
  [
    "three of five locations",
    [["a b c", "response", "timeout", "x"]],
    "timeout",
    "No answer within 15 s from a, b and c",
    { locations: ["a", "b", "c", "d", "e"] },
  ],
  [
    "four of five locations",
    [["a b c d", "response", "timeout", "x"]],
    "timeout",
    "No answer within 15 s from 4 of 5 locations",
    { locations: ["a", "b", "c", "d", "e"] },
  ],
  [
    "more failing locations than configured ones",
    [["a b c d", "response", "timeout", "x"]],
    "timeout",
    "No answer within 15 s from all 4 locations",
  ],
  [
    "a message with line breaks and colours",
    [["eu-west", "response", "odd", "one\r\nBcc: x@example.com\u001B[31m\u0000two"]],
    "response_odd",
    "Bad response from eu-west: one Bcc: x@example.com [31m two",
  ],
  [
    "a message that overrides the direction of text",
    [["eu-west", "response", "odd", "abc\u202Egpj.exe"]],
    "response_odd",
    "Bad response from eu-west: abc gpj.exe",
  ],
  [
    "a location with a line break",
    [["eu\nwest", "response", "timeout", "x"]],
    "timeout",
    "No answer within 15 s from eu west",
  ],
  [
    "a target that is not a URL",
    [["eu-west", "dns", "nxdomain", "x"]],
    "dns_nxdomain",
    "DNS: NXDOMAIN for %% from eu-west",
    { url: "%%" },
  ],
];

describe("the cause of", () => {
  it.each<CauseCase>(CASES)("%s is one sentence", (_what, faults, code, message, target) => {
    expect(describeCause(targetWith(target), failingOf(faults))).toEqual({ code, message });
  });

  it("an outage that only one location could see says that only that could check", () => {
    const [failing] = failingOf([["eu-west", "connect", "refused", REFUSED]]);
    const alone = failing === undefined ? [] : [{ ...failing, isSole: true as const }];
    expect(describeCause(targetWith({ locations: ["eu-west", "us-east"] }), alone)).toEqual({
      code: "connect_refused",
      message: "Connection refused from eu-west, the only one of 2 locations that could check (port 443)",
    });
  });

  it("an outage without a known fault says that the check failed", () => {
    const unknown = { code: "unknown", message: "Check failed from eu-west" };
    expect(describeCause(targetWith(), [{ location: "eu-west", fault: null }])).toEqual(unknown);
    expect(describeCause(targetWith(), [])).toEqual({ code: "unknown", message: "The check failed" });
  });

  // For each: the reason and the message of its fault, and the sentence.
  it.each([
    ["heartbeat_late", "no ping arrived by 2026-11-22 10:05:00 UTC", "No ping arrived by 2026-11-22 10:05:00 UTC"],
    ["heartbeat_failed", "the run failed with exit code 3", "The run failed with exit code 3"],
    [
      "heartbeat_unfinished",
      "the run that started at 2026-11-22 10:05:00 UTC did not finish within 60 s",
      "The run that started at 2026-11-22 10:05:00 UTC did not finish within 60 s",
    ],
    ["heartbeat_failed", "one\r\nBcc: x@example.com\u202E", "One Bcc: x@example.com"],
    ["heartbeat_failed", "x".repeat(400), `X${"x".repeat(298)}…`],
    ["heartbeat_failed", "\u0000", "A ping was missed or reported a failure"],
  ] as const)("a heartbeat, %s, is its own sentence, without a location", (reason, message, sentence) => {
    const monitor = targetWith({ url: "", checkType: "heartbeat", locations: ["heartbeat"] });
    const fault = { stage: "request", source: "target", reason, message } as const;
    const failing = [{ location: "heartbeat", fault }];
    expect(describeCause(monitor, failing)).toEqual({ code: reason, message: sentence });
    expect(failing.map((one) => describeLocation(monitor, one))).toEqual([sentence]);
  });

  it("a heartbeat of which nothing is known says what it can be", () => {
    const monitor = targetWith({ url: "", checkType: "heartbeat", locations: ["heartbeat"] });
    const message = "A ping was missed or reported a failure";
    expect(describeCause(monitor, [])).toEqual({ code: "unknown", message });
    expect(describeCause(monitor, [{ location: "heartbeat", fault: null }])).toEqual({ code: "unknown", message });
  });

  it("one location is a line of its own", () => {
    const [refused] = failingOf([["eu-west", "connect", "refused", REFUSED]]);
    if (refused === undefined) throw new Error("no location");
    expect(describeLocation(targetWith(), refused)).toBe("eu-west: connection refused (port 443)");
  });
});

const PIECES = [
  "after 1 redirect, at https://",
  "after 3 redirects, at ",
  ": ",
  "203.0.113.9:443: ",
  "[::1]:0: ",
  "expected 200, got 503",
  "\r\nBcc: victim@example.com",
  "\0",
  "\u001B[2J",
  "\u2028\u2029",
  "\u202E\u2066",
  "\uD83D",
  "\uDE00",
  "😀",
  "é́́́",
  "\u200B",
  "<script>",
  "%00%0d%0a",
  "x".repeat(700),
  " ".repeat(500),
  "__proto__",
  "constructor",
  "nxdomain",
  "expired",
  "timeout",
];
const STAGES = ["dns", "connect", "tls", "request", "response"] as const;

describe("the cause of hostile text", () => {
  it("is always one printable line of at most 300 characters, with a code of plain letters", () => {
    const next = seeded(20_260_301);
    const pick = <T>(from: readonly T[]): T => from[next() % from.length] as T;
    const text = () => Array.from({ length: next() % 6 }, () => pick(PIECES)).join("");
    for (let round = 0; round < 2_000; round += 1) {
      const failing = Array.from({ length: next() % 8 }, () => ({
        location: text(),
        fault:
          next() % 10 === 0
            ? null
            : { stage: pick(STAGES), source: "target" as const, reason: text(), message: text() },
      }));
      const url = text();
      const monitor = targetWith({
        url,
        checkType: pick(["http", "keyword", "dns", "ping", "port"]),
        locations: [text()],
      });
      const { code, message } = describeCause(monitor, failing);
      expect(message).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
      expect(message.length).toBeLessThanOrEqual(300);
      expect(message.trim()).toBe(message);
      expect(message).not.toBe("");
      expect(code).toMatch(/^[a-z][a-z0-9_]{0,79}$/);
      for (const one of failing) {
        const line = describeLocation(monitor, one);
        expect(line).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
        expect(line.length).toBeLessThanOrEqual(300);
      }
    }
  });

  it("takes time that grows with its length only", () => {
    const message = "after 1 redirect, at ".repeat(200_000);
    const failing = failingOf([[ALL, "response", "odd", message]]);
    const { message: described } = describeCause(targetWith(), failing);
    expect(described.length).toBeLessThanOrEqual(300);
  });
});
