import { describe, expect, it } from "vitest";
import { eventDate } from "#probe-agent/analysis/registry/rdap/events.ts";

function expiration(date: unknown): string | null {
  return eventDate([{ eventAction: "expiration", eventDate: date }], "expiration");
}

describe("the date of an event", () => {
  it.each([
    ["2025-01-02T03:04:05Z", "2025-01-02T03:04:05.000Z"],
    ["2025-01-02T03:04:05.678901234Z", "2025-01-02T03:04:05.678Z"],
    ["2025-01-02t03:04:05z", "2025-01-02T03:04:05.000Z"],
    ["2025-01-02T03:04:05+02:00", "2025-01-02T01:04:05.000Z"],
    ["2025-01-02T03:04:05+0000", "2025-01-02T03:04:05.000Z"],
    // Not RFC 3339, but clear. As in WHOIS, a time without a zone counts as UTC.
    ["2025-01-02T03:04:05", "2025-01-02T03:04:05.000Z"],
    ["2025-01-02 03:04:05", "2025-01-02T03:04:05.000Z"],
    ["2025-01-02", "2025-01-02T00:00:00.000Z"],
  ])("%s is read", (date, iso) => {
    expect(expiration(date)).toBe(iso);
  });

  it.each(["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2025-13-01T00:00:00Z", "2025-01-02T25:00:00Z", "soon", 7])(
    "%s is none",
    (date) => {
      expect(expiration(date)).toBeNull();
    },
  );
});
