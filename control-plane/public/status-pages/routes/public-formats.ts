import type { PageView } from "#control-plane/public/status-pages/page.ts";
import { renderAtom } from "#control-plane/public/status-pages/render/feeds/atom.ts";
import { renderJsonFeed } from "#control-plane/public/status-pages/render/feeds/json-feed.ts";
import { renderRss } from "#control-plane/public/status-pages/render/feeds/rss.ts";
import { policyOf } from "#control-plane/public/status-pages/render/html/frame.ts";
import { renderPage } from "#control-plane/public/status-pages/render/html/page.ts";
import {
  renderActiveWindows,
  renderComponents,
  renderIncidents,
  renderStatus,
  renderSummary,
  renderUnresolved,
  renderUpcomingWindows,
  renderWindows,
} from "#control-plane/public/status-pages/render/summary.ts";
import { READABLE } from "#control-plane/public/status-pages/routes/public-headers.ts";

/** Where a page is rendered for. */
interface Place {
  /** Path of the page without a slash at its end: "" on its own domain. */
  readonly base: string;
  /** Address of this service. */
  readonly serviceUrl: string;
}

/** A form of a page that every visitor can read. */
interface PublicFormat {
  /** Path below the page; "" for the page itself. */
  readonly path: string;
  /** Content-Type. */
  readonly type: string;
  /** For the API document: id and summary of the operation; null: not listed. */
  readonly operation: { readonly id: string; readonly summary: string } | null;
  render(view: PageView, place: Place): string;
  /** Header fields besides those of every form. */
  headers(view: PageView): Readonly<Record<string, string>>;
}

/** Media type of the forms in JSON. */
const JSON_TYPE = "application/json; charset=utf-8";

/** Creates the format of one path of Statuspage's API v2. */
function jsonFormat(
  path: string,
  render: (view: PageView) => string,
  operation: PublicFormat["operation"] = null,
): PublicFormat {
  return { path, type: JSON_TYPE, operation, render, headers: () => READABLE };
}

/** Creates the format of a feed. */
function feedFormat(
  path: string,
  type: string,
  name: string,
  render: (view: PageView, serviceUrl: string) => string,
): PublicFormat {
  return {
    path,
    type: `${type}; charset=utf-8`,
    operation: {
      id: `read_status_page_${path.slice("/feed.".length)}`,
      summary: `Get the incidents and the maintenance of a status page as ${name}`,
    },
    render: (view, { serviceUrl }) => render(view, serviceUrl),
    headers: () => READABLE,
  };
}

/** All forms of a page except the badge, which has parameters. */
export const PUBLIC_FORMATS: readonly PublicFormat[] = [
  {
    path: "",
    type: "text/html; charset=utf-8",
    operation: { id: "show_status_page", summary: "Show a status page" },
    render: (view, { base }) => String(renderPage(view, base)),
    headers: (view) => ({ "content-security-policy": policyOf(view) }),
  },
  feedFormat("/feed.rss", "application/rss+xml", "an RSS 2.0 feed", renderRss),
  feedFormat("/feed.atom", "application/atom+xml", "an Atom feed", renderAtom),
  feedFormat("/feed.json", "application/feed+json", "a JSON Feed", renderJsonFeed),
  jsonFormat("/summary.json", renderSummary, {
    id: "read_status_page_summary",
    summary: "Get a status page in the shape of Atlassian Statuspage's API v2",
  }),
  jsonFormat("/api/v2/summary.json", renderSummary),
  jsonFormat("/api/v2/status.json", renderStatus),
  jsonFormat("/api/v2/components.json", renderComponents),
  jsonFormat("/api/v2/incidents.json", renderIncidents),
  jsonFormat("/api/v2/incidents/unresolved.json", renderUnresolved),
  jsonFormat("/api/v2/scheduled-maintenances.json", renderWindows),
  jsonFormat("/api/v2/scheduled-maintenances/active.json", renderActiveWindows),
  jsonFormat("/api/v2/scheduled-maintenances/upcoming.json", renderUpcomingWindows),
];
