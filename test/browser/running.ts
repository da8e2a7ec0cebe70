import { readdirSync, readFileSync } from "node:fs";

/** The processes of the browser that this process runs now; null, or none: it runs no browser. */
interface RunningBrowser {
  /** The process that drives the browser (probe-agent/net/browser/main.ts). */
  readonly driver: number | null;
  /** Chromium's main process. */
  readonly browser: number | null;
  /** Chromium's processes that show pages. */
  readonly renderers: readonly number[];
}

interface Listed {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly command: string;
}

/** Finds the browser that this process runs. Other processes of the machine can run their own. */
export function runningBrowser(): RunningBrowser {
  const all = listProcesses();
  const driver = all.find(({ parent, command }) => parent === process.pid && command.includes("net/browser/main.ts"));
  // playwright makes the main process the leader of its own group.
  const browser = all.find(({ pid, parent, group }) => parent === driver?.pid && group === pid);
  const renderers = all.filter(({ group, command }) => group === browser?.pid && command.includes("--type=renderer"));
  return { driver: driver?.pid ?? null, browser: browser?.pid ?? null, renderers: renderers.map(({ pid }) => pid) };
}

function listProcesses(): readonly Listed[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        // proc_pid_stat(5): state, parent and group after the command in parentheses.
        const [, parent, group] = readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8");
        return [{ pid: Number(name), parent: Number(parent), group: Number(group), command }];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
}
