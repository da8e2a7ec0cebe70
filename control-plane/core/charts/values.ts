import { isKnown, type LatencySeries } from "#control-plane/core/charts/series.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** Maximum number of rows of the table. */
const MOST_ROWS = 50;

interface Shown {
  readonly caption: string;
  readonly names: readonly string[];
  readonly rows: readonly { readonly time: string; readonly cells: readonly string[] }[];
}

// End tags that HTML allows to leave out are left out: they would be a third of the table.
const renderTable: (shown: Shown) => string = compileTemplate(
  `<details><summary>Values as a table</summary><div role="group" tabindex="0" aria-label="Values"><table><caption><%= it.caption %></caption><thead><tr><th scope="col">Time` +
    `<% for (const name of it.names) { %><th scope="col"><%= name %><% } %><tbody>` +
    `<% for (const row of it.rows) { %><tr><th scope="row"><%= row.time %><% for (const cell of row.cells) { %><td><%= cell %><% } %><% } %></table></div></details>`,
);

/** Renders the medians of series as a table, with at most 50 of their steps. "" if there are none. */
export function renderValues(series: readonly LatencySeries[], { format }: ViewerTime): string {
  const byTime = series.map(
    ({ points }) => new Map(points.flatMap(({ at, p50 }) => (isKnown(p50) ? [[at.getTime(), Math.round(p50)]] : []))),
  );
  const times = [...new Set(byTime.flatMap((values) => [...values.keys()]))].toSorted((a, b) => a - b);
  if (times.length === 0) return "";
  const every = Math.ceil(times.length / MOST_ROWS);
  const kept = times.filter((_, index) => index % every === 0);
  return renderTable({
    caption: `Median response times in ms${every === 1 ? "" : `, one of ${every} steps`}`,
    names: series.map(({ name }) => name),
    rows: kept.map((at) => ({
      time: format(at, "minute"),
      cells: byTime.map((values) => String(values.get(at) ?? "-")),
    })),
  });
}
