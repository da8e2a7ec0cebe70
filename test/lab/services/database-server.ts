// Program of the lab's database in its namespace: an embedded PostgreSQL on the loopback and a relay to it on the
// node's own address, which makes a partition possible. It reads one line of JSON on its standard input (a
// DatabaseOrder), prints "ready <url>", and stops PostgreSQL when that input ends.
import { connect, createServer } from "node:net";
import { createInterface } from "node:readline";
import { startCluster } from "#shared/client/up/postgres/cluster.ts";
import { runAs } from "#shared/client/up/postgres/initialise.ts";

interface DatabaseOrder {
  /** Absolute path that the account nobody can reach. */
  readonly root: string;
  readonly address: string;
  /** Variables of PostgreSQL besides its own. */
  readonly environment: Readonly<Record<string, string>>;
}

const DATABASE = "lab";
const PORT = 5432;
const SETTINGS = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "200",
  track_commit_timestamp: "on",
};

async function serve({ root, address, environment }: DatabaseOrder): Promise<() => Promise<void>> {
  // PostgreSQL inherits nothing from this program. Its environment is one object.
  Object.assign(runAs(null).env, environment);
  const started = await startCluster({ root, settings: SETTINGS, initdb: ["--no-sync"] });
  if (!started.ok) throw new Error(started.line);
  const { cluster } = started;
  await cluster.createDatabase(DATABASE);
  const relay = createServer((client) => {
    const server = connect(cluster.server.port, "127.0.0.1");
    client.on("error", () => server.destroy()).on("close", () => server.destroy());
    server.on("error", () => client.destroy()).on("close", () => client.destroy());
    client.pipe(server).pipe(client);
  });
  await new Promise<void>((resolve, reject) => {
    relay.once("error", reject).listen(PORT, address, resolve);
  });
  const url = new URL(cluster.url(DATABASE));
  url.host = `${address}:${PORT}`;
  process.stdout.write(`ready ${url.href}\n`);
  return () => cluster.stop();
}

const input = createInterface({ input: process.stdin });
let cluster: Promise<() => Promise<void>> | null = null;
input.once("line", (line) => {
  cluster = serve(JSON.parse(line) as DatabaseOrder);
});
input.on("close", () => void end());
process.on("SIGTERM", () => void end());

async function end(): Promise<void> {
  await (
    await cluster
  )?.();
  process.exit(0);
}
