import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startTimeOf } from "#shared/process/start-time.ts";

/** A process, identified by its pid and the kernel's clock tick at its start; a later process with this pid has another tick. */
interface Identity {
  readonly pid: number;
  readonly startedAt: string;
}

/** The children of a supervisor, stored so that the next supervisor can stop those that a killed one left. */
export interface ProcessTable {
  add(pid: number): void;
  remove(pid: number): void;
  /** Stops every process that an earlier run left; returns their number. */
  endLeftovers(): Promise<number>;
}

/** Opens the table in a data directory. Only the holder of the directory's lock may use it. */
export function openProcessTable(dataDirectory: string): ProcessTable {
  const file = join(dataDirectory, "processes.json");
  let running: Identity[] = [];
  const save = () => {
    if (running.length === 0) rmSync(file, { force: true });
    else writeFileSync(file, JSON.stringify(running), { mode: 0o600 });
  };
  return {
    add(pid) {
      running.push({ pid, startedAt: startTimeOf(pid) ?? "" });
      save();
    },
    remove(pid) {
      running = running.filter((entry) => entry.pid !== pid);
      save();
    },
    async endLeftovers() {
      const left = readTable(file).filter(isAlive);
      await Promise.all(left.map(end));
      save();
      return left.length;
    },
  };
}

function readTable(file: string): Identity[] {
  try {
    const rows: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Array.isArray(rows) ? rows.filter(isIdentity) : [];
  } catch {
    return [];
  }
}

function isIdentity(row: unknown): row is Identity {
  if (typeof row !== "object" || row === null || !("pid" in row) || !("startedAt" in row)) return false;
  return Number.isInteger(row.pid) && Number(row.pid) > 1 && typeof row.startedAt === "string" && row.startedAt !== "";
}

function isAlive({ pid, startedAt }: Identity): boolean {
  return startTimeOf(pid) === startedAt;
}

async function end(identity: Identity): Promise<void> {
  for (const [signal, patienceMs] of [
    ["SIGTERM", 10_000],
    ["SIGKILL", 5_000],
  ] as const) {
    try {
      process.kill(identity.pid, signal);
    } catch {
      return;
    }
    for (let waited = 0; waited < patienceMs && isAlive(identity); waited += 50) await sleep(50);
    if (!isAlive(identity)) return;
  }
}
