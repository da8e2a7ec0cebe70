import { html } from "#control-plane/core/pages/html.ts";
import type { PageView } from "#control-plane/public/status-pages/page.ts";
import { lastChange, listEntries } from "#control-plane/public/status-pages/render/feeds/entries.ts";
import { renderXml } from "#control-plane/public/status-pages/render/feeds/xml.ts";

/** Renders the Atom feed of a page (RFC 4287). */
export function renderAtom(view: PageView, serviceUrl: string): string {
  const { title, slug, url, description } = view;
  const entries = listEntries(view, serviceUrl);
  return renderXml(html`
    <feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
    <id>${serviceUrl}/status/${slug}</id>
    <title>${title}</title>
    ${description !== null && html`<subtitle>${description}</subtitle>`}<updated>${lastChange(view, entries).toISOString()}</updated>
    <author><name>${title}</name></author>
    <link rel="self" type="application/atom+xml" href="${url}/feed.atom"/>
    <link rel="alternate" type="text/html" href="${url}"/>
    ${entries.map(
      (entry) => html`
        <entry>
        <id>${entry.id}</id>
        <title>${entry.title}</title>
        <link rel="alternate" type="text/html" href="${entry.url}"/>
        <published>${entry.publishedAt.toISOString()}</published>
        <updated>${entry.updatedAt.toISOString()}</updated>
        <category term="${entry.category}"/>
        <content type="html">${String(entry.html)}</content>
        </entry>${"\n"}`,
    )}</feed>`);
}
