import { describe, expect, it } from "vitest";
import { countYears, readAvailability, readCaptures, toSnapshot } from "#probe-agent/analysis/web/wayback.ts";

describe("the rows of the archive's index", () => {
  it("are read by the names of their fields, without invalid ones", () => {
    const rows = [
      ["statuscode", "timestamp"],
      "x",
      [],
      ["200", "20200230000000"],
      ["200", 5],
      ["9", "20200102030405"],
      ["200", "2020"],
      ["301", "20191231235959"],
    ];
    expect(readCaptures(rows)).toEqual([
      { timestamp: "20200102030405", code: null },
      { timestamp: "20191231235959", code: 301 },
    ]);
    expect(readCaptures([])).toEqual([]);
  });

  it.each([[{ error: "x" }], ["<html>"], [null], [[["a"], ["b"]]], [["x"]]])("are not %j", (value) => {
    expect(readCaptures(value)).toBeNull();
  });

  it("are counted by year, and shown with their time and address", () => {
    const captures = ["20200615120000", "20191231235959", "20200101000000"].map((timestamp) => ({
      timestamp,
      code: 200,
    }));
    expect(countYears(captures)).toEqual({ 2019: 1, 2020: 2 });
    expect(
      toSnapshot({ timestamp: "20191231235959", code: 301 }, "https://a.example/web/", "https://b.example/"),
    ).toEqual({
      timestamp: "2019-12-31T23:59:59Z",
      url: "https://a.example/web/20191231235959/https://b.example/",
      code: 301,
    });
  });
});

describe("the closest snapshot", () => {
  const closest = { available: true, timestamp: "20240102030405", status: "200" };
  it.each([
    [{ archived_snapshots: { closest } }, { timestamp: "20240102030405", code: 200 }],
    [{ archived_snapshots: { closest: { ...closest, status: "-" } } }, { timestamp: "20240102030405", code: null }],
    [{ archived_snapshots: {} }, null],
    [{ archived_snapshots: { closest: { ...closest, available: false } } }, null],
    [{ archived_snapshots: { closest: { ...closest, timestamp: "20240230030405" } } }, null],
    [{ url: "x" }, undefined],
    ["x", undefined],
  ])("of %j is %j", (value, expected) => {
    expect(readAvailability(value)).toEqual(expected);
  });
});
