import { BackupProblem } from "#control-plane/backups/problem.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";

/** A replica that is alive writes its row every second, or rests and keeps its connections. Seconds. */
const ALIVE_SECONDS = 5;

/** What is in the database that a command replaces or changes. */
export interface Target {
  /** Names of our other connections to it. */
  readonly connections: readonly string[];
  /** Replicas that have shown in the last seconds that they are alive. */
  readonly replicas: number;
  /** Number of the newest migration; 0: there is none. */
  readonly migration: number;
  readonly accounts: number;
}

/** Reads what is in the database. */
export async function readTarget(sql: Queryable): Promise<Target> {
  const connections = await sql<{ name: string }[]>`
    select distinct application_name as name from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name like 'vantage %' order by 1`;
  const has = async (table: string): Promise<boolean> => {
    const [row] = await sql<{ has: boolean }[]>`select to_regclass(${table}) is not null as has`;
    return row?.has === true;
  };
  const count = async (table: string, select: string): Promise<number> => {
    if (!(await has(table))) return 0;
    const [row] = await sql.unsafe<{ count: number }[]>(`select (${select})::integer as count`);
    return row?.count ?? 0;
  };
  return {
    connections: connections.map(({ name }) => name),
    replicas: await count(
      "replicas",
      `select count(*) from replicas where seen_at > clock_timestamp() - interval '${ALIVE_SECONDS} seconds'`,
    ),
    migration: await count("schema_migrations", "select coalesce(max(number), 0) from schema_migrations"),
    accounts: await count("accounts", "select count(*) from accounts"),
  };
}

/** Throws a BackupProblem if a service uses the database, or it is of a newer release than this one. */
export function refuseUnfit({ connections, replicas, migration }: Target, newest: number): void {
  if (connections.length > 0 || replicas > 0) {
    const by = connections.length > 0 ? ` (connections: ${connections.join(", ")})` : "";
    throw new BackupProblem(`the database is in use by a running service${by}: stop every control plane first`);
  }
  if (migration > newest) {
    throw new BackupProblem(
      `the database has migration ${migration}, and this release knows ${newest}: update Vantage`,
    );
  }
}
