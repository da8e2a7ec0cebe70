import { setTimeout as sleep } from "node:timers/promises";
import { whenAborted } from "#shared/client/up/aborted.ts";
import { clusterDirectory } from "#shared/client/up/data-directory.ts";
import type { Helper } from "#shared/client/up/helper.ts";
import { startCluster, type Cluster } from "#shared/client/up/postgres/cluster.ts";
import { problem, type Problem } from "#shared/client/up/problem.ts";
import { describeError } from "#shared/contracts/error-code.ts";

/** The database of the control plane. */
export interface Database {
  /** The connection URL with the password: passed to the control plane, never printed. null: it is in DATABASE_URL. */
  readonly url: string | null;
  /** Lines to print on the terminal. */
  readonly notes: readonly string[];
  stop(): Promise<void>;
}

/** Name of the database in the embedded server. */
export const DATABASE_NAME = "vantage";
const RESTART_AFTER_MS = 1_000;

/** Starts or takes over the embedded server of a data directory and keeps it running. */
export async function embeddedDatabase(
  dataDirectory: string,
  helper: Helper,
  say: (line: string) => void,
): Promise<{ ok: true; database: Database } | Problem> {
  const directory = clusterDirectory(dataDirectory);
  if (!directory.ok) return directory;
  const started = await startCluster({ root: directory.path });
  if (!started.ok) return started;
  const { cluster } = started;
  const refused = await helper
    .ask("createDatabase", { url: cluster.url("postgres"), name: DATABASE_NAME })
    .catch(describeError);
  if (refused !== null) {
    if (!cluster.adopted) await cluster.stop();
    return problem(`the embedded PostgreSQL in ${directory.path} refuses connections (${refused})`);
  }
  const notes = [];
  if (cluster.adopted) notes.push("Took over the PostgreSQL server of an earlier run, which was still running.");
  if (directory.elsewhere) notes.push(`The database is in ${directory.path}, because PostgreSQL cannot run as root.`);
  const stop = keepRunning(cluster, directory.path, say);
  return { ok: true, database: { url: cluster.url(DATABASE_NAME), notes, stop } };
}

/** Restarts the server on the same port whenever it exits by itself. Returns a function that stops it finally. */
function keepRunning(first: Cluster, root: string, say: (line: string) => void): () => Promise<void> {
  let cluster = first;
  const stopping = new AbortController();
  const life = (async () => {
    while (!stopping.signal.aborted) {
      const ended = await Promise.race([cluster.server.exited.then(() => true), whenAborted(stopping.signal)]);
      if (ended !== true) break;
      say("The embedded PostgreSQL has stopped; restarting it");
      await cluster.stop();
      cluster = (await startAgain(root, first.server.port, stopping.signal, say)) ?? cluster;
    }
    await cluster.stop();
  })();
  return () => {
    stopping.abort();
    return life;
  };
}

async function startAgain(
  root: string,
  port: number,
  stopping: AbortSignal,
  say: (line: string) => void,
): Promise<Cluster | null> {
  for (let delayMs = RESTART_AFTER_MS; !stopping.aborted; delayMs = Math.min(delayMs * 2, 30_000)) {
    const started = await startCluster({ root, port });
    if (started.ok) return started.cluster;
    say(started.line);
    await sleep(delayMs, undefined, { signal: stopping }).catch(() => {});
  }
  return null;
}
