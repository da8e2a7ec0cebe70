import type { FastifyInstance } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { idIn, readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { formatLocal } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { findOwn, type WithId } from "#control-plane/surfaces/dashboard/status-pages/own-page.ts";
import { counted } from "#control-plane/surfaces/dashboard/layout/amounts.ts";
import { absentMessage, Refusal } from "#control-plane/http/errors.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { Subscribers } from "#control-plane/public/status-pages/subscribers/subscribers.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

const ROWS = 100;
const URL = "/app/status-pages/:id/subscribers";

/** Registers the page of the subscribers of a status page, for owners alone: it has addresses of other people. */
export function registerPageSubscribers(scope: FastifyInstance, deps: Dashboard): void {
  const { sql, guard, subscribers, writes } = deps;
  scope.route<WithId>({
    ...guard.page({ needs: "manage" }),
    url: URL,
    schema: { hide: true },
    async handler(request, reply) {
      const session = memberOf(request);
      const { accountId, formToken, timezone } = session;
      const { id, title } = await findOwn(request, deps);
      const { page: asked } = request.query as { readonly page?: unknown };
      const number = typeof asked === "string" && /^[1-9]\d{0,5}$/.test(asked) ? Number(asked) : 1;
      const limits = { limit: ROWS, offset: (number - 1) * ROWS };
      const { subscribers: found, total } = await subscribers.list(sql, { accountId, pageId: id }, limits);
      const body = html`
        <h1>Subscribers</h1><p><a href="/app/status-pages/${id}" dir="auto">${title}</a>: ${counted(total, "address", "addresses")}</p>
        ${found.length > 0 && html`<form method="post" action="/app/status-pages/${id}/subscribers"><input type="hidden" name="_csrf" value="${formToken}">${renderTable(found, timezone)}</form>`}
        ${renderPages(number, total)}`;
      return sendPage(request, reply, { title: "Subscribers", session, section: "status-pages", body });
    },
  });
  scope.route<WithId>({
    ...guard.form({ needs: "manage" }),
    url: URL,
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId } = memberOf(request);
      const { id: pageId, slug } = await findOwn(request, deps);
      const id = idIn(readForm(request), "remove") ?? 0;
      const ran = await writes.run(request, async (tx) => {
        if (!(await subscribers.remove(tx, { accountId, pageId, id }))) {
          throw new Refusal("not_found", absentMessage("subscriber"));
        }
        const { total } = await subscribers.list(tx, { accountId, pageId }, { limit: 0, offset: 0 });
        // The log keeps how many there are, not whose address it was: that person's data are deleted.
        const changed = [{ field: "subscribers", before: total + 1, after: total }];
        return {
          data: null,
          changes: [{ resource: "status_page", id: pageId, name: slug, action: "changed", changed }],
        };
      });
      if (!ran.ok) throw ran.refusal;
      return reply.redirect(`/app/status-pages/${pageId}/subscribers?done=subscriber_removed`, 303);
    },
  });
}

function renderTable(found: Awaited<ReturnType<Subscribers["list"]>>["subscribers"], timezone: string): Html {
  const rows = found.map(
    ({ id, email, since, isConfirmed }) => html`
      <tr><th scope="row">${email}</th><td>${isConfirmed ? "confirmed" : "asked, not confirmed"}</td><td class="date" data-label="Since">${formatLocal(since, timezone)}</td>
      <td><button class="danger" name="remove" value="${id}" aria-label="Remove ${email}">Remove</button></td></tr>`,
  );
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Subscribers"><table class="cards"><thead><tr><th scope="col">Email</th><th scope="col">State</th><th scope="col">Since</th><th scope="col"><span class="hidden">Action</span></th></tr></thead><tbody>
    ${rows}</tbody></table></div>`;
}

/** Renders the links to the pages before and after the one with this number; null if there are no others. */
function renderPages(number: number, total: number): Html | null {
  const hasOlder = total > number * ROWS;
  if (number === 1 && !hasOlder) return null;
  return html`
    <nav class="row" aria-label="Pages of subscribers">
    ${number > 1 && html`<a rel="prev" href="?page=${number - 1}">Newer</a>`}
    ${hasOlder && html`<a rel="next" href="?page=${number + 1}">Older</a>`}</nav>`;
}
