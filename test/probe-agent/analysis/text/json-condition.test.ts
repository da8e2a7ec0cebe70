import { describe, expect, it } from "vitest";
import { toExactNumber } from "#shared/json/exact.ts";
import { unredacted } from "#shared/text/redact.ts";
import { checkJson, describeVerdict, type JsonCondition } from "#probe-agent/analysis/text/json-condition.ts";

type Op = JsonCondition["op"];
type Value = JsonCondition["value"] | number;

const DOCUMENT = '{"status":"degraded","queue":12,"ok":true,"none":null}';

/** Returns the fault of a document by a condition, as a monitor reports it; null if the condition holds. */
function faultOf(document: string, path: string, op: Op, value: Value = null) {
  const condition = { path, op, value: typeof value === "number" ? toExactNumber(String(value)) : value };
  const written = { ...condition, value: JSON.stringify(condition.value) };
  const verdict = checkJson({ octets: Buffer.from(document), condition: written });
  return verdict === null ? null : describeVerdict(verdict, condition, unredacted);
}

describe("a JSON condition", () => {
  it.each<[path: string, op: Op, value: Value]>([
    ["$.status", "exists", null],
    ["$.none", "exists", null],
    ["$.status", "equals", "degraded"],
    ["$.ok", "equals", true],
    ["$.none", "equals", null],
    ["$.queue", "not_equals", 13],
    ["$.queue", "less", 13],
    ["$.queue", "greater", 11.5],
    ["$['status']", "less", "e"],
    ["$..queue", "equals", 12],
    ["$[?@ == 12]", "exists", null],
  ])("holds: %s %s %j", (path, op, value) => {
    expect(faultOf(DOCUMENT, path, op, value)).toBeNull();
  });

  it.each<[path: string, op: Op, value: Value, reason: string, message: string]>([
    ["$.status", "equals", "ok", "json_mismatch", '$.status is "degraded", expected "ok"'],
    ["$.queue", "less", 12, "json_mismatch", "$.queue is 12, expected less than 12"],
    ["$.queue", "less", 10, "json_mismatch", "$.queue is 12, expected less than 10"],
    ["$.queue", "greater", "10", "json_mismatch", '$.queue is 12, expected more than "10"'],
    ["$.queue", "equals", "12", "json_mismatch", '$.queue is 12, expected "12"'],
    [
      "$.status",
      "not_equals",
      "degraded",
      "json_mismatch",
      '$.status is "degraded", expected another value than "degraded"',
    ],
    ["$", "equals", 1, "json_mismatch", "$ is an object, expected 1"],
    ["$.version", "exists", null, "json_missing", "$.version is missing"],
    ["$.version", "equals", "2", "json_missing", '$.version is missing, expected "2"'],
    ["$.version", "not_equals", "2", "json_missing", '$.version is missing, expected another value than "2"'],
  ])("does not hold: %s %s %j: %s, %s", (path, op, value, reason, message) => {
    expect(faultOf(DOCUMENT, path, op, value)).toEqual({ reason, message });
  });

  it.each<[op: Op, text: string, message: string | null]>([
    ["equals", "50000000014435121", null],
    ["equals", "50000000014435121.0", null],
    ["less", "50000000014435122", null],
    ["greater", "50000000014435120.5", null],
    ["equals", "50000000014435120", "$.id is 50000000014435121, expected 50000000014435120"],
    ["not_equals", "50000000014435121", "$.id is 50000000014435121, expected another value than 50000000014435121"],
  ])("compares all digits of numbers: %s %s", (op, text, message) => {
    const fault = faultOf('{"id":50000000014435121,"rate":0.1}', "$.id", op, toExactNumber(text));
    expect(fault?.message ?? null).toBe(message);
  });

  it("needs JSON and a valid path", () => {
    expect(faultOf("<p>Welcome back</p>", "$.a", "exists")).toMatchObject({ reason: "json_invalid" });
    expect(faultOf("[".repeat(500_000), "$.a", "exists")).toMatchObject({ reason: "json_invalid" });
    expect(faultOf(DOCUMENT, "$[", "exists")).toMatchObject({ reason: "json_path_invalid" });
  });
});
