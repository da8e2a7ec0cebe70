import cookie from "@fastify/cookie";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { createMemberWrites } from "#control-plane/surfaces/dashboard/session-guard/member-writes.ts";
import { createSessionGuard } from "#control-plane/surfaces/dashboard/session-guard/session-guard.ts";
import { acceptForms } from "#control-plane/surfaces/dashboard/session-guard/files.ts";
import { requireStorable } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { findAsset } from "#control-plane/surfaces/dashboard/layout/assets.ts";
import { renderProblemPage } from "#control-plane/surfaces/dashboard/layout/page.ts";
import { registerList } from "#control-plane/surfaces/dashboard/monitors/list.ts";
import { createOverviews } from "#control-plane/surfaces/dashboard/monitors/overviews.ts";
import { registerMonitorForm } from "#control-plane/surfaces/dashboard/monitor-form/routes.ts";
import { registerMonitor } from "#control-plane/surfaces/dashboard/monitor/routes.ts";
import { registerChangesPage } from "#control-plane/surfaces/dashboard/changes.ts";
import { registerKeyPages } from "#control-plane/surfaces/dashboard/keys.ts";
import { registerMembers } from "#control-plane/surfaces/dashboard/members/routes.ts";
import { registerIncidentViews } from "#control-plane/surfaces/dashboard/incidents/routes.ts";
import { registerMaintenanceViews } from "#control-plane/surfaces/dashboard/maintenance/routes.ts";
import { registerPaste } from "#control-plane/surfaces/dashboard/paste.ts";
import { registerBulk } from "#control-plane/surfaces/dashboard/bulk.ts";
import { registerProfile } from "#control-plane/surfaces/dashboard/profile.ts";
import { registerByMail } from "#control-plane/surfaces/dashboard/sign-in/by-mail.ts";
import { registerInvite } from "#control-plane/surfaces/dashboard/sign-in/invite.ts";
import { registerSignIn } from "#control-plane/surfaces/dashboard/sign-in/routes.ts";
import { registerToolPages } from "#control-plane/surfaces/dashboard/tools/routes.ts";
import { registerStatusPageList } from "#control-plane/surfaces/dashboard/status-pages/list.ts";
import { registerPageSubscribers } from "#control-plane/surfaces/dashboard/status-pages/subscribers.ts";
import { registerStatusPageForm } from "#control-plane/surfaces/dashboard/status-pages/routes.ts";
import { registerStart } from "#control-plane/surfaces/dashboard/sign-in/start.ts";
import type { Dashboard } from "#control-plane/surfaces/dashboard/parts.ts";
import type { OriginSettings } from "#control-plane/http/connection/own-origin.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { sendDocument } from "#control-plane/http/operations/document.ts";
import type { ErrorRenderer } from "#control-plane/http/request.ts";

/** What the product gives the dashboard; the rest of its parts it makes itself. */
type Given = Omit<Dashboard, "guard" | "writes" | "overviews" | "record" | "nameOf" | "isSecure"> & {
  /** Connections of sign-ins and sessions, which nothing else takes. */
  readonly signInSql: Sql;
  /** Whose pages may send forms. */
  readonly config: OriginSettings;
};

const HEADINGS: Readonly<Record<number, string>> = {
  403: "Not allowed",
  404: "Not found",
  429: "Too many requests",
};

const renderError: ErrorRenderer = ({ status, details }, request, reply) =>
  String(renderProblemPage(request, reply, HEADINGS[status] ?? "This did not work", details.message));

/** Registers the pages for people: sign-in, and everything below /app/. */
export async function registerDashboard(server: FastifyInstance, given: Given): Promise<void> {
  await server.register(async (scope) => {
    await scope.register(cookie);
    acceptForms(scope);
    scope.decorateRequest("session", null);
    scope.addHook("onRoute", (route) => {
      route.config = { ...route.config, renderError };
    });
    scope.addHook("preHandler", async ({ query }) => requireStorable(query as Readonly<Record<string, unknown>>));
    const isSecure = given.baseUrl.startsWith("https:");
    const { record } = given.changes;
    const dashboard: Dashboard = {
      ...given,
      isSecure,
      record,
      guard: createSessionGuard({ ...given, isSecure }),
      writes: createMemberWrites({ ...given, record }),
      overviews: createOverviews(given),
      nameOf: async (id) => (await given.accounts.find(given.sql, id))?.email ?? null,
    };
    const { guard } = dashboard;
    const signIn = { ...dashboard, sql: given.signInSql };
    registerAssets(scope);
    registerSignIn(scope, signIn);
    registerStart(scope, signIn);
    registerByMail(scope, signIn);
    registerInvite(scope, signIn);
    registerProfile(scope, signIn);
    registerKeyPages(scope, dashboard);
    registerChangesPage(scope, dashboard);
    registerMembers(scope, dashboard);
    scope.route({
      ...guard.page({ needs: "read" }),
      url: "/app",
      schema: { hide: true },
      handler: (_request, reply) => reply.redirect("/app/monitors", 303),
    });
    scope.route({
      ...guard.page({ needs: "read" }),
      url: "/app/*",
      schema: { hide: true },
      handler: () => {
        throw new Refusal("not_found", "There is no such page.");
      },
    });
    registerList(scope, dashboard);
    registerPaste(scope, dashboard);
    registerBulk(scope, dashboard);
    registerMonitorForm(scope, dashboard);
    registerMonitor(scope, dashboard);
    registerIncidentViews(scope, dashboard);
    registerMaintenanceViews(scope, dashboard);
    registerToolPages(scope, dashboard);
    registerStatusPageList(scope, dashboard);
    registerStatusPageForm(scope, dashboard);
    registerPageSubscribers(scope, dashboard);
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
