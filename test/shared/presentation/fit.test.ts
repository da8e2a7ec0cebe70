import { expect, it } from "vitest";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { fitPresentation } from "#shared/presentation/fit.ts";
import { present } from "#shared/tools/present.ts";
import { ssl } from "#shared/tools/ssl/contract.ts";

const SHOWN = present(ssl, exampleOf("ssl")?.data, new Date("2026-11-27T12:00:00Z"));

it("an ordinary presentation is not cut", () => {
  expect(fitPresentation(SHOWN, 16_000)).toEqual({ shown: SHOWN, left: 0 });
});

it("a presentation is cut from its end, and tells how much is missing", () => {
  const { shown, left } = fitPresentation(SHOWN, 120);
  expect(shown.facts).toEqual(SHOWN.facts.slice(0, shown.facts.length));
  expect(shown.facts.length).toBeGreaterThan(2);
  expect(left).toBe(SHOWN.facts.length - shown.facts.length);
  expect(shown.tables).toEqual([]);
});

it("a table that is cut counts the missing rows", () => {
  const characters = SHOWN.facts.reduce((sum, { label, value }) => sum + label.length + value.length, 0);
  const { shown } = fitPresentation(SHOWN, characters + 60);
  expect(shown.tables[0]?.rows).toHaveLength(1);
  expect(shown.tables[0]?.more).toBe(2);
});
