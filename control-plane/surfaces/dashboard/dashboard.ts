import cookie from "@fastify/cookie";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Clock } from "#shared/time/clock.ts";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Changes } from "#control-plane/accounts/changes/changes.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import type { Turns } from "#control-plane/core/database/turns.ts";
import { createMemberWrites } from "#control-plane/surfaces/dashboard/door/member-writes.ts";
import { createDoor } from "#control-plane/surfaces/dashboard/door/door.ts";
import { acceptForms } from "#control-plane/surfaces/dashboard/door/files.ts";
import { requireStorable } from "#control-plane/surfaces/dashboard/door/form.ts";
import { findAsset } from "#control-plane/surfaces/dashboard/frame/assets.ts";
import { renderProblemPage } from "#control-plane/surfaces/dashboard/frame/page.ts";
import { registerList } from "#control-plane/surfaces/dashboard/monitors/list-routes.ts";
import { createOverviews } from "#control-plane/surfaces/dashboard/monitors/overviews.ts";
import { registerMonitorForm } from "#control-plane/surfaces/dashboard/monitor-form/routes.ts";
import { registerMonitor } from "#control-plane/surfaces/dashboard/monitor/routes.ts";
import { registerChangesPage } from "#control-plane/surfaces/dashboard/changes/routes.ts";
import { registerKeyPages } from "#control-plane/surfaces/dashboard/keys/routes.ts";
import { registerMembers } from "#control-plane/surfaces/dashboard/members/routes.ts";
import { registerIncidentViews } from "#control-plane/surfaces/dashboard/incidents/routes.ts";
import type { IncidentViewsDeps } from "#control-plane/surfaces/dashboard/incidents/views.ts";
import { registerMaintenanceViews } from "#control-plane/surfaces/dashboard/maintenance/routes.ts";
import { registerPaste } from "#control-plane/surfaces/dashboard/paste/routes.ts";
import { registerBulk } from "#control-plane/surfaces/dashboard/bulk/routes.ts";
import { registerProfile } from "#control-plane/surfaces/dashboard/profile/routes.ts";
import { registerByMail } from "#control-plane/surfaces/dashboard/sign-in/by-mail.ts";
import { registerInvite } from "#control-plane/surfaces/dashboard/sign-in/invite.ts";
import { registerSignIn } from "#control-plane/surfaces/dashboard/sign-in/routes.ts";
import { registerToolPages, type ToolPagesDeps } from "#control-plane/surfaces/dashboard/tools/routes.ts";
import { registerStatusPageList } from "#control-plane/surfaces/dashboard/status-pages/list.ts";
import { registerPageSubscribers } from "#control-plane/surfaces/dashboard/status-pages/subscribers.ts";
import { registerStatusPageForm } from "#control-plane/surfaces/dashboard/status-pages/routes.ts";
import { registerStart } from "#control-plane/surfaces/dashboard/sign-in/start.ts";
import type { OriginSettings } from "#control-plane/http/connection/own-origin.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { sendDocument } from "#control-plane/http/operations/document.ts";
import type { ErrorRenderer } from "#control-plane/http/request.ts";
import type { Trials } from "#control-plane/monitors/try/try.ts";
import type { Maintenance } from "#control-plane/outages/maintenance/maintenance.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import type { History } from "#control-plane/outages/history/history.ts";
import type { TestMails } from "#control-plane/notify/mail/test-mails.ts";
import type { Webhooks } from "#control-plane/notify/webhooks/webhooks.ts";
import type { StatusPages } from "#control-plane/public/status-pages/status-pages.ts";
import type { Subscribers } from "#control-plane/public/status-pages/subscribers/subscribers.ts";
import type { Keys } from "#control-plane/accounts/keys/keys.ts";
import type { Pictures } from "#control-plane/watching/pictures/pictures.ts";
import type { Plans } from "#control-plane/core/plans/plans.ts";
import type { Users } from "#control-plane/people/users/users.ts";

/** Dependencies of the dashboard. */
interface DashboardDeps extends Pick<ToolPagesDeps, "checks" | "presence" | "gate" | "measurements"> {
  readonly sql: Sql;
  /** Connections of sign-ins and sessions, which nothing else takes. */
  readonly signInSql: Sql;
  readonly turns: Turns;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly users: Users;
  readonly monitors: Monitors;
  readonly trials: Trials;
  readonly history: Pick<History, "halfHours" | "latency" | "searchChecks">;
  readonly statusPages: StatusPages;
  readonly subscribers: Subscribers;
  readonly maintenance: Maintenance;
  readonly pictures: Pick<Pictures, "find">;
  readonly webhooks: Webhooks;
  readonly testMails: TestMails;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly plans: Plans;
  readonly changes: Changes;
  /** Limits requests of people who are not signed in, by client address. */
  readonly visits: AddressLimiter;
  /** Whose pages may send forms. */
  readonly config: OriginSettings;
  /** Whether the service sends mail. */
  readonly canMail: boolean;
  readonly incidents: IncidentViewsDeps["incidents"];
  readonly evidenceOf: IncidentViewsDeps["evidenceOf"];
  /** Whether anybody may open an account, by mail. */
  readonly canSignUp: boolean;
}

const HEADINGS: Readonly<Record<number, string>> = {
  403: "Not allowed",
  404: "Not found",
  429: "Too many requests",
};

const renderError: ErrorRenderer = ({ status, details }, request, reply) =>
  String(renderProblemPage(request, reply, HEADINGS[status] ?? "This did not work", details.message));

/** Registers the pages for people: sign-in, and everything below /app/. */
export async function registerDashboard(server: FastifyInstance, deps: DashboardDeps): Promise<void> {
  await server.register(async (scope) => {
    await scope.register(cookie);
    acceptForms(scope);
    scope.decorateRequest("session", null);
    scope.addHook("onRoute", (route) => {
      route.config = { ...route.config, renderError };
    });
    scope.addHook("preHandler", async ({ query }) => requireStorable(query as Readonly<Record<string, unknown>>));
    const isSecure = deps.baseUrl.startsWith("https:");
    const door = createDoor({ ...deps, isSecure });
    const signIn = { ...deps, sql: deps.signInSql, door, isSecure };
    registerAssets(scope);
    registerSignIn(scope, signIn);
    registerStart(scope, signIn);
    registerByMail(scope, signIn);
    registerInvite(scope, { ...signIn, nameOf: async (id) => (await deps.accounts.find(deps.sql, id))?.email ?? null });
    registerProfile(scope, signIn);
    registerKeyPages(scope, { ...deps, door, record: deps.changes.record });
    registerChangesPage(scope, { ...deps, door });
    registerMembers(scope, { ...signIn, sql: deps.sql, record: deps.changes.record });
    scope.route({
      ...door.page({ needs: "read" }),
      url: "/app",
      schema: { hide: true },
      handler: (_request, reply) => reply.redirect("/app/monitors", 303),
    });
    scope.route({
      ...door.page({ needs: "read" }),
      url: "/app/*",
      schema: { hide: true },
      handler: () => {
        throw new Refusal("not_found", "There is no such page.");
      },
    });
    const overviews = createOverviews(deps);
    const writes = createMemberWrites({ ...deps, record: deps.changes.record });
    registerList(scope, { ...deps, door, overviews });
    registerPaste(scope, { ...deps, door, writes });
    registerBulk(scope, { ...deps, door, overviews, writes });
    registerMonitorForm(scope, { ...deps, door, writes });
    registerMonitor(scope, { ...deps, door, overviews, writes });
    registerIncidentViews(scope, { ...deps, door, overviews, writes });
    registerMaintenanceViews(scope, { ...deps, door, overviews, writes });
    registerToolPages(scope, { ...deps, door });
    const ownPages = { ...deps, door, overviews, writes, pages: deps.statusPages };
    registerStatusPageList(scope, ownPages);
    registerStatusPageForm(scope, ownPages);
    registerPageSubscribers(scope, ownPages);
  });
}

function registerAssets(scope: FastifyInstance): void {
  scope.route<{ Params: { version: string; name: string } }>({
    method: "GET",
    url: "/app/assets/:version/:name",
    schema: { hide: true },
    handler: async (request: FastifyRequest<{ Params: { version: string; name: string } }>, reply) => {
      const found = findAsset(request.params.version, request.params.name);
      if (found === null) throw new Refusal("not_found", "There is no such file.");
      return sendDocument(request, reply, found);
    },
  });
}
