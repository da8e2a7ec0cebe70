import { subscribe } from "node:diagnostics_channel";
import type { FastifyInstance } from "fastify";

/** A route as registered, such as GET /app/monitors/:id. */
export interface FoundRoute {
  readonly method: string;
  readonly url: string;
}

/**
 * Notes every route of the dashboard of the control planes that this process starts from now on. Fastify publishes each
 * server that is created: so no page or form can be left out of a test.
 */
export function noteDashboardRoutes(): readonly FoundRoute[] {
  // Only the dashboard's requests have a session.
  return noteRoutes((scope) => scope.hasRequestDecorator("session"));
}

/** Notes, in the same way, every route of pages and addresses for strangers: outside the API and the dashboard. */
export function noteStrangersRoutes(): readonly FoundRoute[] {
  return noteRoutes((scope, url) => !scope.hasRequestDecorator("session") && !/^\/api\/(?:v\d|admin)/.test(url));
}

/** Notes, in the same way, every route there is. */
export function noteAllRoutes(): readonly FoundRoute[] {
  return noteRoutes(() => true);
}

function noteRoutes(isWanted: (scope: FastifyInstance, url: string) => boolean): readonly FoundRoute[] {
  const routes: FoundRoute[] = [];
  subscribe("fastify.initialization", (message) => {
    const { fastify } = message as { readonly fastify: FastifyInstance };
    fastify.addHook("onRoute", function note(this: FastifyInstance, { method, url }) {
      if (!isWanted(this, url)) return;
      for (const one of [method].flat()) {
        if (routes.some((route) => route.method === one && route.url === url)) continue;
        routes.push({ method: one, url });
      }
    });
  });
  return routes;
}
