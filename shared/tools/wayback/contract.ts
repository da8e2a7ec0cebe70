import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { count, integer, OBSERVED_FIELDS, record, text, truth } from "#shared/tools/shapes.ts";

function snapshot(description: string) {
  return Nullable(
    record(
      {
        timestamp: text("Time of the snapshot, ISO 8601 UTC"),
        url: text("URL of the snapshot in the archive"),
        code: Nullable(integer("HTTP status of the page; null if the archive refers to an earlier copy or has none")),
      },
      description,
    ),
  );
}

/** Looks up the snapshots of a page in the Internet Archive's Wayback Machine. */
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
  params: Type.Object({ url: Url({ description: "Page to look up; the page itself is not contacted" }) }),
  result: Type.Object({
    url: text("URL looked up, without fragment; the archive treats http and https, with and without www, as one page"),
    archived: truth("Whether the archive has a snapshot"),
    snapshots_total: Nullable(count("Snapshots in the archive's index; null if not all were counted")),
    first: snapshot("The oldest; null if there is none or the index was unavailable"),
    last: snapshot("The newest; null if there is none or the index was unavailable"),
    closest: snapshot("The one closest to now, by the archive's availability API; null if there is none"),
    years: Type.Unsafe<Record<string, number>>({
      type: "object",
      additionalProperties: { type: "integer" },
      description: "Snapshots by calendar year (UTC), without years that have none; empty if not all were counted",
    }),
    calendar_url: text("The archive's calendar of the page"),
    ...OBSERVED_FIELDS,
  }),
  across: { agreeOn: ({ archived }) => archived, measure: () => ({}) },
});
