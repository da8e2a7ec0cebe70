import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { memberOf, type Door } from "#control-plane/surfaces/dashboard/door/door.ts";
import { readForm } from "#control-plane/surfaces/dashboard/door/form.ts";
import type { MemberWrites } from "#control-plane/surfaces/dashboard/door/member-writes.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { findOwn, type WithId } from "#control-plane/surfaces/dashboard/status-pages/own-page.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import type { ShownPage } from "#control-plane/public/status-pages/show-page.ts";
import type { StatusPages } from "#control-plane/public/status-pages/status-pages.ts";
import { renderHidden, renderInput, renderNote } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { STATUS_PAGES } from "#control-plane/surfaces/dashboard/strings/status-pages.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";
import { MOST_SLUG } from "#control-plane/public/status-pages/settings/slug.ts";

/** Dependencies of the removal. */
interface RemovalDeps {
  readonly sql: Sql;
  readonly door: Door;
  readonly pages: Pick<StatusPages, "find" | "remove">;
  readonly writes: MemberWrites;
}

const renderTop: (page: { readonly title: string; readonly slug: string }) => string = compileTemplate(`
<h1>${STATUS_PAGES.removeTitle}</h1><p>${STATUS_PAGES.removeHint}</p><p><b dir="auto"><%= it.title %></b> (<code><%= it.slug %></code>)</p>
`);

const renderOpening: (page: { readonly id: number }) => string = compileTemplate(
  `<form class="stack card" method="post" action="/app/status-pages/<%= it.id %>/delete">`,
);

const renderEnd: (page: { readonly id: number }) => string = compileTemplate(`
<div class="row"><button class="danger">${STATUS_PAGES.delete}</button><a href="/app/status-pages/<%= it.id %>">${STATUS_PAGES.cancel}</a></div></form>
`);

/** Renders the page that asks for the slug of a status page before it is deleted. */
function renderRemoval(
  page: { readonly id: number; readonly title: string; readonly slug: string },
  formToken: string,
  problem: string | null,
): string {
  return [
    renderTop(page),
    problem === null ? "" : renderNote("bad", problem),
    renderOpening(page),
    renderHidden("_csrf", formToken),
    renderInput({
      name: "slug",
      label: STATUS_PAGES.removeLabel,
      isRequired: true,
      hasFocus: true,
      maxLength: MOST_SLUG,
    }),
    renderEnd(page),
  ].join("");
}

/** Registers the page that deletes a status page. */
export function registerRemoval(scope: FastifyInstance, deps: RemovalDeps): void {
  const { door, pages, writes } = deps;
  const url = "/app/status-pages/:id/delete";
  const ask = (request: FastifyRequest, reply: FastifyReply, page: ShownPage, problem: string | null) => {
    const session = memberOf(request);
    const body = renderRemoval(page, session.formToken, problem);
    const title = STATUS_PAGES.removeTitle;
    return sendPage(request, reply, { title, session, section: "status-pages", body, isForm: true });
  };
  scope.route<WithId>({
    ...door.page({ needs: "write" }),
    url,
    schema: { hide: true },
    handler: async (request, reply) => ask(request, reply, await findOwn(request, deps), null),
  });
  scope.route<WithId>({
    ...door.form({ needs: "write" }),
    url,
    schema: { hide: true },
    async handler(request, reply) {
      const page = await findOwn(request, deps);
      if (readForm(request).text("slug").trim() !== page.slug) {
        return ask(request, reply.code(400), page, STATUS_PAGES.removeProblem);
      }
      const ran = await writes.run(request, async (tx) => {
        const own = { accountId: memberOf(request).accountId, id: page.id };
        const { change } = requireWritten(await pages.remove(tx, own));
        return { data: null, changes: [change] };
      });
      if (!ran.ok) throw ran.refusal;
      return reply.redirect("/app/status-pages?done=page_deleted", 303);
    },
  });
}
