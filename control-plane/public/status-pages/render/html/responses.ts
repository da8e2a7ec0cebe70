import { renderLatency } from "#control-plane/core/charts/latency.ts";
import { viewerTimeIn } from "#control-plane/core/charts/viewer-time.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { PageView } from "#control-plane/public/status-pages/page.ts";

// Times of a page are in UTC.
const TIME = viewerTimeIn({ name: "UTC", offsetAt: () => 0 });

const renderName: (monitor: { readonly name: string }) => string = compileTemplate(
  `<li><details><summary><h3 dir="auto"><%= it.name %></h3></summary>`,
);

/**
 * Renders the response times of each monitor that has any, folded, all locations together: visitors read no location.
 * Incidents and maintenance that the page shows are marked. "" if the page does not show response times.
 */
export function renderResponses(view: PageView): string {
  const { groups, responses } = view;
  if (responses === null) return "";
  const { from, to, stepMs } = responses;
  const charts = groups
    .flatMap(({ monitors }) => monitors)
    .flatMap(({ id, name }) => {
      const found = responses.series.get(id);
      if (found === undefined) return [];
      const series = [{ ...found, name: "Response time" }];
      const chart = { label: `${name}, 24 hours`, from, to, stepMs, series, ...markedOf(view, id, to) };
      return `${renderName({ name })}${renderLatency(chart, TIME)}</details></li>`;
    });
  if (charts.length === 0) return "";
  return `<section><h2>Response times in the last 24 hours</h2><ul class="c">${charts.join("")}</ul></section>`;
}

/** Returns the incidents and the maintenance of a monitor that the page shows, as marked times up to `now`. */
function markedOf({ incidents, maintenance }: PageView, id: number, now: number) {
  return {
    incidents: incidents
      .filter(({ monitorIds }) => monitorIds.includes(id))
      .map(({ title, startedAt, resolvedAt }) => ({
        title,
        from: startedAt.getTime(),
        to: resolvedAt?.getTime() ?? now,
      })),
    maintenance: maintenance
      .filter(({ monitorIds }) => monitorIds.includes(id))
      .map(({ title, startsAt, endsAt }) => ({ title, from: startsAt.getTime(), to: endsAt.getTime() })),
  };
}
