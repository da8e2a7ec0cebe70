import type { AddressLimiter, Limiter } from "#control-plane/http/access/ports.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import { registerAccountRoutes } from "#control-plane/accounts/routes.ts";
import type { Changes } from "#control-plane/accounts/changes/changes.ts";
import type { App } from "#control-plane/core/app.ts";
import { createAdminGate } from "#control-plane/http/operator-gate.ts";
import { createGate, type Gate, type Hook } from "#control-plane/http/gate.ts";
import { registerHealth } from "#control-plane/http/health.ts";
import { createServer, type ServerDeps } from "#control-plane/http/server.ts";
import type { Keys } from "#control-plane/accounts/keys/keys.ts";
import { registerKeyRoutes } from "#control-plane/accounts/keys/routes.ts";
import type { Plans } from "#control-plane/core/plans.ts";

type Server = ReturnType<typeof createServer>;

/** A server with the routes for health, accounts and keys, and the gates for more routes. */
export interface GatedServer {
  readonly server: Server;
  /** Gate of routes that need an API key. */
  readonly gate: Gate;
  /** Hook of every /api/admin route: `onRequest: admin`. */
  readonly admin: Hook;
}

/** Options that only the composition of the process knows. */
interface GatedServerOptions {
  /** Number of agents that are attached to this replica. */
  readonly agents: () => number;
  /** Names that /readyz lists as degraded in addition to missing agents; none by default. */
  readonly degraded?: () => readonly string[];
  /** A server that already collects its routes for the API documentation; by default a new one. */
  readonly server?: Server;
}

/** Dependencies of the gates and of the first routes. */
interface GatedServerDeps extends ServerDeps, Pick<App, "sql"> {
  readonly adminToken: string;
  readonly plans: Plans;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly changes: Changes;
  readonly limits: Limiter;
  /** Limits requests with a missing or wrong key, per client address. */
  readonly keyFailures: AddressLimiter;
  /** Limits requests with a missing or wrong operator token, per client address. */
  readonly adminFailures: AddressLimiter;
  /** Reports whether the database has every migration. Rejects if it is away. */
  isDatabaseReady(): Promise<boolean>;
  isDraining(): boolean;
}

/**
 * Creates the HTTP server with its gates and first routes. Other parts add their routes later; it does not listen yet.
 */
export function createGatedServer(
  deps: GatedServerDeps,
  { agents, degraded = () => [], server = createServer(deps) }: GatedServerOptions,
): GatedServer {
  const { clock, keys, accounts, plans, sql } = deps;
  const { record } = deps.changes;
  const gate = createGate({ clock, keys: keys.lookup, limits: deps.limits, failures: deps.keyFailures });
  const admin = createAdminGate(deps.adminToken, deps.adminFailures);
  registerHealth(server, {
    clock,
    agents,
    degraded,
    isDatabaseReady: () => deps.isDatabaseReady(),
    isDraining: () => deps.isDraining(),
  });
  registerAccountRoutes(server, admin, { accounts, sql, record });
  registerKeyRoutes(server, admin, { keys, accounts, plans, sql, record });
  return { server, gate, admin };
}
