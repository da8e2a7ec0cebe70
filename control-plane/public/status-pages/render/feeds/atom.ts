import type { PageView } from "#control-plane/public/status-pages/page.ts";
import { lastChange, listEntries } from "#control-plane/public/status-pages/render/feeds/entries.ts";
import { compileXml } from "#control-plane/public/status-pages/render/feeds/xml.ts";

const renderFeed = compileXml(`
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id><%= it.id %></id>
<title><%= it.view.title %></title>
<% if (it.view.description !== null) { %><subtitle><%= it.view.description %></subtitle><% } %>
<updated><%= it.updated %></updated>
<author><name><%= it.view.title %></name></author>
<link rel="self" type="application/atom+xml" href="<%= it.view.url %>/feed.atom"/>
<link rel="alternate" type="text/html" href="<%= it.view.url %>"/>
<% for (const entry of it.entries) { %>
<entry>
<id><%= entry.id %></id>
<title><%= entry.title %></title>
<link rel="alternate" type="text/html" href="<%= entry.url %>"/>
<published><%= entry.publishedAt.toISOString() %></published>
<updated><%= entry.updatedAt.toISOString() %></updated>
<category term="<%= entry.category %>"/>
<content type="html"><%= entry.html %></content>
</entry>
<% } %>
</feed>
`);

/** Renders the Atom feed of a page (RFC 4287). */
export function renderAtom(view: PageView, serviceUrl: string): string {
  const entries = listEntries(view, serviceUrl);
  return renderFeed({
    view,
    id: `${serviceUrl}/status/${view.slug}`,
    updated: lastChange(view, entries).toISOString(),
    entries,
  });
}
