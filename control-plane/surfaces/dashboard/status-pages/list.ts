import type { FastifyInstance } from "fastify";
import { memberOf, type Door } from "#control-plane/surfaces/dashboard/door/door.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { STATUS_PAGES } from "#control-plane/surfaces/dashboard/strings/status-pages.ts";
import { visibleAt, wordsOfDomain } from "#control-plane/surfaces/dashboard/status-pages/render.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import { OVERALL_WORDS } from "#control-plane/public/status-pages/render/words.ts";
import type { OverallStatus } from "#control-plane/public/status-pages/page.ts";
import type { ShownPage } from "#control-plane/public/status-pages/show-page.ts";
import type { StatusPages } from "#control-plane/public/status-pages/status-pages.ts";
import type { Subscribers } from "#control-plane/public/status-pages/subscribers/subscribers.ts";
import { MOST_PAGES } from "#control-plane/public/status-pages/writes.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";

/** Dependencies of the list. */
interface ListDeps {
  readonly door: Door;
  readonly pages: Pick<StatusPages, "list" | "statuses">;
  readonly subscribers: Pick<Subscribers, "counts">;
}

/** Tones of the overall status of a page. */
const TONES: Readonly<Record<OverallStatus, string>> = {
  operational: "good",
  degraded_performance: "warn",
  partial_outage: "bad",
  major_outage: "bad",
  under_maintenance: "",
  unknown: "",
};

interface Row {
  readonly title: string;
  /** Where its name leads. */
  readonly path: string;
  readonly url: string;
  readonly tone: string;
  readonly state: string;
  readonly isPublic: boolean;
  /** Its own domain with the state of that; null: none. */
  readonly domain: string | null;
  readonly subscribers: string;
}

const render: (list: { readonly canWrite: boolean; readonly rows: readonly Row[] }) => string = compileTemplate(`
<div class="head"><h1>${STATUS_PAGES.title}</h1><% if (it.canWrite) { %><a class="button primary" href="/app/status-pages/new">${STATUS_PAGES.create}</a><% } %></div>
<% if (it.rows.length === 0) { %><div class="card"><h2>${STATUS_PAGES.none}</h2><p>${STATUS_PAGES.noneHint}</p></div><% } else { %><ul class="rows status-pages">
<% for (const row of it.rows) { %><li><span class="badge <%= row.tone %>"><%= row.state %></span>
<div class="what"><a href="<%= row.path %>" dir="auto"><%= row.title %></a><p><a href="<%= row.url %>"><%= row.url %></a></p></div>
<p class="when"><%= row.isPublic ? "${STATUS_PAGES.isPublic}" : "${STATUS_PAGES.isPrivate}" %>, <%= row.subscribers %><% if (row.domain !== null) { %><br><%= row.domain %><% } %></p></li><% } %></ul><% } %>
`);

/** Registers GET /app/status-pages. */
export function registerStatusPageList(scope: FastifyInstance, { door, pages, subscribers }: ListDeps): void {
  scope.route({
    ...door.page({ needs: "read" }),
    url: "/app/status-pages",
    schema: { hide: true },
    async handler(request, reply) {
      const session = memberOf(request);
      const { accountId } = session;
      const [list, counts] = await Promise.all([
        pages.list(accountId, { limit: MOST_PAGES, offset: 0 }),
        subscribers.counts(accountId),
      ]);
      const statuses = await pages.statuses(accountId, list.pages);
      const canWrite = isAllowed(session.role, "write");
      const rows = list.pages.map((page) =>
        toRow(page, statuses.get(page.id) ?? "unknown", counts.get(page.id) ?? 0, canWrite),
      );
      const body = render({ canWrite, rows });
      return sendPage(request, reply, { title: STATUS_PAGES.title, session, section: "status-pages", body });
    },
  });
}

function toRow(page: ShownPage, status: OverallStatus, subscribers: number, canWrite: boolean): Row {
  return {
    title: page.title,
    path: canWrite ? `/app/status-pages/${page.id}` : `/app/status-pages/${page.id}/preview`,
    url: visibleAt(page),
    tone: TONES[status],
    state: OVERALL_WORDS[status],
    isPublic: page.is_public,
    domain: page.domain === null ? null : `${page.domain}: ${wordsOfDomain(page)}`,
    subscribers: STATUS_PAGES.subscribers(subscribers),
  };
}
