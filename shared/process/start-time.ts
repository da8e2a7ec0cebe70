import { readFileSync } from "node:fs";

/** States of proc(5) of a process that has ended but is still listed: zombie, and dead in two spellings. */
const ENDED: ReadonlySet<string | undefined> = new Set(["Z", "X", "x"]);

/**
 * Returns the start time of a process in clock ticks since boot (proc(5), field 22 of stat), which differs from that of a
 * later process with the same pid. null if no process with this pid runs. A zombie does not run: it holds no resources,
 * although kill(pid, 0) succeeds. Under a parent that never reaps (PID 1 of many containers) it stays forever.
 */
export function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, the program's name in parentheses, may itself contain blanks and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return ENDED.has(fields[0]) ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}
