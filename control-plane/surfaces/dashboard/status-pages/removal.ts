import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { findOwn, type WithId } from "#control-plane/surfaces/dashboard/status-pages/own-page.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import type { ShownPage } from "#control-plane/public/status-pages/settings/resource.ts";
import { renderHidden, renderInput, renderNote } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import { MOST_SLUG } from "#control-plane/public/status-pages/settings/slug.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** Renders the page that asks for the slug of a status page before it is deleted. */
function renderRemoval({ id, title, slug }: ShownPage, formToken: string, problem: string | null): Html {
  return html`
    <h1>Delete the status page</h1><p>Its address, its subscribers and its own domain are given up. The monitors stay.</p><p><b dir="auto">${title}</b> (<code>${slug}</code>)</p>
    ${problem !== null && renderNote("bad", problem)}
    <form class="stack card" method="post" action="/app/status-pages/${id}/delete">${renderHidden("_csrf", formToken)}
    ${renderInput({
      name: "slug",
      label: "Type the last part of its address to delete it",
      isRequired: true,
      hasFocus: true,
      maxLength: MOST_SLUG,
    })}
    <div class="row"><button class="danger">Delete the page</button><a href="/app/status-pages/${id}">Cancel</a></div></form>`;
}

/** Registers the page that deletes a status page. */
export function registerRemoval(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, statusPages: pages, writes } = deps;
  const url = "/app/status-pages/:id/delete";
  const ask = (request: FastifyRequest, reply: FastifyReply, page: ShownPage, problem: string | null) => {
    const session = memberOf(request);
    const body = renderRemoval(page, session.formToken, problem);
    const title = "Delete the status page";
    return sendPage(request, reply, { title, session, section: "status-pages", body, isForm: true });
  };
  scope.route<WithId>({
    ...guard.page({ needs: "write" }),
    url,
    schema: { hide: true },
    handler: async (request, reply) => ask(request, reply, await findOwn(request, deps), null),
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url,
    schema: { hide: true },
    async handler(request, reply) {
      const page = await findOwn(request, deps);
      if (readForm(request).text("slug").trim() !== page.slug) {
        const problem = "This is not the last part of its address. Nothing was deleted.";
        return ask(request, reply.code(400), page, problem);
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
