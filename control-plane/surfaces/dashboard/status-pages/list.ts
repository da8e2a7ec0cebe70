import type { FastifyInstance } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { counted } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import { visibleAt, wordsOfDomain } from "#control-plane/surfaces/dashboard/status-pages/render.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import { OVERALL_LABELS } from "#control-plane/public/status-pages/render/labels.ts";
import type { OverallStatus } from "#control-plane/public/status-pages/page.ts";
import type { ShownPage } from "#control-plane/public/status-pages/settings/resource.ts";
import { MOST_PAGES } from "#control-plane/public/status-pages/writes.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** Tones of the overall status of a page. */
const TONES: Readonly<Record<OverallStatus, string>> = {
  operational: "good",
  degraded_performance: "warn",
  partial_outage: "bad",
  major_outage: "bad",
  under_maintenance: "",
  unknown: "",
};

/** Registers GET /app/status-pages. */
export function registerStatusPageList(
  scope: FastifyInstance,
  { guard, statusPages: pages, subscribers }: Dashboard,
): void {
  scope.route({
    ...guard.page({ needs: "read" }),
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
        renderRow(page, statuses.get(page.id) ?? "unknown", counts.get(page.id) ?? 0, canWrite),
      );
      const body = renderList(rows, canWrite);
      return sendPage(request, reply, { title: "Status pages", session, section: "status-pages", body });
    },
  });
}

function renderList(rows: readonly Html[], canWrite: boolean): Html {
  const none = html`
    <div class="card"><h2>No status pages yet</h2>
    <p>A status page shows visitors the state of the monitors that you choose, and mails its incidents to those who subscribe.</p></div>`;
  return html`
    <div class="head"><h1>Status pages</h1>${canWrite && html`<a class="button primary" href="/app/status-pages/new">Create a page</a>`}</div>
    ${rows.length === 0 ? none : html`<ul class="rows status-pages">${rows}</ul>`}`;
}

function renderRow(page: ShownPage, status: OverallStatus, subscribers: number, canWrite: boolean): Html {
  const url = visibleAt(page);
  return html`
    <li><span class="badge ${TONES[status]}">${OVERALL_LABELS[status]}</span>
    <div class="what"><a href="/app/status-pages/${page.id}${!canWrite && "/preview"}" dir="auto">${page.title}</a><p><a href="${url}">${url}</a></p></div>
    <p class="when">${page.is_public ? "public" : "private"}, ${counted(subscribers, "subscriber")}${page.domain !== null && html`<br>${page.domain}: ${wordsOfDomain(page)}`}</p></li>`;
}
