import { describe, expect, it } from "vitest";
import {
  readBodyText,
  readQuerySignal,
  readRunId,
  readTail,
  readUserAgent,
  splitPingPath,
} from "#control-plane/watching/heartbeats/ping.ts";
import { seeded } from "#test/support/seeded.ts";

describe("the path of a ping", () => {
  it.each([
    ["T", "T", ""],
    ["T/", "T", ""],
    ["T/fail", "T", "fail"],
    ["T/fail/", "T", "fail"],
    ["T//", "T", ""],
    ["T//1", "T", "/1"],
    ["T/fail/now", "T", "fail/now"],
    ["", "", ""],
    ["/fail", "", "fail"],
  ])("%j has the token %j and the tail %j", (path, token, tail) => {
    expect(splitPingPath(path)).toEqual({ token, tail });
  });
});

describe("what follows the token in the path", () => {
  it.each([
    ["", { kind: "success", exitCode: null }],
    ["success", { kind: "success", exitCode: null }],
    ["SUCCESS", { kind: "success", exitCode: null }],
    ["start", { kind: "start", exitCode: null }],
    ["Start", { kind: "start", exitCode: null }],
    ["fail", { kind: "fail", exitCode: null }],
    ["FAIL", { kind: "fail", exitCode: null }],
    ["log", { kind: "log", exitCode: null }],
    ["lOg", { kind: "log", exitCode: null }],
    ["0", { kind: "exit", exitCode: 0 }],
    ["-0", { kind: "exit", exitCode: 0 }],
    ["007", { kind: "exit", exitCode: 7 }],
    ["0255", { kind: "exit", exitCode: 255 }],
    ["256", { kind: "exit", exitCode: 256 }],
    ["-1", { kind: "exit", exitCode: -1 }],
    ["3221225786", { kind: "exit", exitCode: 3_221_225_786 }],
    ["4294967295", { kind: "exit", exitCode: 4_294_967_295 }],
    ["-2147483648", { kind: "exit", exitCode: -2_147_483_648 }],
  ])("%j has a meaning", (tail, signal) => {
    expect(readTail(tail)).toEqual(signal);
  });

  it.each([
    "4294967296",
    "-2147483649",
    "9".repeat(400),
    "1.0",
    "1e1",
    "0x1",
    "+1",
    "--1",
    "-",
    "1 ",
    "1\n",
    "fail ",
    "failed",
    "down",
    "stop",
    "ok",
    "start/x",
    "/1",
    " ",
    "%24%3F",
    "$?",
    "\u0661",
    "\u017fuccess",
    "fai\u2113",
  ])("%j has none", (tail) => {
    expect(readTail(tail)).toBeNull();
  });

  it("is never a success by chance", () => {
    const octets = seeded(31);
    for (let tried = 0; tried < 20_000; tried += 1) {
      const letters = "successtarlogfi0123456789-+. /%SUCE";
      const tail = Array.from({ length: 1 + (octets() % 8) }, () => letters[octets() % letters.length]).join("");
      const signal = readTail(tail);
      const isSuccess = signal?.kind === "success" || signal?.exitCode === 0;
      expect([tail, isSuccess]).toEqual([tail, /^(?:success|-?0+)$/i.test(tail)]);
    }
  });
});

describe("the query of a ping", () => {
  const success = { kind: "success", exitCode: null };
  const fail = { kind: "fail", exitCode: null };
  it.each([
    [{}, success],
    [{ status: "down" }, fail],
    [{ status: "FAIL" }, fail],
    [{ status: "Failed" }, fail],
    [{ state: "error" }, fail],
    [{ status: "up", state: "down" }, fail],
    [{ status: ["ok", "down"] }, fail],
    [{ status: "up", msg: "OK", ping: "" }, success],
    [{ status: "degraded" }, success],
    [{ status: "failing" }, success],
    [{ status: "" }, success],
    [{ Status: "down" }, success],
    [{ exit: "0" }, { kind: "exit", exitCode: 0 }],
    [{ exit: "-1" }, { kind: "exit", exitCode: -1 }],
    [{ exit: "256" }, { kind: "exit", exitCode: 256 }],
    [{ exit: ["0", "3"] }, { kind: "exit", exitCode: 3 }],
    [{ exit: "abc" }, success],
    [{ exit: "" }, success],
    [{ exit: "4294967296" }, success],
    [{ exit: "0", status: "down" }, fail],
    [
      { exit: "3", status: "down" },
      { kind: "exit", exitCode: 3 },
    ],
    [{ exit: "abc", state: "down" }, fail],
    [{ rid: "down" }, success],
  ])("%j is a ping of %j", (query, signal) => {
    expect(readQuerySignal(query)).toEqual(signal);
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
