import postgres from "postgres";

/** A database connection; ended with `close`. */
export interface Session {
  /** Returns the server's version as a number, 180004 for 18.4. Rejects if the server is unreachable. */
  version(): Promise<number>;
  /** Returns the time of the server's clock. */
  now(): Promise<Date>;
  /**
   * Returns the name of the database, the encoding of its text, and the versions of the rules by which the operating system sorted
   * when it was made and sorts now; null where they have none.
   */
  text(): Promise<{
    readonly name: string;
    readonly encoding: string;
    readonly madeWith: string | null;
    readonly sortsWith: string | null;
  }>;
  /** Returns the value by which it recognises its master key (control-plane/core/secrets); null before the first start. */
  masterKeyCheck(): Promise<Uint8Array | null>;
  /**
   * Counts live replicas of the control plane on this database, and those of them that advertise no address to agents. A
   * replica renews its row every second and counts as dead after five (control-plane/checks/probes/presence). 0 before the first
   * migration.
   */
  replicas(): Promise<{ readonly live: number; readonly unadvertised: number }>;
  /**
   * Returns the ids of accounts whose address has no normal form (control-plane/core/mail-address.ts), or is stored with a
   * domain in letters that mail servers do not take; at most 20. Empty before the first migration.
   */
  oddAddresses(): Promise<readonly string[]>;
  /** Returns when the newest backup by schedule ended and why it failed, null if it did not; null: there is none. */
  newestBackup(): Promise<{ readonly endedAt: Date; readonly error: string | null } | null>;
  close(): Promise<void>;
}

/** Creates a database of the server at `url` if it does not exist. */
export async function createDatabase(url: string, name: string): Promise<void> {
  const sql = openClient(url);
  try {
    const rows = await sql`select 1 from pg_database where datname = ${name}`;
    if (rows.length === 0) await sql`create database ${sql(name)}`;
  } finally {
    await sql.end({ timeout: 2 });
  }
}

function openClient(url: string): postgres.Sql {
  return postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 10, max_lifetime: null });
}

/** Opens one connection. Queries reject if the server is unreachable. */
export function openSession(url: string): Session {
  const sql = openClient(url);
  return {
    async version() {
      const rows = await sql<{ version: number }[]>`select current_setting('server_version_num')::int as version`;
      return rows[0]?.version ?? 0;
    },
    async now() {
      const rows = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
      return rows[0]?.now ?? new Date(Number.NaN);
    },
    async text() {
      const [row] = await sql<Awaited<ReturnType<Session["text"]>>[]>`
        select datname as name, pg_encoding_to_char(encoding) as encoding, datcollversion as "madeWith",
          pg_database_collation_actual_version(oid) as "sortsWith"
        from pg_database where datname = current_database()`;
      if (row === undefined) throw new Error("the database does not list itself");
      return row;
    },
    async masterKeyCheck() {
      const [table] = await sql<{ name: string | null }[]>`select to_regclass('instance')::text as name`;
      if (table?.name == null) return null;
      const [row] = await sql<{ value: Uint8Array }[]>`select value from instance where name = 'master_key_check'`;
      return row?.value ?? null;
    },
    async replicas() {
      const [table] = await sql<{ name: string | null }[]>`select to_regclass('replicas')::text as name`;
      if (table?.name == null) return { live: 0, unadvertised: 0 };
      const [row] = await sql<{ live: number; unadvertised: number }[]>`
        select count(*)::int as live, (count(*) filter (where address = ''))::int as unadvertised
        from replicas where seen_at >= now() - interval '5 seconds'`;
      return row ?? { live: 0, unadvertised: 0 };
    },
    async oddAddresses() {
      const [table] = await sql<{ name: string | null }[]>`select to_regclass('accounts')::text as name`;
      if (table?.name == null) return [];
      const rows = await sql<{ id: string }[]>`
        select id::text from accounts
        where email !~ '^[A-Za-z0-9!#$%&''*+/=?^_\`{|}~-]+([.][A-Za-z0-9!#$%&''*+/=?^_\`{|}~-]+)*@[A-Za-z0-9.-]+$'
        order by accounts.id limit 20`;
      return rows.map(({ id }) => id);
    },
    async newestBackup() {
      const [table] = await sql<{ name: string | null }[]>`select to_regclass('backups')::text as name`;
      if (table?.name == null) return null;
      const [row] = await sql<{ endedAt: Date; error: string | null }[]>`
        select ended_at as "endedAt", error from backups where ended_at is not null
        order by started_at desc, id desc limit 1`;
      return row ?? null;
    },
    close: () => sql.end({ timeout: 2 }),
  };
}
