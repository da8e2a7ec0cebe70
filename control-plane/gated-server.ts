import type { AddressLimiter, Limiter } from "#control-plane/access/ports.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import { registerAccountRoutes } from "#control-plane/accounts/routes.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import { createAdminGate } from "#control-plane/http/operator-gate.ts";
import { createGate, type Gate, type Hook } from "#control-plane/http/gate.ts";
import { registerHealth } from "#control-plane/http/health.ts";
import { createServer, type ServerDeps } from "#control-plane/http/server.ts";
import type { Keys } from "#control-plane/keys/keys.ts";
import { registerKeyRoutes } from "#control-plane/keys/routes.ts";
import type { Plans } from "#control-plane/plans/plans.ts";

type Server = ReturnType<typeof createServer>;

/** A server with the routes of health, accounts and keys, and the gates for further routes. */
export interface GatedServer {
  readonly server: Server;
  /** Before every keyed route. */
  readonly gate: Gate;
  /** Before every /api/admin route: `onRequest: admin`. */
  readonly admin: Hook;
}

/** What is known only where the processes are wired together. */
interface GatedServerOptions {
  /** Agents attached to this replica at present. */
  readonly agents: () => number;
  /** What /readyz lists as degraded besides missing agents; nothing by default. */
  readonly degraded?: () => readonly string[];
  /** A server that already listens to its routes being added (docs); by default a fresh one. */
  readonly server?: Server;
}

/** What the gates and the first routes need. */
interface GatedServerDeps extends ServerDeps {
  readonly adminToken: string;
  readonly plans: Plans;
  readonly sql: Sql;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly limits: Limiter;
  /** Requests with a missing or wrong key, per client address. */
  readonly keyFailures: AddressLimiter;
  /** Requests with a missing or wrong operator token, per client address. */
  readonly adminFailures: AddressLimiter;
  /** Rejects when the database is away. */
  isDatabaseReady(): Promise<boolean>;
  isDraining(): boolean;
}

/** Builds the HTTP server up to the point where surfaces and nouns add their routes; nothing listens yet. */
export function createGatedServer(
  deps: GatedServerDeps,
  { agents, degraded = () => [], server = createServer(deps) }: GatedServerOptions,
): GatedServer {
  const { clock, keys, accounts, plans, sql } = deps;
  const gate = createGate({ clock, keys: keys.lookup, limits: deps.limits, failures: deps.keyFailures });
  const admin = createAdminGate(deps.adminToken, deps.adminFailures);
  registerHealth(server, {
    clock,
    agents,
    degraded,
    isDatabaseReady: () => deps.isDatabaseReady(),
    isDraining: () => deps.isDraining(),
  });
  registerAccountRoutes(server, { accounts, sql, admin });
  registerKeyRoutes(server, { keys, accounts, plans, sql, admin });
  return { server, gate, admin };
}
