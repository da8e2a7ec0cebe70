import type { PageView } from "#control-plane/public/status-pages/page.ts";
import { lastChange, listEntries } from "#control-plane/public/status-pages/render/feeds/entries.ts";
import { compileXml } from "#control-plane/public/status-pages/render/feeds/xml.ts";

// The description of a channel is required; the link to itself is recommended by the RSS Best Practices Profile.
const renderChannel = compileXml(`
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title><%= it.view.title %></title>
<link><%= it.view.url %></link>
<description><%= it.view.description ?? "Incidents and maintenance of " + it.view.title %></description>
<language>en</language>
<lastBuildDate><%= it.changed %></lastBuildDate>
<atom:link rel="self" type="application/rss+xml" href="<%= it.view.url %>/feed.rss"/>
<% for (const entry of it.entries) { %>
<item>
<title><%= entry.title %></title>
<link><%= entry.url %></link>
<guid isPermaLink="false"><%= entry.id %></guid>
<pubDate><%= entry.publishedAt.toUTCString() %></pubDate>
<category><%= entry.category %></category>
<description><%= entry.html %></description>
</item>
<% } %>
</channel></rss>
`);

/** Renders the RSS 2.0 feed of a page. */
export function renderRss(view: PageView, serviceUrl: string): string {
  const entries = listEntries(view, serviceUrl);
  return renderChannel({ view, changed: lastChange(view, entries).toUTCString(), entries });
}
