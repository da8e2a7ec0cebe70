import { html } from "#control-plane/core/pages/html.ts";
import type { PageView } from "#control-plane/public/status-pages/page.ts";
import { lastChange, listEntries } from "#control-plane/public/status-pages/render/feeds/entries.ts";
import { renderXml } from "#control-plane/public/status-pages/render/feeds/xml.ts";

/** Renders the RSS 2.0 feed of a page. */
export function renderRss(view: PageView, serviceUrl: string): string {
  const { title, url, description } = view;
  const entries = listEntries(view, serviceUrl);
  // The description of a channel is required; the link to itself is recommended by the RSS Best Practices Profile.
  return renderXml(html`
    <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
    <title>${title}</title>
    <link>${url}</link>
    <description>${description ?? `Incidents and maintenance of ${title}`}</description>
    <language>en</language>
    <lastBuildDate>${lastChange(view, entries).toUTCString()}</lastBuildDate>
    <atom:link rel="self" type="application/rss+xml" href="${url}/feed.rss"/>
    ${entries.map(
      (entry) => html`
        <item>
        <title>${entry.title}</title>
        <link>${entry.url}</link>
        <guid isPermaLink="false">${entry.id}</guid>
        <pubDate>${entry.publishedAt.toUTCString()}</pubDate>
        <category>${entry.category}</category>
        <description>${String(entry.html)}</description>
        </item>${"\n"}`,
    )}</channel></rss>`);
}
