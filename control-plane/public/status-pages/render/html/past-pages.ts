import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { ArchiveView, IncidentView, PageView } from "#control-plane/public/status-pages/page.ts";
import type { Month } from "#control-plane/public/status-pages/read/month.ts";
import {
  describeIncident,
  renderMonth,
  type ShownEvent,
} from "#control-plane/public/status-pages/render/html/events.ts";
import { renderBelow } from "#control-plane/public/status-pages/render/html/frame.ts";
import { formatMonth } from "#control-plane/public/status-pages/render/words.ts";

const renderEvent: (it: {
  readonly event: ShownEvent;
  readonly history: string | null;
  readonly home: string;
}) => string = compileTemplate(`
<h1 dir="auto"><%= it.event.title %></h1>
<div class="<%= it.event.box %> q">
<p><b><%= it.event.state %></b> &middot; <%= it.event.facts %></p>
<p class="f"><% if (it.event.to === null) { %>Since <% } %><time datetime="<%= it.event.from.iso %>"><%= it.event.from.words %></time><% if (it.event.to !== null) { %> to <time datetime="<%= it.event.to.iso %>"><%= it.event.to.words %></time><% } %></p>
<% if (it.event.affects.length > 0) { %><p class="f">Affects <% it.event.affects.forEach((name, index) => { if (index > 0) { %>, <% } %><bdi><%= name %></bdi><% }) %></p><% } %>
<% if (it.event.regions.length > 0) { %><p class="f">Noticed from <% it.event.regions.forEach((name, index) => { if (index > 0) { %>, <% } %><bdi><%= name %></bdi><% }) %></p><% } %>
<% if (it.event.cause !== null) { %><p class="f" dir="auto"><%= it.event.cause %></p><% } %>
</div>
<section><h2>Updates</h2>
<% if (it.event.updates.length === 0) { %><p class="w">An automatic check has found this. There are no messages about it.</p><% } else { %>
<ol class="c"><% for (const update of it.event.updates) { %>
<li class="e"><p class="f"><b><%= update.word %></b> &middot; <time datetime="<%= update.at.iso %>"><%= update.at.words %></time></p><p class="m" dir="auto"><%= update.text %></p></li>
<% } %></ol><% } %></section>
<nav aria-label="Other pages"><ul><li><a href="<%= it.home %>">Present status</a></li><% if (it.history !== null) { %><li><a href="<%= it.history %>">Other incidents of that month</a></li><% } %></ul></nav>
`);

/** Renders the page of an incident. `base`: path of the status page, without a slash at its end. */
export function renderIncidentPage({ view, incident, month }: IncidentView, base: string): string {
  const event = describeIncident(view, incident, base);
  const described = {
    // Not in one line, as an outage is on the status page.
    event: { ...event, box: event.box.replace("e a", "e") },
    history: month === null ? null : `${base}/history?month=${month}`,
    home: homeOf(base),
  };
  const head = headOf(
    view,
    base,
    `${incident.title} - ${view.title}`,
    `${event.state}: ${incident.title}`,
    incident.resolvedAt === null,
  );
  return renderBelow({ ...head, canonical: `${view.url}/incidents/${incident.id}` }, renderEvent(described));
}

/** Paths are without a month; `before` and `after`: the names of the months, for people. */
interface Navigation extends Pick<Month, "previous" | "next"> {
  readonly path: string;
  readonly home: string;
  readonly before: string;
  readonly after: string;
}

const renderNavigation: (months: Navigation) => string = compileTemplate(`
<nav aria-label="Months"><ul><% if (it.previous !== null) { %><li><a href="<%= it.path %>?month=<%= it.previous %>" rel="prev"><%= it.before %></a></li><% } %>
<% if (it.next !== null) { %><li><a href="<%= it.path %>?month=<%= it.next %>" rel="next"><%= it.after %></a></li><% } %>
<li><a href="<%= it.home %>">Present status</a></li></ul></nav>
`);

/** Renders a month of the archive. `base`: path of the status page, without a slash at its end. */
export function renderArchivePage({ view, archive }: ArchiveView, base: string): string {
  const { month } = archive;
  const navigation = renderNavigation({
    ...month,
    path: `${base}/history`,
    home: homeOf(base),
    before: formatMonth(month.previous ?? month.name),
    after: formatMonth(month.next ?? month.name),
  });
  const name = formatMonth(month.name);
  const head = headOf(
    view,
    base,
    `${name} - ${view.title}`,
    `Incidents and maintenance of ${view.title} in ${name}`,
    false,
  );
  const canonical = `${view.url}/history?month=${month.name}`;
  return renderBelow(
    { ...head, canonical },
    `<h1>Incidents and maintenance</h1>${renderMonth(view, archive, base)}${navigation}`,
  );
}

function homeOf(base: string): string {
  return base === "" ? "/" : base;
}

function headOf(view: PageView, base: string, title: string, preview: string, isRefreshed: boolean) {
  return {
    title,
    description: preview,
    preview,
    base,
    site: view.title,
    look: view,
    overallStatus: view.overallStatus,
    isRefreshed,
  };
}
