import type { FastifyInstance } from "fastify";
import { registerAccountRoutes } from "#control-plane/accounts/routes.ts";
import type { App, AppConfig } from "#control-plane/app.ts";
import { createAdminGate } from "#control-plane/http/admin.ts";
import { createGate, type Gate, type Hook } from "#control-plane/http/gate.ts";
import { registerHealth } from "#control-plane/http/health.ts";
import { createServer } from "#control-plane/http/server.ts";
import { registerKeyRoutes } from "#control-plane/keys/routes.ts";

/** A server with health and the operator's routes of accounts and keys, and what further routes stand behind. */
export interface Foundation {
  readonly server: FastifyInstance;
  /** Before every keyed route. */
  readonly gate: Gate;
  /** Before every /api/admin route: `onRequest: admin`. */
  readonly admin: Hook;
}

/** What is known only where the processes are wired together. */
export interface FoundationOptions {
  /** Agents attached to this replica at present. */
  readonly agents: () => number;
  /** What /readyz lists as degraded besides missing agents; nothing by default. */
  readonly degraded?: () => readonly string[];
  /** A server that already listens to its routes being added (docs); by default a fresh one. */
  readonly server?: FastifyInstance;
}

/** Builds the HTTP side up to the point where surfaces and nouns add their routes; nothing listens yet. */
export function createFoundation<C extends AppConfig>(
  app: App<C>,
  { agents, degraded = () => [], server = createServer(app) }: FoundationOptions,
): Foundation {
  const { clock, keys, accounts, plans, sql } = app;
  const gate = createGate({ clock, keys: keys.lookup, limits: app.limits, failures: app.keyFailures });
  const admin = createAdminGate(app.adminToken, app.adminFailures);
  registerHealth(server, {
    clock,
    agents,
    degraded,
    isDatabaseReady: () => app.isDatabaseReady(),
    isDraining: () => app.isDraining(),
  });
  registerAccountRoutes(server, { accounts, sql, admin });
  registerKeyRoutes(server, { keys, accounts, plans, sql, admin });
  return { server, gate, admin };
}
