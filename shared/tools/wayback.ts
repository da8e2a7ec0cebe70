import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { count, integer, OBSERVED_FIELDS, record, text, truth } from "#shared/tools/shapes.ts";

function snapshot(description: string) {
  return Nullable(
    record(
      {
        timestamp: text("When it was taken, ISO 8601 UTC"),
        url: text("Address at which the archive shows it"),
        code: Nullable(
          integer("HTTP status the page had; null where the archive refers to an earlier copy or says none"),
        ),
      },
      description,
    ),
  );
}

/** What the Internet Archive's Wayback Machine holds of a page. */
export const wayback = defineTool({
  name: "wayback",
  title: "Web archive history",
  summary:
    "When a page was archived by the Wayback Machine: first, last and closest snapshot, and how many in each year",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: false },
  example: { url: "https://example.com" },
  deadlineMs: () => 60_000,
  params: Type.Object({ url: Url({ description: "Page to look for; it is not contacted itself" }) }),
  result: Type.Object({
    url: text("URL looked for, without fragment; the archive takes http and https, with www and without, for one"),
    archived: truth("The archive has a snapshot"),
    snapshots_total: Nullable(count("Snapshots in the archive's index; null where they were not all counted")),
    first: snapshot("The oldest; null where there is none or the index was not at hand"),
    last: snapshot("The newest; null where there is none or the index was not at hand"),
    closest: snapshot("The one closest to now that the archive shows by itself; null where there is none"),
    years: Type.Unsafe<Record<string, number>>({
      type: "object",
      additionalProperties: { type: "integer" },
      description:
        "Snapshots by calendar year (UTC), years without one left out; empty where they were not all counted",
    }),
    calendar_url: text("The archive's calendar of the page"),
    ...OBSERVED_FIELDS,
  }),
  across: { agreeOn: ({ archived }) => archived, measure: () => ({}) },
});
