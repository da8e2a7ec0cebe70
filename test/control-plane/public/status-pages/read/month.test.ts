import { describe, expect, it } from "vitest";
import { monthOf } from "#control-plane/public/status-pages/read/month.ts";

const CREATED = new Date("2026-10-03T12:00:00Z");
const NOW = new Date("2027-01-15T12:00:00Z");

describe("the archive of a page", () => {
  it("has the running month, which has no next one, and by name those before it", () => {
    expect(monthOf(null, CREATED, NOW)).toEqual({
      name: "2027-01",
      from: new Date("2027-01-01T00:00:00Z"),
      to: new Date("2027-02-01T00:00:00Z"),
      previous: "2026-12",
      next: null,
    });
    expect(monthOf("2026-12", CREATED, NOW)).toMatchObject({ previous: "2026-11", next: "2027-01" });
  });

  it("begins with the 14 days that the page has shown when it was created", () => {
    expect(monthOf("2026-09", CREATED, NOW)).toMatchObject({ previous: null, next: "2026-10" });
    expect(monthOf("2026-08", CREATED, NOW)).toBeNull();
    expect(monthOf("2026-09", new Date("2026-10-16T00:00:00Z"), NOW)).toBeNull();
  });

  it("has 24 months at most", () => {
    const old = new Date("2020-01-01T00:00:00Z");
    expect(monthOf("2025-02", old, NOW)).toMatchObject({ previous: null });
    expect(monthOf("2025-01", old, NOW)).toBeNull();
  });

  it.each(["2027-02", "2026-13", "2026-00", "2026-1", "", "now", "2026-12-01", "２０２６-12"])(
    "has no month %j",
    (name) => {
      expect(monthOf(name, CREATED, NOW)).toBeNull();
    },
  );
});
