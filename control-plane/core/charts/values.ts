import { isKnown, type LatencySeries } from "#control-plane/core/charts/series.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** Maximum number of rows of the table. */
const MOST_ROWS = 50;

/** Renders the medians of series as a table, with at most 50 of their steps; null if there are none. */
export function renderValues(series: readonly LatencySeries[], { format }: ViewerTime): Html | null {
  const byTime = series.map(
    ({ points }) => new Map(points.flatMap(({ at, p50 }) => (isKnown(p50) ? [[at.getTime(), Math.round(p50)]] : []))),
  );
  const times = [...new Set(byTime.flatMap((values) => [...values.keys()]))].toSorted((a, b) => a - b);
  if (times.length === 0) return null;
  const every = Math.ceil(times.length / MOST_ROWS);
  const caption = `Median response times in ms${every === 1 ? "" : `, one of ${every} steps`}`;
  const names = series.map(({ name }) => html`<th scope="col">${name}`);
  // End tags that HTML allows to leave out are left out: they would be a third of the table.
  const rows = times
    .filter((_, index) => index % every === 0)
    .map((at) => {
      const cells = byTime.map((values) => html`<td>${values.get(at) ?? "-"}`);
      return html`<tr><th scope="row">${format(at, "minute")}${cells}`;
    });
  return html`<details><summary>Values as a table</summary><div role="group" tabindex="0" aria-label="Values"><table><caption>${caption}</caption><thead><tr><th scope="col">Time${names}<tbody>${rows}</table></div></details>`;
}
