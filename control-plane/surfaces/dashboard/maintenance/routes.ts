import type { FastifyInstance } from "fastify";
import { memberOf } from "#control-plane/surfaces/dashboard/door/door.ts";
import { sendConfirmation } from "#control-plane/surfaces/dashboard/frame/confirmation.ts";
import { sendPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { viewerTimeOf } from "#control-plane/surfaces/dashboard/frame/times.ts";
import { namedMonitors } from "#control-plane/surfaces/dashboard/incidents/views.ts";
import { renderWindowList, type Shown } from "#control-plane/surfaces/dashboard/maintenance/list.ts";
import { renderWindowPage } from "#control-plane/surfaces/dashboard/maintenance/page.ts";
import { emptyWindow, typedFrom } from "#control-plane/surfaces/dashboard/maintenance/values.ts";
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
