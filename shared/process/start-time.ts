import { readFileSync } from "node:fs";

/** States of proc(5) in which a process has ended and only its row is left: zombie, and dead in two spellings. */
const ENDED: ReadonlySet<string | undefined> = new Set(["Z", "X", "x"]);

/**
 * Clock ticks since boot at which a process began (proc(5), field 22 of stat), which no later process with the same pid
 * shares; null where no process with this pid runs. A zombie does not run: it waits to be reaped and holds nothing,
 * although kill(pid, 0) still succeeds. Under a parent that never reaps (PID 1 of many containers) it stays for good.
 */
export function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, the program's name in parentheses, may itself hold blanks and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return ENDED.has(fields[0]) ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}
