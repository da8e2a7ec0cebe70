import type { PageView } from "#control-plane/public/status-pages/page.ts";
import { listEntries } from "#control-plane/public/status-pages/render/feeds/entries.ts";

/** Renders the JSON Feed of a page (version 1.1). */
export function renderJsonFeed(view: PageView, serviceUrl: string): string {
  return JSON.stringify({
    version: "https://jsonfeed.org/version/1.1",
    title: view.title,
    home_page_url: view.url,
    feed_url: `${view.url}/feed.json`,
    ...(view.description === null ? {} : { description: view.description }),
    language: "en",
    items: listEntries(view, serviceUrl).map(({ id, url, title, category, html, publishedAt, updatedAt }) => ({
      id,
      url,
      title,
      content_html: String(html),
      date_published: publishedAt.toISOString(),
      date_modified: updatedAt.toISOString(),
      tags: [category],
    })),
  });
}
