import type { Sql } from "#control-plane/core/database/connect.ts";
import { createRecorder } from "#control-plane/checks/jobs/durable-run/recorder.ts";
import { createRunTable } from "#control-plane/checks/jobs/durable-run/table.ts";
import type { RunState } from "#control-plane/checks/jobs/durable-run/watch.ts";
import type { ClaimedRun, DurableWork } from "#control-plane/checks/jobs/durable-run/work.ts";
import { unavailableError } from "#control-plane/checks/answer.ts";

/** Work that the product does not have: a mailing is a run, a letter is a unit, and its result is a text. */
export const MAILINGS = createRunTable<ClaimedRun>(
  { table: "mailings", channel: "test_mailings" },
  (sql) => sql`id, run, waiting_since as "waitingSince"`,
);

/** Creates the tables. */
export async function createTables(sql: Sql): Promise<void> {
  await sql`
    create table mailings (
      id text primary key, account_id bigint not null, status text not null default 'pending',
      run integer not null default 0, waiting_since timestamptz, created_at timestamptz not null,
      started_at timestamptz, finished_at timestamptz, expires_at timestamptz not null
    )`;
  await sql`
    create table letters (
      mailing_id text references mailings on delete cascade, address text, result text, writes integer default 0
    )`;
}

/** Inserts a mailing of account 1 with one letter to each address. */
export async function insertMailing(sql: Sql, id: string, addresses: readonly string[], now: Date): Promise<void> {
  const expiresAt = new Date(now.getTime() + 86_400_000);
  await sql`insert into mailings (id, account_id, created_at, expires_at) values (${id}, 1, ${now}, ${expiresAt})`;
  await sql`insert into letters (mailing_id, address) select ${id}, unnest(${[...addresses]}::text[])`;
}

/** Returns the results by address; null for a letter without one. */
export async function readLetters(sql: Sql, id: string): Promise<Record<string, string | null>> {
  const rows = await sql<{ address: string; result: string | null }[]>`
    select address, result from letters where mailing_id = ${id} order by address`;
  return Object.fromEntries(rows.map(({ address, result }) => [address, result]));
}

/** Returns the status of a mailing, and since when its letters wait. */
export async function readMailing(sql: Sql, id: string) {
  const [row] = await sql<{ status: string; waitingSince: Date | null }[]>`
    select status, waiting_since as "waitingSince" from mailings where id = ${id}`;
  return row;
}

/** Reads the states of mailings for a watch. */
export async function readStates(sql: Sql, ids: readonly string[]): Promise<readonly RunState[]> {
  return sql<RunState[]>`select id, status, run from mailings where id = any(${[...ids]}::text[])`;
}

/** Delivers a letter. Returns null if no one is available to deliver it. */
export type Deliver = (address: string, signal: AbortSignal) => Promise<string | null>;

/** Mailings as durable work, one group per letter. */
export function createMailingWork(sql: Sql, deliver: Deliver): DurableWork<ClaimedRun, string> {
  return {
    claim: (id, now) => MAILINGS.claim(sql, id, now),
    async begin(mailing, writing) {
      const open = await sql<{ address: string }[]>`
        select address from letters where mailing_id = ${mailing.id} and result is null order by address`;
      const recorder = createRecorder<{ address: string; result: string }>({
        ...writing,
        write: async (results) => {
          const rows = await sql`
            with mine as (
              select id from mailings where id = ${mailing.id} and run = ${mailing.run} and status = 'running' for share
            ), stored as (
              update letters set result = given.result, writes = writes + 1
              from mine, unnest(
                ${results.map(({ address }) => address)}::text[], ${results.map(({ result }) => result)}::text[]
              ) as given (address, result)
              where mailing_id = mine.id and letters.address = given.address and letters.result is null
            )
            select from mine`;
          return rows.length > 0;
        },
      });
      return {
        groups: open.map(({ address }) => [address]),
        async perform([address = ""], signal) {
          const result = await deliver(address, signal);
          if (result === null) return [{ unit: address, error: unavailableError("no_probe") }];
          recorder.add({ address, result });
          return [];
        },
        giveUp: ({ unit, error }) => recorder.add({ address: unit, result: `given up: ${error.reason}` }),
        settle: () => recorder.settle(),
      };
    },
    postpone: (lease, now) => MAILINGS.postpone(sql, lease, now),
    async finish(lease, now) {
      const open = sql`select from letters where mailing_id = ${lease.id} and result is null`;
      const succeeded = sql`select from letters where mailing_id = ${lease.id} and not starts_with(result, 'given up')`;
      await MAILINGS.finish(sql, lease, { open, succeeded }, now);
    },
  };
}
