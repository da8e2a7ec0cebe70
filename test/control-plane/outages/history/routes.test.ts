import type { FastifyRequest } from "fastify";
import { describe, expect, it } from "vitest";
import { Refusal } from "#control-plane/http/errors.ts";
import { readRange, showHistory } from "#control-plane/outages/history/routes.ts";

const NOW = new Date("2026-06-01T12:00:00Z");

/** Reads the range of a request with this query. */
function rangeOf(query: Readonly<Record<string, unknown>>) {
  const { from, to } = readRange({ query } as FastifyRequest, NOW);
  return [new Date(from).toISOString(), new Date(to).toISOString()];
}

describe("the range of a history", () => {
  it("is the last day by default", () => {
    expect(rangeOf({ action: "history", id: "1" })).toEqual(["2026-05-31T12:00:00.000Z", "2026-06-01T12:00:00.000Z"]);
  });

  it("is a day before `to`", () => {
    expect(rangeOf({ to: "2026-03-01T00:00:00+02:00" })).toEqual([
      "2026-02-27T22:00:00.000Z",
      "2026-02-28T22:00:00.000Z",
    ]);
  });

  it("can be a leap year long", () => {
    expect(rangeOf({ from: "2024-01-01", to: "2025-01-01" })[0]).toBe("2024-01-01T00:00:00.000Z");
  });

  it.each([
    ["that is empty", { from: "2026-01-01", to: "2026-01-01" }, "from", "range"],
    ["that ends before it begins", { from: "2026-01-02", to: "2026-01-01" }, "from", "range"],
    ["that begins in the future", { from: "2026-07-01" }, "from", "range"],
    ["of more than 366 days", { from: "2025-01-01", to: "2026-01-03" }, "from", "range"],
    ["whose beginning is no time", { from: "yesterday" }, "from", "type"],
    ["whose end is no day", { to: "2026-02-30" }, "to", "type"],
    ["without a zone", { to: "2026-02-01T00:00:00" }, "to", "type"],
    ["given twice", { to: ["2026-02-01", "2026-02-02"] }, "to", "duplicate"],
    ["with endless text", { to: "2".repeat(10_000) }, "to", "range"],
  ])("is refused: one %s", (_, query, field, reason) => {
    let refusal: unknown;
    try {
      rangeOf(query);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(Refusal);
    expect((refusal as Refusal).details).toMatchObject({ field, reason });
  });
});

it("a point is shown with the beginning of its step in UTC", () => {
  const point = { at: NOW, location: "eu", up: 1, down: 0, unknown: 0, p50: 5, p95: 5, p99: 5 };
  expect(showHistory([point])).toEqual({ points: [{ ...point, at: "2026-06-01T12:00:00.000Z" }] });
});
