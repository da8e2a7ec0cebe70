import type { FastifyInstance } from "fastify";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { memberOf, type Door } from "#control-plane/surfaces/dashboard/door/door.ts";
import { idIn, readForm } from "#control-plane/surfaces/dashboard/door/form.ts";
import type { MemberWrites } from "#control-plane/surfaces/dashboard/door/member-writes.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { formatLocal } from "#control-plane/surfaces/dashboard/frame/times.ts";
import { findOwn, type WithId } from "#control-plane/surfaces/dashboard/status-pages/own-page.ts";
import { PAGE_SUBSCRIBERS } from "#control-plane/surfaces/dashboard/strings/status-pages.ts";
import { absentMessage, Refusal } from "#control-plane/http/errors.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import type { StatusPages } from "#control-plane/public/status-pages/status-pages.ts";
import type { Subscribers } from "#control-plane/public/status-pages/subscribers/subscribers.ts";

/** Dependencies of the page. */
interface SubscribersPageDeps {
  readonly sql: Sql;
  readonly door: Door;
  readonly pages: Pick<StatusPages, "find">;
  readonly subscribers: Pick<Subscribers, "list" | "remove">;
  readonly writes: MemberWrites;
}

const ROWS = 100;
const URL = "/app/status-pages/:id/subscribers";

interface Row {
  readonly id: number;
  readonly email: string;
  readonly state: string;
  readonly since: string;
}

const render: (page: {
  readonly id: number;
  readonly title: string;
  readonly total: string;
  readonly formToken: string;
  readonly rows: readonly Row[];
  readonly newer: number | null;
  readonly older: number | null;
}) => string = compileTemplate(`
<h1>${PAGE_SUBSCRIBERS.title}</h1><p><a href="/app/status-pages/<%= it.id %>" dir="auto"><%= it.title %></a>: <%= it.total %></p>
<% if (it.rows.length > 0) { %><form method="post" action="/app/status-pages/<%= it.id %>/subscribers"><input type="hidden" name="_csrf" value="<%= it.formToken %>">
<div class="scroll" tabindex="0" role="region" aria-label="${PAGE_SUBSCRIBERS.title}"><table class="cards"><thead><tr><th scope="col">${PAGE_SUBSCRIBERS.email}</th><th scope="col">${PAGE_SUBSCRIBERS.state}</th><th scope="col">${PAGE_SUBSCRIBERS.since}</th><th scope="col"><span class="hidden">${PAGE_SUBSCRIBERS.action}</span></th></tr></thead><tbody>
<% for (const row of it.rows) { %><tr><th scope="row"><%= row.email %></th><td><%= row.state %></td><td class="date" data-label="${PAGE_SUBSCRIBERS.since}"><%= row.since %></td><td><button class="danger" name="remove" value="<%= row.id %>" aria-label="${PAGE_SUBSCRIBERS.remove} <%= row.email %>">${PAGE_SUBSCRIBERS.remove}</button></td></tr><% } %>
</tbody></table></div></form><% } %>
<% if (it.newer !== null || it.older !== null) { %><nav class="row" aria-label="${PAGE_SUBSCRIBERS.pages}"><% if (it.newer !== null) { %><a rel="prev" href="?page=<%= it.newer %>">${PAGE_SUBSCRIBERS.newer}</a><% } %>
<% if (it.older !== null) { %><a rel="next" href="?page=<%= it.older %>">${PAGE_SUBSCRIBERS.older}</a><% } %></nav><% } %>
`);

/** Registers the page of the subscribers of a status page, for owners alone: it has addresses of other people. */
export function registerPageSubscribers(scope: FastifyInstance, deps: SubscribersPageDeps): void {
  const { sql, door, subscribers, writes } = deps;
  scope.route<WithId>({
    ...door.page({ needs: "manage" }),
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
      const body = render({
        id,
        title,
        formToken,
        total: PAGE_SUBSCRIBERS.total(total),
        rows: found.map(({ since, isConfirmed, ...row }) => ({
          ...row,
          state: isConfirmed ? PAGE_SUBSCRIBERS.confirmed : PAGE_SUBSCRIBERS.pending,
          since: formatLocal(since, timezone),
        })),
        newer: number > 1 ? number - 1 : null,
        older: total > number * ROWS ? number + 1 : null,
      });
      return sendPage(request, reply, { title: PAGE_SUBSCRIBERS.title, session, section: "status-pages", body });
    },
  });
  scope.route<WithId>({
    ...door.form({ needs: "manage" }),
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
