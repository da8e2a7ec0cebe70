import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { type Cluster, startCluster } from "#shared/client/up/postgres/cluster.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** URL at which createTestDatabase asks for the run's cluster. */
    databaseServer: string;
  }
}

/** Durability is not under test, and no data outlives the run. */
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "300" };

async function startTemplate(root: string): Promise<Cluster> {
  const started = await startCluster({ root, settings: SETTINGS, initdb: ["--no-sync"] });
  if (!started.ok) throw new Error(started.line);
  const { cluster } = started;
  try {
    await cluster.createDatabase("base");
    // Loaded here, so that a broken migration breaks only the tests that need a database.
    const { migrate } = await import("#control-plane/core/migrations/migrate.ts");
    await migrate(cluster.url("base"));
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/**
 * vitest's globalSetup: one cluster for each run, started when the first test file asks for a database, so that runs
 * without one cost nothing. Test files run in separate processes and ask over HTTP.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const root = mkdtempSync(join(tmpdir(), "vantage-test-"));
  // Under root the server runs as nobody, which must be able to enter.
  chmodSync(root, 0o711);
  let cluster: Promise<Cluster> | null = null;
  const http = createServer((_request, response) => {
    cluster ??= startTemplate(join(root, "postgres"));
    cluster.then(
      (ready) => response.end(ready.url("")),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => {
    http.listen(0, "127.0.0.1", resolve);
  });
  project.provide("databaseServer", `http://127.0.0.1:${(http.address() as AddressInfo).port}`);
  return async () => {
    http.closeAllConnections();
    http.close();
    const running = await cluster?.catch(() => null);
    await running?.stop();
    rmSync(root, { recursive: true, force: true });
  };
}
