import { describe, expect, it } from "vitest";
import {
  bytes,
  counted,
  cutUrl,
  date,
  distance,
  duration,
  milliseconds,
  percent,
  shortUrl,
  yesNo,
} from "#shared/presentation/values.ts";

const NOW = new Date("2026-11-27T12:00:00Z");

describe("a duration", () => {
  it.each([
    [0, "0", "0 ms"],
    [0.004, "0", "0 ms"],
    [0.42, "0.42", "0.42 ms"],
    [9.999, "10", "10 ms"],
    [34.14, "34.1", "34.1 ms"],
    [99.96, "100", "100 ms"],
    [999.4, "999", "999 ms"],
    [999.6, "1000", "1 s"],
    [1_250, "1250", "1.25 s"],
    [59_990, "59990", "59.99 s"],
    [90_000, "90000", "1 min 30 s"],
    [7_200_000, "7200000", "2 h"],
  ])("of %d ms is %s without its unit and %s with it", (ms, number, text) => {
    expect(milliseconds(ms)).toBe(number);
    expect(duration(ms)).toBe(text);
  });
});

describe("a number of octets", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1_000, "1 kB"],
    [4_660, "4.7 kB"],
    [999_949, "999.9 kB"],
    [999_950, "1 MB"],
    [1_234_567, "1.2 MB"],
    [999_999_999, "1 GB"],
    [5_000_000_000_000, "5000 GB"],
  ])("of %d is %s", (count, text) => {
    expect(bytes(count)).toBe(text);
  });
});

describe("a percentage", () => {
  it.each([
    [0, "0 %"],
    [12.5, "12.5 %"],
    [33.333_3, "33.33 %"],
    [100, "100 %"],
    [101.5, "101.5 %"],
  ])("of %d is %s", (value, text) => {
    expect(percent(value)).toBe(text);
  });

  it("is neither nothing nor all if it only nearly is", () => {
    expect(percent(0.001)).toBe("less than 0.01 %");
    expect(percent(99.999)).toBe("99.99 %");
    expect(percent(99.994)).toBe("99.99 %");
  });
});

describe("a point of time", () => {
  it.each([
    ["2026-11-27T12:00:00Z", "in less than a second"],
    ["2026-11-27T11:59:00Z", "1 minute ago"],
    ["2027-02-23T12:00:00Z", "in 88 days"],
    ["2024-12-01T00:00:00Z", "726 days ago"],
    ["2024-11-26T00:00:00Z", "2 years ago"],
    ["2031-05-02T08:00:00Z", "in 4 years"],
  ])("%s is %s", (iso, away) => {
    expect(distance(iso, NOW)).toBe(away);
  });

  it("is written as day and distance, the last day that computers know too", () => {
    expect(date("2027-02-20T23:30:00Z", NOW)).toBe("2027-02-20 (in 85 days)");
    expect(date("9999-12-31T23:59:59Z", NOW)).toBe("9999-12-31 (in 7973 years)");
    expect(date("+012345-06-07T00:00:00Z", NOW)).toBe("+012345-06-07 (in 10318 years)");
  });

  it("stays as it is if it is no date", () => {
    expect(distance("soon", NOW)).toBeNull();
    for (const text of ["soon", "", "2026-13-45", "+275760-09-14T00:00:00Z"]) expect(date(text, NOW)).toBe(text);
  });
});

describe("words of values", () => {
  it("are yes, no or nothing", () => {
    expect([true, false, null, undefined].map(yesNo)).toEqual(["yes", "no", null, null]);
  });

  it("have the number of their count", () => {
    expect([0, 1, 2].map((count) => counted(count, "hop"))).toEqual(["0 hops", "1 hop", "2 hops"]);
    expect(counted(2, "address", "addresses")).toBe("2 addresses");
  });
});

describe("an address in a headline", () => {
  it.each([
    ["https://shop.test/", "shop.test"],
    ["HTTPS://shop.test", "shop.test"],
    ["http://shop.test/", "http://shop.test"],
    ["https://shop.test/a/", "shop.test/a/"],
    ["https://shop.test/?q=/", "shop.test/?q=/"],
    ["not an address", "not an address"],
  ])("%s is %s", (url, short) => {
    expect(shortUrl(url)).toBe(short);
  });

  it("has at most 80 characters", () => {
    expect(Array.from(shortUrl(`https://shop.test/${"a".repeat(9_000)}`))).toHaveLength(80);
    expect(cutUrl("https://shop.test/\r\n\u001b")).toBe("https://shop.test/");
  });
});
