import { renderLatency, type LatencyChart } from "#control-plane/core/charts/latency.ts";
import { ageOf, writePercent, writeSince, type MonitorPage } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import type { Latency, LatencyRange } from "#control-plane/outages/history/read/latency.ts";
import type { showIncident } from "#control-plane/outages/incidents/serialize.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

/** Ranges of the chart, the shortest first. */
const RANGES = ["d1", "d7", "d30", "d90"] as const satisfies readonly LatencyRange[];

const RANGE_WORDS: Readonly<Record<LatencyRange, string>> = {
  d1: "24 hours",
  d7: "7 days",
  d30: "30 days",
  d90: "90 days",
};

const DAY_MS = 86_400_000;

function daysOf(range: LatencyRange): number {
  return Number(range.slice(1));
}

/** Reads the range of the page's address; another word is the shortest. */
export function rangeOf(given: unknown): LatencyRange {
  return RANGES.find((name) => name === given) ?? "d1";
}

/** What is marked in the chart. */
interface Marked {
  readonly incidents: readonly ReturnType<typeof showIncident>[];
  /** Unix milliseconds. */
  readonly maintenance: readonly { readonly from: number; readonly to: number }[];
}

/** Renders the response times of a monitor by location, with its incidents and its maintenance, and its uptime. */
export function renderResponseTimes(latency: Latency, range: LatencyRange, marked: Marked, page: MonitorPage): Html {
  const { id } = page.monitor;
  return html`
    <section class="card" id="latency">
      <h2>Response time</h2>
      <p class="row">${RANGES.map((name) => html`<a href="/app/monitors/${id}?range=${name}#latency"${name === range && html` aria-current="true"`}>${RANGE_WORDS[name]}</a>`)}</p>
      ${renderUptimes(page)}
      ${
        latency.series.length === 0
          ? html`<p>No response times were measured in this range.</p>`
          : renderLatency(chartOf(latency, range, marked), page.viewer)
      }
    </section>`;
}

function renderUptimes(page: MonitorPage): Html | null {
  const age = ageOf(page);
  const uptimes = RANGES.flatMap((name, index) => {
    const value = page.monitor.uptime[name];
    if (value === null) return [];
    // A monitor that is younger than the shorter range has no more in this one.
    const isMore = index === 0 || age > daysOf(RANGES[index - 1] ?? "d1") * DAY_MS;
    return html`<span>${RANGE_WORDS[name]} <b>${isMore ? writePercent(value) : "\u2013"}</b></span> `;
  });
  const isYoung = age < daysOf("d90") * DAY_MS;
  const title = isYoung ? `Uptime since ${writeSince(page)}` : "Uptime";
  return uptimes.length === 0 ? null : html`<p class="faint">${title}: ${uptimes}</p>`;
}

function chartOf(
  { from, to, stepMs, series }: Latency,
  range: LatencyRange,
  { incidents, maintenance }: Marked,
): LatencyChart {
  return {
    label: `Response time, ${RANGE_WORDS[range]}`,
    from,
    to,
    stepMs,
    series: series.map(({ location, ...rest }) => ({ name: location, ...rest })),
    incidents: incidents.map((one) => ({
      from: Date.parse(one.started_at),
      to: one.resolved_at === null ? to : Date.parse(one.resolved_at),
      title: one.cause?.message ?? "incident",
    })),
    maintenance: maintenance.map((span) => ({ ...span, title: "maintenance" })),
  };
}
