import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { PageView, ShownMonitor, ShownDay } from "#control-plane/public/status-pages/page.ts";
import { lastChangeOfPage } from "#control-plane/public/status-pages/render/changes.ts";
import {
  OPEN_ID,
  renderIncidents,
  renderMaintenance,
  renderPast,
} from "#control-plane/public/status-pages/render/html/events.ts";
import { LOGO, logoImageOf, renderHead, type LogoImage } from "#control-plane/public/status-pages/render/html/frame.ts";
import { OVERALL_MARKS, type Mark, STATUS_MARKS } from "#control-plane/public/status-pages/render/html/marks.ts";
import {
  formatTime,
  OVERALL_WORDS,
  dayOf,
  formatDay,
  formatPercent,
  formatSince,
  STATUS_WORDS,
} from "#control-plane/public/status-pages/render/words.ts";
import { renderLatency } from "#control-plane/core/charts/latency.ts";
import { viewerTimeIn } from "#control-plane/core/charts/viewer-time.ts";
import { writeDuration } from "#shared/text/duration.ts";

/** What the templates of this file show. */
interface Shown {
  readonly view: PageView;
  readonly logo: LogoImage | null;
  /** Path of the page, without a slash at its end. */
  readonly base: string;
  readonly words: string;
  readonly mark: Mark;
  /** When a monitor was last checked; if none ever was, when the page last changed. */
  readonly newest: { readonly label: string; readonly at: string; readonly words: string };
  readonly stale: { readonly at: string; readonly words: string } | null;
  /** The site that the page is about; null: none. */
  readonly home: { readonly url: string; readonly host: string } | null;
  /** How many incidents are open; null: none. */
  readonly open: string | null;
}

const renderTop: (shown: Shown) => string = compileTemplate(`
<a class="k" href="#main">Skip to the status</a>
<header><h1 dir="auto"><% if (it.logo !== null) { %>${LOGO}<% } else { %><%= it.view.title %><% } %></h1><ul class="n"><% if (it.home !== null) { %><li><a href="<%= it.home.url %>"><%= it.home.host %></a></li><% } %><li><a href="#updates">Get updates</a></li></ul>
<% if (it.view.description !== null) { %><p class="w" dir="auto"><%= it.view.description %></p><% } %></header>
<main id="main">
<p class="s" id="lost" role="status" hidden>This page could not be refreshed. It shows how things were before.</p>
<% if (it.stale !== null) { %><section class="s"><svg class="i" aria-hidden="true"><use href="#ig"/></svg>
<div><h2>This page may be out of date</h2><p>The status below can be wrong.
<% if (it.stale.at === "") { %> Nothing has been checked yet.<% } else { %> The last check was at <time datetime="<%= it.stale.at %>"><%= it.stale.words %></time>.<% } %></p></div></section><% } %>
<section class="b <%= it.mark.colour %>"><svg class="i" aria-hidden="true"><use href="#<%= it.mark.shape %>"/></svg>
<div><h2><%= it.words %></h2><p><%= it.newest.label %> <time datetime="<%= it.newest.at %>"><%= it.newest.words %></time><% if (it.open !== null) { %> &middot; <a href="#${OPEN_ID}"><%= it.open %></a><% } %></p></div></section>
`);

const renderBottom: (shown: Shown) => string = compileTemplate(`
<p class="f"><a href="<%= it.base %>/history">Earlier incidents and maintenance</a></p>
<section><h2 id="updates">Get updates</h2>
<% if (it.view.canSubscribe) { %><form method="post" action="<%= it.base %>/subscribe"><label for="email">Mail address. You get one mail for each incident, update and maintenance.</label>
<div class="g"><input type="email" id="email" name="email" required maxlength="254" autocomplete="email"><button>Subscribe</button></div></form><% } %>
<nav aria-label="Feeds"><p>For feed readers and programs:</p><ul><li><a href="<%= it.base %>/feed.rss">RSS</a></li><li><a href="<%= it.base %>/feed.atom">Atom</a></li>
<li><a href="<%= it.base %>/feed.json">JSON Feed</a></li><li><a href="<%= it.base %>/summary.json">Status as JSON</a></li>
<li><a href="<%= it.base %>/badge.svg">Badge</a></li></ul></nav></section></main>
<footer><% if (it.view.footer !== null) { %><p class="w" dir="auto"><%= it.view.footer %></p><% } %>
<p>All times are in UTC.</p></footer></body></html>
`);

/**
 * Renders a status page as HTML. `base` is the path at which visitors see it: "" on its own domain. `isRefreshed`: whether
 * it is kept fresh while somebody reads it.
 */
export function renderPage(view: PageView, base: string, isRefreshed = true): string {
  const { overallStatus, checkedAt, stale } = view;
  const newest = checkedAt ?? lastChangeOfPage(view);
  const open = view.incidents.filter(({ resolvedAt }) => resolvedAt === null).length;
  const shown: Shown = {
    view,
    logo: logoImageOf(view, view.title, base),
    base,
    words: OVERALL_WORDS[overallStatus],
    mark: OVERALL_MARKS[overallStatus],
    newest: {
      label: checkedAt === null ? "Last change" : "Last checked",
      // To the minute, as in the words: otherwise each check would change the page.
      at: `${newest.toISOString().slice(0, 16)}Z`,
      words: formatTime(newest),
    },
    stale:
      stale === null
        ? null
        : { at: stale.at?.toISOString() ?? "", words: stale.at === null ? "" : formatTime(stale.at) },
    home: view.homepageUrl === null ? null : { url: view.homepageUrl, host: new URL(view.homepageUrl).host },
    open: open === 0 ? null : `${open} open ${open === 1 ? "incident" : "incidents"}`,
  };
  const head = renderHead({
    title: `${shown.words} - ${view.title}`,
    description: view.description ?? `Status of ${view.title}`,
    preview: shown.words,
    canonical: view.url,
    base,
    site: view.title,
    look: view,
    overallStatus,
    isRefreshed,
    hasCharts: view.responses !== null,
  });
  return [
    head,
    renderTop(shown),
    // What explains the banner comes first.
    renderIncidents(view, base),
    renderMaintenance(view, "in_progress"),
    renderMonitors(view),
    renderResponses(view),
    renderMaintenance(view, "scheduled"),
    renderPast(view, base),
    renderBottom(shown),
  ].join("");
}

// Times of a page are in UTC.
const TIME = viewerTimeIn({ name: "UTC", offsetAt: () => 0 });

const renderName: (monitor: { readonly name: string }) => string = compileTemplate(
  `<li><details><summary><h3 dir="auto"><%= it.name %></h3></summary>`,
);

/**
 * Renders the response times of each monitor that has any, folded, all locations together: visitors read no location.
 * Incidents and maintenance that the page shows are marked. "" if the page does not show response times.
 */
function renderResponses(view: PageView): string {
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

/** A day as a bar: the class of its shape in the style ("" for a day without downtime), and its figures in words. */
interface Bar {
  /** YYYY-MM-DD: digits and hyphens only. */
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

// The end tags of <li> and <p> are left out, which HTML allows: they are a fifth of the bytes of a bar. The day and the
// shape have no quotes for the same reason: barOf writes the day with digits and hyphens only. The words of a bar are below
// the bars while the pointer is on it; the checkbox shows the words of all days.
const renderGroups: (it: { readonly groups: readonly object[] }) => string = compileTemplate(`
<% for (const group of it.groups) { %>
<section><h2 dir="auto"><%= group.name %></h2><ul class="c">
<% for (const monitor of group.monitors) { %>
<li class="r"><h3 dir="auto"><%= monitor.name %></h3>
<p class="t <%= monitor.mark.colour %>"><svg class="i" aria-hidden="true"><use href="#<%= monitor.mark.shape %>"/></svg><%= monitor.word %></p>
<p class="f"><% if (monitor.response !== null) { %>Response&nbsp;<b><%= monitor.response %></b> &middot; <% } %>Uptime&nbsp;<b><%= monitor.uptime %></b> <%= monitor.since %></p>
<ol class="d" aria-label="Last 90 days"><% for (const bar of monitor.bars) { %><li<% if (bar.shape !== "") { %> class=<%= bar.shape %><% } %> data-day=<%= bar.day %>><p><%= bar.words %><% } %></ol></li>
<% } %>
</ul></section>
<% } %>
<ul class="l" aria-label="Legend of the bars"><li><i aria-hidden="true"></i>Up
<li><i class="p" aria-hidden="true"></i>Down for less than 5 % of the day
<li><i class="o" aria-hidden="true"></i>Down for longer
<li><i class="m" aria-hidden="true"></i>Maintenance
<li><i class="n" aria-hidden="true"></i>No data</ul>
<label class="v"><input type="checkbox" id="v">Show every day as text. Days are in UTC.</label>
`);

const NO_MONITORS = `<section><h2>Services</h2><ul class="c"><li>No service is listed yet.</li></ul></section>`;

/** Renders the monitors of a page, by group. */
function renderMonitors({ groups }: PageView): string {
  const filled = groups.filter(({ monitors }) => monitors.length > 0);
  if (filled.length === 0) return NO_MONITORS;
  // All monitors have the same days.
  const named = new Map<string, NamedDay>();
  return renderGroups({
    groups: filled.map(({ name, monitors }) => {
      return { name: name ?? "Services", monitors: monitors.map((monitor) => describe(monitor, named)) };
    }),
  });
}

function describe({ name, status, responseTimeMs, uptime90, days }: ShownMonitor, named: Map<string, NamedDay>) {
  return {
    name,
    mark: STATUS_MARKS[status],
    word: STATUS_WORDS[status],
    // How long the page of an error took says nothing about the service.
    response: responseTimeMs === null || status === "down" ? null : `${Math.round(responseTimeMs)} ms`,
    uptime: uptime90 === null ? "unknown" : formatPercent(uptime90),
    since: uptime90 === null ? "" : formatSince([{ days }]).replaceAll(" ", "\u00A0"),
    bars: days.map((day) => barOf(day, named)),
  };
}
