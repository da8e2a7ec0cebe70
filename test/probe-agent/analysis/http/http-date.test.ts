import { describe, expect, it } from "vitest";
import { parseHttpDate } from "#probe-agent/analysis/http/http-date.ts";

const now = new Date("2026-06-01T00:00:00Z");
const read = (text: string): string | null => parseHttpDate(text, now)?.toISOString() ?? null;

describe("an HTTP-date (RFC 9110 section 5.6.7)", () => {
  it.each(["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])(
    "%s",
    (text) => {
      expect(read(text)).toBe("1994-11-06T08:49:37.000Z");
    },
  );

  it("with a two-digit year is in the past if it would be more than 50 years ahead", () => {
    expect(read("Monday, 01-Jun-76 00:00:00 GMT")).toBe("2076-06-01T00:00:00.000Z");
    expect(read("Wednesday, 01-Jun-77 00:00:00 GMT")).toBe("1977-06-01T00:00:00.000Z");
  });

  it("can have a leap second and a leap day", () => {
    expect(read("Sat, 31 Dec 2016 23:59:60 GMT")).toBe("2017-01-01T00:00:00.000Z");
    expect(read("Thu, 29 Feb 2024 00:00:00 GMT")).toBe("2024-02-29T00:00:00.000Z");
  });

  it.each([
    "",
    "0",
    "2026-06-01",
    "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 31 Nov 1994 08:49:37 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT",
    "Wed, 29 Feb 2023 00:00:00 GMT",
    "sun, 06 nov 1994 08:49:37 gmt",
    "Sun, 06 Nov 1994 08:49:37 GMT ",
  ])("is not %j", (text) => {
    expect(read(text)).toBeNull();
  });
});
