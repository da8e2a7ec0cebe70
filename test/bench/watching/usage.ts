import { readdirSync, readFileSync } from "node:fs";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { readPssMb } from "#test/bench/product.ts";
import { readCpuSeconds } from "#test/fleet/process-times.ts";

/** The parts of the product whose cost is measured. */
export const PARTS = ["control plane", "agents", "PostgreSQL"] as const;
/** One part of the product. */
export type Part = (typeof PARTS)[number];

/** What the product has spent and written since its start, and what it holds. */
export interface Usage {
  /** Monotonic milliseconds. */
  readonly at: number;
  /** CPU seconds by part, with those of child processes. */
  readonly cpu: Readonly<Record<Part, number>>;
  /** Proportional set size by part, MB. */
  readonly memory: Readonly<Record<Part, number>>;
  /** Position in the WAL, bytes. */
  readonly wal: number;
  /** Pages written whole to the WAL, and checkpoints. */
  readonly pageImages: number;
  readonly checkpoints: number;
}

/** Processes by part, without their children, and a connection to the database. */
export interface Measured {
  readonly roots: Readonly<Record<Part, readonly number[]>>;
  readonly sql: Sql;
}

/** Reads what the product uses now. */
export async function readUsage({ roots, sql }: Measured): Promise<Usage> {
  const children = childrenByParent();
  const read = (of: (pid: number) => number) =>
    Object.fromEntries(
      PARTS.map((part) => [
        part,
        sumOver(
          roots[part].flatMap((pid) => familyOf(pid, children)),
          of,
        ),
      ]),
    ) as Record<Part, number>;
  const cpu = read(readCpuSeconds);
  // Autovacuum workers end: their CPU time is then in that of the postmaster's children.
  cpu.PostgreSQL += sumOver(roots.PostgreSQL, readEndedChildrenSeconds);
  const memory = read((pid) => {
    try {
      return readPssMb(pid);
    } catch {
      return 0;
    }
  });
  return { at: performance.now(), cpu, memory, ...(await readWal(sql)) };
}

async function readWal(sql: Sql): Promise<Pick<Usage, "wal" | "pageImages" | "checkpoints">> {
  const [row] = await sql<{ wal: number; pageImages: number; checkpoints: number }[]>`
    select (pg_current_wal_lsn() - '0/0')::float8 as wal, w.wal_fpi::float8 as "pageImages",
      c.num_done::float8 as checkpoints
    from pg_stat_wal as w, pg_stat_checkpointer as c`;
  return row ?? { wal: NaN, pageImages: NaN, checkpoints: NaN };
}

function sumOver(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((sum, pid) => sum + of(pid), 0);
}

/** Lists every process under its parent (proc(5), stat: the fourth field). */
function childrenByParent(): ReadonlyMap<number, readonly number[]> {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return Map.groupBy(pids.map(Number), (pid) => Number(statOf(pid)[1] ?? 0));
}

function familyOf(pid: number, children: ReadonlyMap<number, readonly number[]>): readonly number[] {
  return [pid, ...(children.get(pid) ?? []).flatMap((child) => familyOf(child, children))];
}

/** Returns the CPU seconds of a process's children that have ended (proc(5), stat: cutime and cstime). */
function readEndedChildrenSeconds(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / 100;
}

function statOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  } catch {
    return [];
  }
}
