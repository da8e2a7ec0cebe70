import { describe, expect, it } from "vitest";
import type { OverallStatus, ShownStatus } from "#control-plane/public/status-pages/page.ts";
import { overallStatus } from "#control-plane/public/status-pages/read/build-page.ts";

/** Statuses by their first letters; x is unknown. */
const LETTERS: Readonly<Record<string, ShownStatus>> = {
  u: "up",
  g: "degraded",
  d: "down",
  m: "maintenance",
  x: "unknown",
};

describe("the overall status", () => {
  const table: readonly (readonly [statuses: string, OverallStatus])[] = [
    ["", "unknown"],
    ["x", "unknown"],
    ["xxx", "unknown"],
    ["d", "major_outage"],
    ["ddd", "major_outage"],
    ["dxxx", "major_outage"],
    ["du", "partial_outage"],
    ["dg", "partial_outage"],
    ["dm", "partial_outage"],
    ["duxxx", "partial_outage"],
    ["uxx", "unknown"],
    ["gxx", "unknown"],
    ["mxx", "unknown"],
    ["ux", "operational"],
    ["gx", "degraded_performance"],
    ["gum", "degraded_performance"],
    ["um", "under_maintenance"],
    ["m", "under_maintenance"],
    ["mx", "under_maintenance"],
    ["u", "operational"],
    ["uuux", "operational"],
  ];

  it.each(table)("of %j is %s, in any order", (letters, expected) => {
    const statuses = Array.from(letters, (letter) => LETTERS[letter] ?? "unknown");
    expect(overallStatus(statuses)).toBe(expected);
    expect(overallStatus(statuses.toReversed())).toBe(expected);
  });
});
