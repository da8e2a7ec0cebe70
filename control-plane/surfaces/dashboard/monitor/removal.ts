import type { FastifyInstance } from "fastify";
import { memberOf, type SessionGuard } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { readForm } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import type { MemberWrites } from "#control-plane/surfaces/dashboard/session-guard/member-writes.ts";
import { renderInput, renderNote } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { nameOf } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { idOf, sendMonitorPage, type WithId } from "#control-plane/surfaces/dashboard/monitor/monitor-page.ts";
import { requireFound } from "#control-plane/http/errors.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";

const URL = "/app/monitors/:id/delete";

const TITLE = "Delete a monitor";

/** Renders the page that asks for the name of a monitor before it is deleted. */
function renderRemoval(removal: {
  readonly id: number;
  readonly name: string;
  readonly formToken: string;
  readonly problem: string | null;
}): Html {
  const { id, name, formToken, problem } = removal;
  const field = { name: "name", label: "Type its name to delete it", isRequired: true, hasFocus: true };
  return html`
    <h1>${TITLE}</h1>
    <p>Its checks, its figures and its place on status pages are deleted too. This cannot be undone.</p>
    <p><b>${name}</b></p>
    ${problem !== null && renderNote("bad", problem)}
    <form class="stack card" method="post" action="/app/monitors/${id}/delete">
      <input type="hidden" name="_csrf" value="${formToken}">
      ${renderInput({ ...field, maxLength: 2_048 })}
      <div class="row"><button class="danger">Delete</button><a href="/app/monitors/${id}">Cancel</a></div>
    </form>`;
}

/** Registers the deletion of a monitor, by its name. */
export function registerRemoval(
  scope: FastifyInstance,
  {
    guard,
    monitors,
    writes,
  }: { readonly guard: SessionGuard; readonly monitors: Monitors; readonly writes: MemberWrites },
): void {
  scope.route<WithId>({
    ...guard.page({ needs: "write" }),
    url: URL,
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId, formToken } = memberOf(request);
      const { monitor } = requireFound(await monitors.find(accountId, idOf(request)), "monitor");
      const body = renderRemoval({ id: monitor.id, name: nameOf(monitor), formToken, problem: null });
      return sendMonitorPage(request, reply, TITLE, body);
    },
  });
  scope.route<WithId>({
    ...guard.form({ needs: "write" }),
    url: URL,
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId, formToken } = memberOf(request);
      const own = { accountId, id: idOf(request) };
      const { monitor } = requireFound(await monitors.find(accountId, own.id), "monitor");
      const name = nameOf(monitor);
      if (readForm(request).text("name").trim() !== name) {
        const problem = "This is not its name. Nothing was deleted.";
        const body = renderRemoval({ id: own.id, name, formToken, problem });
        return sendMonitorPage(request, reply.code(400), TITLE, body);
      }
      const ran = await writes.run(request, async (tx) => {
        const data = requireWritten(await monitors.remove(tx, own));
        return { data, changes: [changeOf({ id: own.id, name: data.name }, "deleted")] };
      });
      if (!ran.ok) throw ran.refusal;
      return reply.redirect("/app/monitors?done=deleted", 303);
    },
  });
}
