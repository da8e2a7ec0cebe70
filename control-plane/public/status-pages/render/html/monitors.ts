import { writeDuration } from "#shared/text/duration.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { PageView, ShownMonitor, ShownDay } from "#control-plane/public/status-pages/page.ts";
import { STATUS_MARKS } from "#control-plane/public/status-pages/render/html/marks.ts";
import {
  dayOf,
  formatDay,
  formatPercent,
  formatSince,
  STATUS_WORDS,
} from "#control-plane/public/status-pages/render/words.ts";

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
export function renderMonitors({ groups }: PageView): string {
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
