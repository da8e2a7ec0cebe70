import type { FastifyInstance } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { sendConfirmation } from "#control-plane/surfaces/dashboard/layout/confirmation.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { viewerTimeOf, renderTime } from "#control-plane/surfaces/dashboard/layout/times.ts";
import { namedMonitors } from "#control-plane/surfaces/dashboard/incidents/views.ts";
import { renderWindowList, STATES, type ListName } from "#control-plane/surfaces/dashboard/maintenance/list.ts";
import { emptyWindow, REPEATS, repeatsOf, typedFrom } from "#control-plane/surfaces/dashboard/maintenance/values.ts";
import { sendForm, windowOf, type WithId } from "#control-plane/surfaces/dashboard/maintenance/views.ts";
import { registerWindowWrites } from "#control-plane/surfaces/dashboard/maintenance/write-routes.ts";
import { MOST_WINDOWS, type Maintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import { scheduleOf } from "#control-plane/outages/maintenance/read-window.ts";
import { nextStarts } from "#control-plane/outages/maintenance/schedule/schedule.ts";
import type { MaintenanceWindow, Status } from "#control-plane/outages/maintenance/window.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";
import { writeDuration } from "#shared/text/duration.ts";
import type { ViewerTime } from "#control-plane/core/charts/viewer-time.ts";
import type { NamedMonitor } from "#control-plane/surfaces/dashboard/incidents/list.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";

/** Windows on a page of those that are over. */
const PAGE = 50;
/** Number of next starts that the page of a window shows. */
const NEXT = 5;

/** Registers /app/maintenance: the windows of an account, the page of each, and its form. */
export function registerMaintenanceViews(scope: FastifyInstance, deps: Dashboard): void {
  const { guard, clock, maintenance } = deps;
  scope.route({
    ...guard.page({ needs: "read" }),
    url: "/app/maintenance",
    schema: { hide: true },
    async handler(request, reply) {
      const session = memberOf(request);
      const { show, page: given } = request.query as { readonly show?: unknown; readonly page?: unknown };
      const shown: ListName = show === "completed" || show === "cancelled" ? show : "open";
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
      return sendPage(request, reply, { title: "Maintenance", session, section: "maintenance", body });
    },
  });
  scope.route({
    ...guard.page({ needs: "write" }),
    url: "/app/maintenance/new",
    schema: { hide: true },
    async handler(request, reply) {
      const { monitor } = request.query as { readonly monitor?: unknown };
      const monitorIds = typeof monitor === "string" && /^[1-9]\d{0,14}$/.test(monitor) ? [Number(monitor)] : [];
      return sendForm(request, reply, deps, { id: null, typed: emptyWindow(memberOf(request).timezone, monitorIds) });
    },
  });
  scope.route<WithId>({
    ...guard.page({ needs: "read" }),
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
    ...guard.page({ needs: "write" }),
    url: "/app/maintenance/:id/edit",
    schema: { hide: true },
    async handler(request, reply) {
      const window = await windowOf(request, maintenance);
      return sendForm(request, reply, deps, { id: window.id, typed: typedFrom(window) });
    },
  });
  scope.route<WithId>({
    ...guard.page({ needs: "write" }),
    url: "/app/maintenance/:id/delete",
    schema: { hide: true },
    async handler(request, reply) {
      const { id, title } = await windowOf(request, maintenance);
      return sendConfirmation(request, reply, {
        title: "Delete the maintenance window?",
        sentence: `${title}. If it is in progress, it ends now. The time that it has covered still does not count for uptime.`,
        action: `/app/maintenance/${id}/delete`,
        submit: "Delete",
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

/** Renders the page of a maintenance window: when it is open, what it covers, and what can be done with it. */
function renderWindowPage({ window, nextStarts: starts, monitors, viewer, formToken, canWrite }: WindowPage): Html {
  const { title, status, currentEndsAt: end, rrule, timezone, tags } = window;
  const repeats = repeatsOf(rrule);
  return html`
    <p><a href="/app/maintenance">All maintenance windows</a></p>
    <div class="head"><div><h1 dir="auto">${title}</h1><p><span class="badge ${status === "in_progress" && "warn"}">${STATES[status]}</span>${end !== null && html`&#32;until ${renderTime(end, viewer)}`}</p></div>
    ${canWrite && renderActions(window, formToken)}</div>
    <section class="card"><div class="scroll" role="group" tabindex="0" aria-label="Facts"><table class="facts cards"><tbody>
    ${renderFact(rrule === null ? "Start" : "First start", renderTime(window.startsAt, viewer))}
    ${renderFact("Duration", writeDuration(window.durationSeconds))}
    ${renderFact("Repeats", repeats === "custom" ? rrule : REPEATS[repeats])}
    ${rrule !== null && renderFact("Time zone", timezone)}
    ${rrule !== null && starts.length > 0 && renderFact("Next starts", renderTimes(starts, viewer))}
    ${renderFact("Monitors", monitors.length === 0 ? "none by name" : monitors.map(renderMonitor))}
    ${tags.length > 0 && renderFact("Tags", tags.join(", "))}
    ${renderFact("Status pages", window.isPublic ? "show it" : "do not show it")}
    </tbody></table></div></section>`;
}

function renderActions(window: MaintenanceWindow, formToken: string): Html {
  const change = changeOf(window);
  const path = `/app/maintenance/${window.id}`;
  return html`
    <div class="row"><a class="button" href="${path}/edit">Edit</a>
    ${change !== null && html`<form method="post" action="${path}/${change.action}"><input type="hidden" name="_csrf" value="${formToken}"><button>${change.label}</button></form>`}
    <a class="button danger" href="${path}/delete">Delete</a></div>`;
}

/** Returns what can be done with a window besides editing and deleting it; null: nothing. */
function changeOf({ status, rrule }: MaintenanceWindow): { readonly action: string; readonly label: string } | null {
  if (status === "completed") return null;
  if (status === "cancelled") return { action: "restore", label: "Plan it again" };
  const isEnding = status === "in_progress" && rrule === null;
  return { action: "cancel", label: isEnding ? "End now" : "Cancel it" };
}

function renderFact(label: string, value: string | null | Html | readonly Html[]): Html {
  return html`<tr><th scope="row">${label}</th><td>${value}</td></tr>`;
}

function renderTimes(times: readonly Date[], viewer: ViewerTime): readonly Html[] {
  return times.map((at, index) => html`${index > 0 && ", "}${renderTime(at, viewer)}`);
}

function renderMonitor({ id, name }: NamedMonitor): Html {
  return html`<a href="/app/monitors/${id}"><bdi>${name}</bdi></a> `;
}
