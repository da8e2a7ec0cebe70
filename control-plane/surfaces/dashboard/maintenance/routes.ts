import type { FastifyInstance } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/door/door.ts";
import { sendConfirmation } from "#control-plane/surfaces/dashboard/frame/confirmation.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { viewerTimeOf, renderTime } from "#control-plane/surfaces/dashboard/frame/times.ts";
import { namedMonitors } from "#control-plane/surfaces/dashboard/incidents/views.ts";
import { renderWindowList, type Shown } from "#control-plane/surfaces/dashboard/maintenance/list.ts";
import { emptyWindow, typedFrom, repeatsOf } from "#control-plane/surfaces/dashboard/maintenance/values.ts";
import {
  sendForm,
  windowOf,
  type MaintenanceViewsDeps,
  type WithId,
} from "#control-plane/surfaces/dashboard/maintenance/views.ts";
import { registerWindowWrites } from "#control-plane/surfaces/dashboard/maintenance/write-routes.ts";
import { MAINTENANCE } from "#control-plane/surfaces/dashboard/strings/maintenance.ts";
import { MOST_WINDOWS, type Maintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import { scheduleOf } from "#control-plane/outages/maintenance/read-window.ts";
import { nextStarts } from "#control-plane/outages/maintenance/schedule/schedule.ts";
import type { MaintenanceWindow, Status } from "#control-plane/outages/maintenance/window.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";
import { writeDuration } from "#shared/text/duration.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import type { NamedMonitor } from "#control-plane/surfaces/dashboard/incidents/list.ts";
import { compileTemplate } from "#control-plane/core/pages/templates.ts";

/** Windows on a page of those that are over. */
const PAGE = 50;
/** Number of next starts that the page of a window shows. */
const NEXT = 5;

/** Registers /app/maintenance: the windows of an account, the page of each, and its form. */
export function registerMaintenanceViews(scope: FastifyInstance, deps: MaintenanceViewsDeps): void {
  const { door, clock, maintenance } = deps;
  scope.route({
    ...door.page({ needs: "read" }),
    url: "/app/maintenance",
    schema: { hide: true },
    async handler(request, reply) {
      const session = memberOf(request);
      const { show, page: given } = request.query as { readonly show?: unknown; readonly page?: unknown };
      const shown: Shown = show === "completed" || show === "cancelled" ? show : "open";
      const page = typeof given === "string" && /^[1-9]\d{0,4}$/.test(given) ? Number(given) : 1;
      const listed =
        shown === "open"
          ? { windows: await listOpen(maintenance, session.accountId), total: 0 }
          : await maintenance.list(session.accountId, { status: shown }, { limit: PAGE, offset: (page - 1) * PAGE });
      const body = renderWindowList({
        shown,
        windows: listed.windows,
        page: shown === "open" ? 1 : page,
        lastPage: Math.max(1, Math.ceil(listed.total / PAGE)),
        viewer: viewerTimeOf(session),
        canWrite: isAllowed(session.role, "write"),
      });
      return sendPage(request, reply, { title: MAINTENANCE.title, session, section: "maintenance", body });
    },
  });
  scope.route({
    ...door.page({ needs: "write" }),
    url: "/app/maintenance/new",
    schema: { hide: true },
    async handler(request, reply) {
      const { monitor } = request.query as { readonly monitor?: unknown };
      const monitorIds = typeof monitor === "string" && /^[1-9]\d{0,14}$/.test(monitor) ? [Number(monitor)] : [];
      return sendForm(request, reply, deps, { id: null, typed: emptyWindow(memberOf(request).timezone, monitorIds) });
    },
  });
  scope.route<WithId>({
    ...door.page({ needs: "read" }),
    url: "/app/maintenance/:id",
    schema: { hide: true },
    async handler(request, reply) {
      const session = memberOf(request);
      const window = await windowOf(request, maintenance);
      const starts = window.isCancelled ? [] : nextStarts(scheduleOf(window), clock.now().getTime(), NEXT);
      const { choices } = await namedMonitors(deps, session.accountId, window.monitorIds);
      const body = renderWindowPage({
        window,
        nextStarts: starts.map((at) => new Date(at)),
        monitors: choices.filter(({ id }) => window.monitorIds.includes(id)),
        viewer: viewerTimeOf(session),
        formToken: session.formToken,
        canWrite: isAllowed(session.role, "write"),
      });
      return sendPage(request, reply, { title: window.title, session, section: "maintenance", body });
    },
  });
  scope.route<WithId>({
    ...door.page({ needs: "write" }),
    url: "/app/maintenance/:id/edit",
    schema: { hide: true },
    async handler(request, reply) {
      const window = await windowOf(request, maintenance);
      return sendForm(request, reply, deps, { id: window.id, typed: typedFrom(window) });
    },
  });
  scope.route<WithId>({
    ...door.page({ needs: "write" }),
    url: "/app/maintenance/:id/delete",
    schema: { hide: true },
    async handler(request, reply) {
      const { id, title } = await windowOf(request, maintenance);
      return sendConfirmation(request, reply, {
        title: MAINTENANCE.deleteTitle,
        sentence: `${title}. ${MAINTENANCE.deleteHint}`,
        action: `/app/maintenance/${id}/delete`,
        submit: MAINTENANCE.delete,
        back: `/app/maintenance/${id}`,
      });
    },
  });
  registerWindowWrites(scope, deps);
}

/** Lists the windows in progress, those that end first before the others, and then the planned ones by their next start. */
async function listOpen(
  maintenance: Pick<Maintenance, "list">,
  accountId: number,
): Promise<readonly MaintenanceWindow[]> {
  const all = { limit: MOST_WINDOWS, offset: 0 };
  const read = async (status: Status) => (await maintenance.list(accountId, { status }, all)).windows;
  const [running, planned] = await Promise.all([read("in_progress"), read("scheduled")]);
  const by =
    (timeOf: (window: MaintenanceWindow) => Date | null) => (one: MaintenanceWindow, other: MaintenanceWindow) =>
      (timeOf(one)?.getTime() ?? 0) - (timeOf(other)?.getTime() ?? 0);
  return [
    ...running.toSorted(by(({ currentEndsAt }) => currentEndsAt)),
    ...planned.toSorted(by(({ nextStartsAt }) => nextStartsAt)),
  ];
}

/** What the page of a window is rendered with. */
interface WindowPage {
  readonly window: MaintenanceWindow;
  /** The next times at which it opens, in order. */
  readonly nextStarts: readonly Date[];
  /** Monitors that it names and the account still has. */
  readonly monitors: readonly NamedMonitor[];
  readonly viewer: ViewerTime;
  /** Value of the field `_csrf`. */
  readonly formToken: string;
  readonly canWrite: boolean;
}

const renderHead: (head: { readonly title: string; readonly state: string; readonly tone: string }) => string =
  compileTemplate(`
<p><a href="/app/maintenance">${MAINTENANCE.back}</a></p>
<div class="head"><div><h1 dir="auto"><%= it.title %></h1><p><span class="badge <%= it.tone %>"><%= it.state %></span>`);

const renderActions: (actions: {
  readonly id: number;
  readonly formToken: string;
  readonly change: { readonly action: string; readonly label: string } | null;
}) => string = compileTemplate(`
<div class="row"><a class="button" href="/app/maintenance/<%= it.id %>/edit">${MAINTENANCE.edit}</a>
<% if (it.change !== null) { %><form method="post" action="/app/maintenance/<%= it.id %>/<%= it.change.action %>"><input type="hidden" name="_csrf" value="<%= it.formToken %>"><button><%= it.change.label %></button></form><% } %>
<a class="button danger" href="/app/maintenance/<%= it.id %>/delete">${MAINTENANCE.delete}</a></div>`);

const renderLabel: (fact: { readonly label: string }) => string = compileTemplate(
  `<tr><th scope="row"><%= it.label %></th><td>`,
);

const renderText: (part: { readonly text: string }) => string = compileTemplate("<%= it.text %>");

function renderFact(label: string, value: string): string {
  return `${renderLabel({ label })}${renderText({ text: value })}</td></tr>`;
}

function renderTimes(label: string, times: readonly Date[], viewer: ViewerTime): string {
  return `${renderLabel({ label })}${times.map((at) => renderTime(at, viewer)).join(", ")}</td></tr>`;
}

const renderMonitors: (list: { readonly monitors: readonly NamedMonitor[] }) => string = compileTemplate(`
<tr><th scope="row">${MAINTENANCE.monitors}</th><td><% if (it.monitors.length === 0) { %>${MAINTENANCE.noMonitors}<% } %>
<% for (const one of it.monitors) { %><a href="/app/monitors/<%= one.id %>"><bdi><%= one.name %></bdi></a> <% } %></td></tr>`);

/** Renders the page of a maintenance window: when it is open, what it covers, and what can be done with it. */
function renderWindowPage({ window, nextStarts: starts, monitors, viewer, formToken, canWrite }: WindowPage): string {
  const { id, status, currentEndsAt: end, rrule } = window;
  const repeats = repeatsOf(rrule);
  const head = renderHead({
    title: window.title,
    state: MAINTENANCE.states[status],
    tone: status === "in_progress" ? "warn" : "",
  });
  return [
    head,
    end === null ? "" : `&#32;${MAINTENANCE.until} ${renderTime(end, viewer)}`,
    "</p></div>",
    canWrite ? renderActions({ id, formToken, change: changeOf(window) }) : "",
    `</div><section class="card"><div class="scroll" role="group" tabindex="0" aria-label="${MAINTENANCE.facts}"><table class="facts cards"><tbody>`,
    renderTimes(rrule === null ? MAINTENANCE.first : MAINTENANCE.firstOfMany, [window.startsAt], viewer),
    renderFact(MAINTENANCE.lasts, writeDuration(window.durationSeconds)),
    renderFact(MAINTENANCE.repeating, repeats === "custom" ? (rrule ?? "") : MAINTENANCE.repeats[repeats]),
    rrule === null ? "" : renderFact(MAINTENANCE.zone, window.timezone),
    rrule === null || starts.length === 0 ? "" : renderTimes(MAINTENANCE.next, starts, viewer),
    renderMonitors({ monitors }),
    window.tags.length === 0 ? "" : renderFact(MAINTENANCE.tags, window.tags.join(", ")),
    renderFact(MAINTENANCE.visible, window.isPublic ? MAINTENANCE.shown : MAINTENANCE.hidden),
    "</tbody></table></div></section>",
  ].join("");
}

/** Returns what can be done with a window besides editing and deleting it; null: nothing. */
function changeOf({ status, rrule }: MaintenanceWindow): { readonly action: string; readonly label: string } | null {
  if (status === "completed") return null;
  if (status === "cancelled") return { action: "restore", label: MAINTENANCE.restore };
  const isEnding = status === "in_progress" && rrule === null;
  return { action: "cancel", label: isEnding ? MAINTENANCE.end : MAINTENANCE.cancel };
}
