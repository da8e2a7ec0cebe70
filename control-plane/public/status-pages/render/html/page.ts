import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { PageView } from "#control-plane/public/status-pages/page.ts";
import { lastChangeOfPage } from "#control-plane/public/status-pages/render/changes.ts";
import {
  OPEN_ID,
  renderIncidents,
  renderMaintenance,
  renderPast,
} from "#control-plane/public/status-pages/render/html/events.ts";
import { LOGO, logoImageOf, renderHead, type LogoImage } from "#control-plane/public/status-pages/render/html/frame.ts";
import { OVERALL_MARKS, type Mark } from "#control-plane/public/status-pages/render/html/marks.ts";
import { renderMonitors } from "#control-plane/public/status-pages/render/html/monitors.ts";
import { renderResponses } from "#control-plane/public/status-pages/render/html/responses.ts";
import { formatTime, OVERALL_WORDS } from "#control-plane/public/status-pages/render/words.ts";

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
