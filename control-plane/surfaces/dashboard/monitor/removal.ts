import type { FastifyInstance } from "fastify";
import { memberOf, type Door } from "#control-plane/surfaces/dashboard/door/door.ts";
import { readForm } from "#control-plane/surfaces/dashboard/door/form.ts";
import type { MemberWrites } from "#control-plane/surfaces/dashboard/door/member-writes.ts";
import { renderHidden, renderInput, renderNote } from "#control-plane/surfaces/dashboard/frame/fields.ts";
import { nameOf } from "#control-plane/surfaces/dashboard/monitor/head.ts";
import { idOf, sendMonitorPage, type WithId } from "#control-plane/surfaces/dashboard/monitor/own.ts";
import { MONITOR } from "#control-plane/surfaces/dashboard/strings/monitor.ts";
import { requireFound } from "#control-plane/http/errors.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { changeOf } from "#control-plane/monitors/changed-fields.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

const URL = "/app/monitors/:id/delete";

const renderTop: (top: { readonly id: number; readonly name: string }) => string = compileTemplate(`
<h1>${MONITOR.removeTitle}</h1><p>${MONITOR.removeHint}</p><p><b><%= it.name %></b></p>
`);

const renderOpening: (form: { readonly id: number }) => string = compileTemplate(
  `<form class="stack card" method="post" action="/app/monitors/<%= it.id %>/delete">`,
);

const renderEnd: (form: { readonly id: number }) => string = compileTemplate(`
<div class="row"><button class="danger">${MONITOR.remove}</button><a href="/app/monitors/<%= it.id %>">${MONITOR.cancel}</a></div></form>
`);

/** Renders the page that asks for the name of a monitor before it is deleted. */
function renderRemoval(removal: {
  readonly id: number;
  readonly name: string;
  readonly formToken: string;
  readonly problem: string | null;
}): string {
  const { id, name, formToken, problem } = removal;
  return [
    renderTop({ id, name }),
    problem === null ? "" : renderNote("bad", problem),
    renderOpening({ id }),
    renderHidden("_csrf", formToken),
    renderInput({ name: "name", label: MONITOR.removeLabel, isRequired: true, hasFocus: true, maxLength: 2_048 }),
    renderEnd({ id }),
  ].join("");
}

/** Registers the deletion of a monitor, by its name. */
export function registerRemoval(
  scope: FastifyInstance,
  { door, monitors, writes }: { readonly door: Door; readonly monitors: Monitors; readonly writes: MemberWrites },
): void {
  scope.route<WithId>({
    ...door.page({ needs: "write" }),
    url: URL,
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId, formToken } = memberOf(request);
      const { monitor } = requireFound(await monitors.find(accountId, idOf(request)), "monitor");
      const body = renderRemoval({ id: monitor.id, name: nameOf(monitor), formToken, problem: null });
      return sendMonitorPage(request, reply, MONITOR.removeTitle, body);
    },
  });
  scope.route<WithId>({
    ...door.form({ needs: "write" }),
    url: URL,
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId, formToken } = memberOf(request);
      const own = { accountId, id: idOf(request) };
      const { monitor } = requireFound(await monitors.find(accountId, own.id), "monitor");
      const name = nameOf(monitor);
      if (readForm(request).text("name").trim() !== name) {
        const body = renderRemoval({ id: own.id, name, formToken, problem: MONITOR.removeProblem });
        return sendMonitorPage(request, reply.code(400), MONITOR.removeTitle, body);
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
