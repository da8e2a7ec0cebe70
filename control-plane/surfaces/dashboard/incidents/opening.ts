import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/door/door.ts";
import { readForm, type Form } from "#control-plane/surfaces/dashboard/door/form.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { renderIncidentForm, type TypedIncident } from "#control-plane/surfaces/dashboard/incidents/form.ts";
import { ALL_PAGES, namedMonitors, type IncidentViewsDeps } from "#control-plane/surfaces/dashboard/incidents/views.ts";
import { idsOf, linesOf, problemOf } from "#control-plane/surfaces/dashboard/incidents/write-routes.ts";
import { INCIDENTS } from "#control-plane/surfaces/dashboard/strings/incidents.ts";
import { requireRead } from "#control-plane/http/errors.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { OPEN } from "#control-plane/outages/incidents/schemas.ts";
import { parseParams } from "#shared/schema/schema.ts";

const EMPTY: TypedIncident = {
  title: "",
  text: "",
  status: "investigating",
  impact: "minor",
  isPublic: true,
  monitorIds: [],
  pageIds: [],
};

/** Registers the form that opens an incident by hand; `?monitor=` chooses a monitor. */
export function registerOpening(scope: FastifyInstance, deps: IncidentViewsDeps): void {
  const { door, writes, incidents } = deps;
  scope.route({
    ...door.page({ needs: "write" }),
    url: "/app/incidents/new",
    schema: { hide: true },
    async handler(request, reply) {
      const { monitor } = request.query as { readonly monitor?: unknown };
      const monitorIds = typeof monitor === "string" ? idsOf([monitor]) : [];
      return sendForm(request, reply, deps, { ...EMPTY, monitorIds }, new Map());
    },
  });
  scope.route({
    ...door.form({ needs: "write" }),
    url: "/app/incidents/new",
    schema: { hide: true },
    async handler(request, reply) {
      const { accountId, email } = memberOf(request);
      const typed = typedOf(readForm(request));
      const ran = await writes.run(request, async (tx) => {
        const body = requireRead(parseParams(OPEN, bodyOf(typed), { from: "json", unknown: "refuse" }));
        const { id, changes } = requireWritten(await incidents.open(tx, { accountId, by: email }, body));
        return { data: id, changes };
      });
      if (ran.ok) return reply.redirect(`/app/incidents/${ran.data}?done=incident_opened`, 303);
      const { field, problem } = problemOf(ran.refusal);
      return sendForm(request, reply.code(ran.refusal.status), deps, typed, new Map([[field, problem]]));
    },
  });
}

function typedOf(form: Form): TypedIncident {
  return {
    title: form.text("title"),
    text: form.text("text"),
    status: form.text("status"),
    impact: form.text("impact"),
    isPublic: form.has("public"),
    monitorIds: idsOf(form.list("monitor_ids")),
    pageIds: idsOf(form.list("page_ids")),
  };
}

/** Returns what the form says as the API takes it. */
function bodyOf({ title, text, status, impact, isPublic, monitorIds, pageIds }: TypedIncident) {
  return {
    title: title.trim(),
    text: linesOf(text),
    status,
    impact,
    public: isPublic,
    monitor_ids: [...monitorIds],
    page_ids: [...pageIds],
  };
}

async function sendForm(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: IncidentViewsDeps,
  typed: TypedIncident,
  problems: ReadonlyMap<string, string>,
): Promise<FastifyReply> {
  const session = memberOf(request);
  const [monitors, { pages }] = await Promise.all([
    namedMonitors(deps, session.accountId, typed.monitorIds),
    deps.statusPages.list(session.accountId, ALL_PAGES),
  ]);
  const body = renderIncidentForm({
    typed,
    monitors: monitors.choices,
    monitorCount: monitors.total,
    pages,
    formToken: session.formToken,
    problems,
  });
  return sendPage(request, reply, { title: INCIDENTS.newTitle, session, section: "incidents", body, isForm: true });
}
