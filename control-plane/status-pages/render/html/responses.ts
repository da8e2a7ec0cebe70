import { renderLatency } from "#control-plane/charts/latency.ts";
import { viewerTimeIn } from "#control-plane/charts/viewer-time.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";
import type { PageView } from "#control-plane/status-pages/page.ts";

// Times of a page are in UTC.
const TIME = viewerTimeIn({ name: "UTC", offsetAt: () => 0 });

const renderName: (monitor: { readonly name: string }) => string = compileTemplate(
  `<li><h3 dir="auto"><%= it.name %></h3>`,
);

/**
 * Renders the response times of each monitor that has any, all locations together: visitors read no location. "" if the
 * page does not show them.
 */
export function renderResponses({ groups, responses }: PageView): string {
  if (responses === null) return "";
  const { from, to, stepMs } = responses;
  const charts = groups
    .flatMap(({ monitors }) => monitors)
    .flatMap(({ id, name }) => {
      const found = responses.series.get(id);
      if (found === undefined) return [];
      const series = [{ ...found, name: "Response time" }];
      const chart = { label: `${name}, 24 hours`, from, to, stepMs, series, incidents: [], maintenance: [] };
      return `${renderName({ name })}${renderLatency(chart, TIME)}</li>`;
    });
  if (charts.length === 0) return "";
  return `<section><h2>Response times in the last 24 hours</h2><ul class="c">${charts.join("")}</ul></section>`;
}
