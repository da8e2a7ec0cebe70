import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { Config } from "#control-plane/core/config.ts";
import { createMetrics } from "#control-plane/core/metrics.ts";
import type { UpgradeProgress } from "#control-plane/core/migrations/migrate.ts";
import { serviceUnavailable, type Refusal } from "#control-plane/http/errors.ts";
import { isHealthTarget, registerUpgradeHealth } from "#control-plane/http/health.ts";
import { createServer, readTls } from "#control-plane/http/server.ts";

/** Answers in place of the service while its database is upgraded. */
interface UpgradeListener {
  /** Listens where the service will. Where another process listens there, only the log shows the progress. */
  open(): Promise<void>;
  /** Takes the progress for /readyz, and logs it now and then. */
  report(progress: UpgradeProgress): void;
  /** Closes the listener; call it when the service itself is about to listen. */
  close(): Promise<void>;
}

/** Migrations that move rows are logged each time that they have moved this many. */
const LOGGED_ROWS = 500_000;

function refuse({ url }: FastifyRequest): Refusal | undefined {
  if (isHealthTarget(url)) return undefined;
  return serviceUnavailable("The database is being upgraded for this version. Try again in 1 s.");
}

/**
 * Creates the listener of an upgrade: /healthz is alive, so that nobody ends the process in the middle; /readyz is 503 with the
 * progress, and every other path 503.
 */
export function createUpgradeListener({
  config,
  clock,
  random,
  log,
}: {
  readonly config: Pick<Config, "http" | "tls" | "trustedProxies" | "v1V2Sunset">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}): UpgradeListener {
  let progress: UpgradeProgress | null = null;
  let server: FastifyInstance | null = null;
  return {
    async open() {
      try {
        const metrics = createMetrics({ clockOffsetMs: () => 0 });
        server = createServer({ config, clock, random, log, metrics, refuse }, readTls(config.tls));
        registerUpgradeHealth(server, () => progress);
        await server.listen({ host: config.http.host, port: config.http.port });
      } catch (error) {
        // The service itself will say in one line why it cannot listen.
        log.warn({ err: error }, "only the log shows the progress of the upgrade: its listener cannot be opened");
      }
    },
    report(next) {
      const step = (rows: number | null): number => Math.floor((rows ?? 0) / LOGGED_ROWS);
      const isLogged = next.migration !== progress?.migration || step(next.rows) > step(progress.rows);
      progress = next;
      if (isLogged) log.info(next, "upgrading the database");
    },
    async close() {
      server?.server.closeAllConnections();
      await server?.close();
    },
  };
}
