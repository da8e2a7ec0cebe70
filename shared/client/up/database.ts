import { setTimeout as sleep } from "node:timers/promises";
import { whenAborted } from "#shared/client/up/aborted.ts";
import { clusterDirectory } from "#shared/client/up/data-directory.ts";
import { startCluster, type Cluster } from "#shared/client/up/postgres/cluster.ts";
import { openSession } from "#shared/client/up/postgres/store.ts";
import { problem, type Problem } from "#shared/client/up/problem.ts";
import { describeError } from "#shared/contracts/error-code.ts";

/** The database of the control plane. */
export interface Database {
  /** The connection URL with the password: passed to the control plane, never printed. */
  readonly url: string;
  /** Lines to print on the terminal. */
  readonly notes: readonly string[];
  stop(): Promise<void>;
}

/** Name of the database in the embedded server. */
export const DATABASE_NAME = "vantage";
const OLDEST = 150_000;
const RESTART_AFTER_MS = 1_000;

/** Checks the operator's own server; does not start or stop it. */
export async function externalDatabase(url: string): Promise<{ ok: true; database: Database } | Problem> {
  const session = openSession(url);
  try {
    const version = await session.version();
    if (version < OLDEST)
      return problem(
        `DATABASE_URL points to PostgreSQL ${Math.floor(version / 10_000)}: version 15 or later is required`,
      );
    return { ok: true, database: { url, notes: [], stop: () => Promise.resolve() } };
  } catch (error) {
    // The server's own message ("password authentication failed") helps more than its code.
    const said = error instanceof Error && error.name === "PostgresError" ? error.message : describeError(error);
    return problem(`DATABASE_URL cannot be used (${said}): check the address, the user and that PostgreSQL runs`);
  } finally {
    await session.close().catch(() => {});
  }
}

/** Starts or takes over the embedded server of a data directory and keeps it running. */
export async function embeddedDatabase(
  dataDirectory: string,
  say: (line: string) => void,
): Promise<{ ok: true; database: Database } | Problem> {
  const directory = clusterDirectory(dataDirectory);
  if (!directory.ok) return directory;
  const started = await startCluster({ root: directory.path });
  if (!started.ok) return started;
  await started.cluster.createDatabase(DATABASE_NAME);
  const notes = [];
  if (started.cluster.adopted)
    notes.push("Took over the PostgreSQL server of an earlier run, which was still running.");
  if (directory.elsewhere) notes.push(`The database is in ${directory.path}, because PostgreSQL cannot run as root.`);
  const stop = keepRunning(started.cluster, directory.path, say);
  return { ok: true, database: { url: started.cluster.url(DATABASE_NAME), notes, stop } };
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
