import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { PageView, ShownMonitor, ShownDay } from "#control-plane/public/status-pages/page.ts";
import { lastChangeOfPage } from "#control-plane/public/status-pages/render/changes.ts";
import {
  OPEN_ID,
  renderIncidents,
  renderMaintenance,
  renderPast,
} from "#control-plane/public/status-pages/render/html/events.ts";
import { renderDocument, renderTitle } from "#control-plane/public/status-pages/render/html/frame.ts";
import { OVERALL_MARKS, type Mark, STATUS_MARKS } from "#control-plane/public/status-pages/render/html/marks.ts";
import {
  formatTime,
  OVERALL_LABELS,
  dayOf,
  formatDay,
  formatPercent,
  formatSince,
  STATUS_LABELS,
} from "#control-plane/public/status-pages/render/labels.ts";
import { renderLatency } from "#control-plane/core/charts/latency.ts";
import { viewerTimeIn } from "#control-plane/core/charts/viewer-time.ts";
import { writeDuration } from "#shared/text/duration.ts";

/**
 * Renders a status page as HTML. `base` is the path at which visitors see it: "" on its own domain. `isRefreshed`: whether
 * it is kept fresh while somebody reads it.
 */
export function renderPage(view: PageView, base: string, isRefreshed = true): Html {
  const { title, description, footer, overallStatus } = view;
  const words = OVERALL_LABELS[overallStatus];
  const head = {
    title: `${words} - ${title}`,
    description: description ?? `Status of ${title}`,
    preview: words,
    canonical: view.url,
    base,
    site: title,
    look: view,
    overallStatus,
    isRefreshed,
    hasCharts: view.responses !== null,
  };
  // What explains the banner comes first.
  return renderDocument(
    head,
    html`
      <a class="k" href="#main">Skip to the status</a>
      <header><h1 dir="auto">${renderTitle(view, title, base)}</h1><ul class="n">${renderHomepage(view)}<li><a href="#updates">Get updates</a></li></ul>
      ${description !== null && html`<p class="w" dir="auto">${description}</p>`}</header>
      <main id="main">
      <p class="s" id="lost" role="status" hidden>This page could not be refreshed. It shows how things were before.</p>
      ${renderStale(view)}
      ${renderBanner(view)}
      ${renderIncidents(view, base)}
      ${renderMaintenance(view, "in_progress")}
      ${renderMonitors(view)}
      ${renderResponses(view)}
      ${renderMaintenance(view, "scheduled")}
      ${renderPast(view, base)}
      <p class="f"><a href="${base}/history">Earlier incidents and maintenance</a></p>
      ${renderUpdates(view, base)}</main>
      <footer>${footer !== null && html`<p class="w" dir="auto">${footer}</p>`}
      <p>All times are in UTC.</p></footer>`,
  );
}

/** Renders a link to the site that the page is about. null if it has none. */
function renderHomepage({ homepageUrl }: PageView): Html | null {
  return homepageUrl === null ? null : html`<li><a href="${homepageUrl}">${new URL(homepageUrl).host}</a></li>`;
}

function renderStale({ stale }: PageView): Html | null {
  if (stale === null) return null;
  const { at } = stale;
  const last =
    at === null
      ? "Nothing has been checked yet."
      : html`The last check was at <time datetime="${at.toISOString()}">${formatTime(at)}</time>.`;
  return html`
    <section class="s">${renderMark("ig")}
    <div><h2>This page may be out of date</h2><p>The status below can be wrong.
    ${last}</p></div></section>`;
}

/** Renders the status of everything, and when a monitor was last checked; if none ever was, when the page last changed. */
function renderBanner(view: PageView): Html {
  const { overallStatus, checkedAt, incidents } = view;
  const { colour, shape } = OVERALL_MARKS[overallStatus];
  const newest = checkedAt ?? lastChangeOfPage(view);
  // To the minute, as in the words: otherwise each check would change the page.
  const time = html`<time datetime="${newest.toISOString().slice(0, 16)}Z">${formatTime(newest)}</time>`;
  const open = incidents.filter(({ resolvedAt }) => resolvedAt === null).length;
  const link = html` &middot; <a href="#${OPEN_ID}">${open} open ${open === 1 ? "incident" : "incidents"}</a>`;
  return html`
    <section class="b ${colour}">${renderMark(shape)}
    <div><h2>${OVERALL_LABELS[overallStatus]}</h2><p>${checkedAt === null ? "Last change" : "Last checked"} ${time}${open > 0 && link}</p></div></section>`;
}

function renderMark(shape: Mark["shape"]): Html {
  return html`<svg class="i" aria-hidden="true"><use href="#${shape}"/></svg>`;
}

function renderUpdates({ canSubscribe }: PageView, base: string): Html {
  const form = html`
    <form method="post" action="${base}/subscribe"><label for="email">Mail address. You get one mail for each incident, update and maintenance.</label>
    <div class="g"><input type="email" id="email" name="email" required maxlength="254" autocomplete="email"><button>Subscribe</button></div></form>`;
  return html`
    <section><h2 id="updates">Get updates</h2>
    ${canSubscribe && form}
    <nav aria-label="Feeds"><p>For feed readers and programs:</p><ul><li><a href="${base}/feed.rss">RSS</a></li><li><a href="${base}/feed.atom">Atom</a></li>
    <li><a href="${base}/feed.json">JSON Feed</a></li><li><a href="${base}/summary.json">Status as JSON</a></li>
    <li><a href="${base}/badge.svg">Badge</a></li></ul></nav></section>`;
}

// Times of a page are in UTC.
const TIME = viewerTimeIn({ name: "UTC", offsetAt: () => 0 });

/**
 * Renders the response times of each monitor that has any, folded, all locations together: visitors read no location.
 * Incidents and maintenance that the page shows are marked. null: the page does not show response times.
 */
function renderResponses(view: PageView): Html | null {
  const { groups, responses } = view;
  if (responses === null) return null;
  const { from, to, stepMs } = responses;
  const charts = groups
    .flatMap(({ monitors }) => monitors)
    .flatMap(({ id, name }) => {
      const found = responses.series.get(id);
      if (found === undefined) return [];
      const series = [{ ...found, name: "Response time" }];
      const chart = { label: `${name}, 24 hours`, from, to, stepMs, series, ...markedOf(view, id, to) };
      return html`<li><details><summary><h3 dir="auto">${name}</h3></summary>${renderLatency(chart, TIME)}</details></li>`;
    });
  if (charts.length === 0) return null;
  return html`<section><h2>Response times in the last 24 hours</h2><ul class="c">${charts}</ul></section>`;
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

/** A day as a bar: the class of its shape in the style ("" for a day without downtime), and its figures in words. */
interface Bar {
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly shape: "" | "p" | "o" | "m" | "n";
  readonly words: string;
}

/** A day below this uptime, percent, is displayed as an outage: down for more than 72 minutes. */
const OUTAGE_BELOW = 95;

/** A day as it is written: YYYY-MM-DD, and for people. */
type NamedDay = Pick<Bar, "day" | "words">;

/** Returns the bar of a day. Throws a RangeError if the day is not a date. `named`: the days that are written already. */
export function barOf(shown: ShownDay, named = new Map<string, NamedDay>()): Bar {
  const name = named.get(shown.day) ?? { day: dayOf(new Date(shown.day)), words: formatDay(shown.day) };
  named.set(shown.day, name);
  return { day: name.day, shape: shapeOf(shown), words: `${name.words}: ${figuresOf(shown)}` };
}

function shapeOf({ uptime, downSeconds, maintenanceSeconds }: ShownDay): Bar["shape"] {
  if (uptime !== null && downSeconds > 0) return uptime < OUTAGE_BELOW ? "o" : "p";
  if (maintenanceSeconds > 0) return "m";
  return uptime === null ? "n" : "";
}

function figuresOf({ uptime, downSeconds, maintenanceSeconds }: ShownDay): string {
  const figures = [
    ...(uptime === null ? [] : [`${formatPercent(uptime)} up`]),
    ...(downSeconds > 0 ? [`${writeDuration(downSeconds)} down`] : []),
    ...(maintenanceSeconds > 0 ? [`maintenance ${writeDuration(maintenanceSeconds)}`] : []),
  ];
  return figures.length === 0 ? "no data" : figures.join(", ");
}

/** Renders the monitors of a page, by group. */
function renderMonitors({ groups }: PageView): Html {
  const filled = groups.filter(({ monitors }) => monitors.length > 0);
  if (filled.length === 0)
    return html`<section><h2>Services</h2><ul class="c"><li>No service is listed yet.</li></ul></section>`;
  // All monitors have the same days.
  const named = new Map<string, NamedDay>();
  return html`
    ${filled.map(
      ({ name, monitors }) => html`
        <section><h2 dir="auto">${name ?? "Services"}</h2><ul class="c">
        ${monitors.map((monitor) => renderMonitor(monitor, named))}
        </ul></section>`,
    )}
    <ul class="l" aria-label="Legend of the bars"><li><i aria-hidden="true"></i>Up
    <li><i class="p" aria-hidden="true"></i>Down for less than 5 % of the day
    <li><i class="o" aria-hidden="true"></i>Down for longer
    <li><i class="m" aria-hidden="true"></i>Maintenance
    <li><i class="n" aria-hidden="true"></i>No data</ul>
    <label class="v"><input type="checkbox" id="v">Show every day as text. Days are in UTC.</label>`;
}

function renderMonitor(monitor: ShownMonitor, named: Map<string, NamedDay>): Html {
  const { name, status, responseTimeMs, uptime90, days } = monitor;
  const { colour, shape } = STATUS_MARKS[status];
  // How long the page of an error took says nothing about the service.
  const response =
    responseTimeMs !== null &&
    status !== "down" &&
    html`Response&nbsp;<b>${Math.round(responseTimeMs)} ms</b> &middot; `;
  const since = uptime90 !== null && formatSince([monitor]).replaceAll(" ", "\u00A0");
  return html`
    <li class="r"><h3 dir="auto">${name}</h3>
    <p class="t ${colour}">${renderMark(shape)}${STATUS_LABELS[status]}</p>
    <p class="f">${response}Uptime&nbsp;<b>${uptime90 === null ? "unknown" : formatPercent(uptime90)}</b> ${since}</p>
    <ol class="d" aria-label="Last 90 days">${days.map((day) => renderBar(barOf(day, named)))}</ol></li>`;
}

/**
 * Renders the bar of a day. The end tags of <li> and <p> are left out, which HTML allows: they are a fifth of the bytes of a
 * bar. The words of a bar are below the bars while the pointer is on it; the checkbox shows the words of all days.
 */
function renderBar({ day, shape, words }: Bar): Html {
  return html`<li${shape !== "" && html` class="${shape}"`} data-day="${day}"><p>${words}`;
}
