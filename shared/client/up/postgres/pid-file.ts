import { readFileSync, readlinkSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Contents of a running server's postmaster.pid (PostgreSQL source, utils/pidfile.h). */
interface PidFile {
  readonly pid: number;
  readonly port: number;
  /** True if the server accepts connections. */
  readonly ready: boolean;
}

/** Parses the eight lines of a postmaster.pid; null if the first four are not written yet. */
export function parsePidFile(text: string): PidFile | null {
  const lines = text.split("\n");
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  if (!Number.isInteger(pid) || pid <= 0 || !Number.isInteger(port) || port <= 0) return null;
  return { pid, port, ready: lines[7]?.trim() === "ready" };
}

/** Reads the pid file of a data directory; null if it is missing or incomplete. */
export function readPidFile(data: string): PidFile | null {
  try {
    return parsePidFile(readFileSync(join(data, "postmaster.pid"), "utf8"));
  } catch {
    return null;
  }
}

/**
 * Reports whether a live process works in this data directory. Every server process has it as its working directory,
 * which distinguishes a server from another program that got its pid after a reboot.
 */
export function worksIn(pid: number, data: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === data;
  } catch {
    return false;
  }
}

/** Reports whether any process still works in this data directory (a backend can outlive its postmaster). */
export function anyoneWorksIn(data: string): boolean {
  return readdirSync("/proc").some((name) => /^\d+$/.test(name) && worksIn(Number(name), data));
}
