import { expect, it } from "vitest";
import { coverMonitors, type CoveredScope } from "#control-plane/outages/maintenance/coverage/cover.ts";
import { seeded } from "#test/support/seeded.ts";

const WITHIN = { from: 10, to: 90 };

/** Goes through every millisecond. */
function coveredMs(scopes: readonly CoveredScope[], id: number, tags: readonly string[]): readonly number[] {
  const found: number[] = [];
  for (let at = WITHIN.from; at < WITHIN.to; at += 1) {
    const covers = scopes.some(
      (scope) =>
        (scope.monitorIds.includes(id) || scope.tags.some((tag) => tags.includes(tag))) &&
        scope.spans.some((span) => span.from <= at && at < span.to),
    );
    if (covers) found.push(at);
  }
  return found;
}

it("a monitor is covered in every millisecond in which a scope names it or one of its tags, and in no other", () => {
  const next = seeded(11);
  const monitors = [1, 2, 3].map((id) => ({ id, tags: ["a", "b", "c"].slice(id - 1) }));
  for (let round = 0; round < 1_000; round += 1) {
    const scopes = Array.from({ length: next() % 4 }, () => ({
      monitorIds: [1, 2, 3].filter(() => next() % 3 === 0),
      tags: ["a", "b", "c"].filter(() => next() % 3 === 0),
      spans: Array.from({ length: next() % 4 }, () => {
        const from = next() % 100;
        return { from, to: from + 1 + (next() % 30) };
      }),
    }));
    const covered = coverMonitors(monitors, scopes, WITHIN);
    for (const { id, tags } of monitors) {
      const spans = covered.get(id) ?? [];
      const inSpans = spans.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, index) => from + index));
      expect(inSpans).toEqual(coveredMs(scopes, id, tags));
      // In order, without touching: merged.
      expect(spans.every(({ from }, index) => index === 0 || from > (spans[index - 1]?.to ?? 0))).toBe(true);
    }
  }
});
