import { describe, expect, it } from "vitest";
import { readBodyText, readRunId, readSignal, readUserAgent } from "#control-plane/heartbeats/ping.ts";

describe("what follows the token in the path", () => {
  it.each([
    ["", { kind: "success", exitCode: null }],
    ["start", { kind: "start", exitCode: null }],
    ["fail", { kind: "fail", exitCode: null }],
    ["log", { kind: "log", exitCode: null }],
    ["0", { kind: "exit", exitCode: 0 }],
    ["007", { kind: "exit", exitCode: 7 }],
    ["255", { kind: "exit", exitCode: 255 }],
  ])("%j has a meaning", (tail, signal) => {
    expect(readSignal(tail)).toEqual(signal);
  });

  it.each(["256", "0255", "-1", "1.0", "1e1", "START", "start/x", " ", "\u0661"])("%j has none", (tail) => {
    expect(readSignal(tail)).toBeNull();
  });
});

describe("texts of clients", () => {
  it("are cut, and fit into the database", () => {
    expect(readRunId("a\u0000b\ud800")).toBe("a b\ufffd");
    expect(readRunId(["first", "second"])).toBe("first");
    expect(readRunId("x".repeat(200))).toHaveLength(100);
    expect(readRunId("")).toBeNull();
    expect(readRunId(undefined)).toBeNull();
    expect(readUserAgent("curl/8.0\u007f")).toBe("curl/8.0 ");
    expect(readUserAgent("x".repeat(400))).toHaveLength(300);
    expect(readBodyText(Buffer.from([0x61, 0, 0xff, 0x62]))).toBe("a\ufffd\ufffdb");
  });
});
