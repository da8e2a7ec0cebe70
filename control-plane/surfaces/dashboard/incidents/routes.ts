import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { viewerTimeOf } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { readIncidentQuery, toReading } from "#control-plane/surfaces/dashboard/incidents/list-query.ts";
import { renderIncidentList, titleOf, type NamedMonitor } from "#control-plane/surfaces/dashboard/incidents/list.ts";
import {
  namedMonitors,
  REFRESH_SECONDS,
  showIncident,
  type WithId,
  ALL_PAGES,
} from "#control-plane/surfaces/dashboard/incidents/views.ts";
import {
  registerIncidentWrites,
  idsOf,
  linesOf,
  problemOf,
} from "#control-plane/surfaces/dashboard/incidents/write-routes.ts";
import { readOpenFirst } from "#control-plane/outages/incidents/incidents.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";
import { readForm, type Form } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { requireRead } from "#control-plane/http/errors.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import { OPEN } from "#control-plane/outages/incidents/schemas.ts";
import { parseParams } from "#shared/schema/schema.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import {
  renderImpact,
  renderPublic,
  renderPublicText,
  renderStatus,
} from "#control-plane/surfaces/dashboard/incidents/actions.ts";
import { renderHidden, renderInput, renderNote } from "#control-plane/surfaces/dashboard/layout/fields.ts";
import { renderCheckList } from "#control-plane/surfaces/dashboard/layout/choices.ts";
import { STATUSES } from "#control-plane/outages/incidents/incident.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** Registers /app/incidents, the page of each incident, what can be done there, and the form of another one. */
export function registerIncidentViews(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, sql, clock } = deps;
  scope.route({
    ...guard.page({ needs: "read" }),
    url: "/app/incidents",
    schema: { hide: true },
    async handler(request, reply) {
      const session = memberOf(request);
      const query = readIncidentQuery(request.query as Readonly<Record<string, unknown>>);
      const { filter, rows } = toReading(query);
      const [reading, monitors] = await Promise.all([
        readOpenFirst(sql, session.accountId, filter, rows, clock.now()),
        namedMonitors(deps, session.accountId, query.monitorId === null ? [] : [query.monitorId]),
      ]);
      const body = renderIncidentList({
        ...reading,
        query,
        monitors: monitors.choices,
        isKept: monitors.isKept,
        viewer: viewerTimeOf(session),
        canWrite: isAllowed(session.role, "write"),
      });
      const title = titleOf(reading);
      return sendPage(request, reply, { title, session, section: "incidents", body, liveSeconds: REFRESH_SECONDS });
    },
  });
  scope.route<WithId>({
    ...guard.page({ needs: "read" }),
    url: "/app/incidents/:id",
    schema: { hide: true },
    handler: (request, reply) => showIncident(request, reply, deps, null),
  });
  registerOpening(scope, deps);
  registerIncidentWrites(scope, deps);
}

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
function registerOpening(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, writes, incidents } = deps;
  scope.route({
    ...guard.page({ needs: "write" }),
    url: "/app/incidents/new",
    schema: { hide: true },
    async handler(request, reply) {
      const { monitor } = request.query as { readonly monitor?: unknown };
      const monitorIds = typeof monitor === "string" ? idsOf([monitor]) : [];
      return sendForm(request, reply, deps, { ...EMPTY, monitorIds }, new Map());
    },
  });
  scope.route({
    ...guard.form({ needs: "write" }),
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
  deps: Dashboard,
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
  return sendPage(request, reply, { title: "Open an incident", session, section: "incidents", body, isForm: true });
}

/** An incident as it was typed. */
interface TypedIncident {
  readonly title: string;
  readonly text: string;
  readonly status: string;
  readonly impact: string;
  readonly isPublic: boolean;
  readonly monitorIds: readonly number[];
  readonly pageIds: readonly number[];
}

/** What the form of an incident is rendered with. */
interface IncidentForm {
  readonly typed: TypedIncident;
  /** Monitors to choose from, by name, and the number of all monitors. */
  readonly monitors: readonly NamedMonitor[];
  readonly monitorCount: number;
  readonly pages: readonly { readonly id: number; readonly title: string }[];
  readonly formToken: string;
  /** Problems by the field of the API, "" for the form as a whole. */
  readonly problems: ReadonlyMap<string, string>;
}

/** The fields of the form, whose problems are shown beside them. */
const FIELDS: ReadonlySet<string> = new Set(["title", "text", "status", "impact", "monitor_ids", "page_ids"]);

/** Renders the form that opens an incident by hand. */
function renderIncidentForm({ typed, monitors, monitorCount, pages, formToken, problems }: IncidentForm): Html {
  const fieldProblem = (field: string): string | null => problems.get(field) ?? null;
  const others = Array.from(problems).filter(([field]) => !FIELDS.has(field));
  const more = monitorCount > monitors.length ? ` The first ${monitors.length} by name are here.` : "";
  return html`
    <h1>Open an incident</h1><p class="faint">For what no monitor sees. Outages of monitors open by themselves.</p>
    ${others.map(([, problem]) => renderNote("bad", problem))}
    <form class="stack" method="post" action="/app/incidents/new">${renderHidden("_csrf", formToken)}
    ${renderInput({
      name: "title",
      label: "Title",
      hint: "One line, such as: Payments are delayed",
      value: typed.title,
      problem: fieldProblem("title"),
      isRequired: true,
      maxLength: 200,
    })}
    ${renderPublicText("f-text", typed.text, fieldProblem("text"))}
    ${renderStatus(STATUSES, typed.status, fieldProblem("status"))}
    ${renderImpact(typed.impact, fieldProblem("impact"))}
    ${renderCheckList({
      name: "monitor_ids",
      legend: "Monitors that it concerns",
      hint: `At least one monitor or status page.${more}`,
      problem: fieldProblem("monitor_ids"),
      empty: "There are no monitors.",
      options: monitors.map(({ id, name }) => ({
        value: String(id),
        label: name,
        isOn: typed.monitorIds.includes(id),
      })),
    })}
    ${renderCheckList({
      name: "page_ids",
      legend: "Status pages that show it",
      hint: "",
      problem: fieldProblem("page_ids"),
      empty: "There are no status pages.",
      options: pages.map(({ id, title }) => ({ value: String(id), label: title, isOn: typed.pageIds.includes(id) })),
    })}
    ${renderPublic(typed.isPublic)}
    <div class="row"><button class="primary">Open the incident</button><a class="button" href="/app/incidents">Cancel</a></div></form>`;
}
