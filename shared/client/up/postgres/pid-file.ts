import { readFileSync, readlinkSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** What a running server writes into postmaster.pid (PostgreSQL source, utils/pidfile.h). */
export interface PidFile {
  readonly pid: number;
  readonly port: number;
  /** True once connections are accepted. */
  readonly ready: boolean;
}

/** Reads the eight lines of a postmaster.pid; null while the first four are not there yet. */
export function parsePidFile(text: string): PidFile | null {
  const lines = text.split("\n");
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  if (!Number.isInteger(pid) || pid <= 0 || !Number.isInteger(port) || port <= 0) return null;
  return { pid, port, ready: lines[7]?.trim() === "ready" };
}

/** The pid file of a data directory, or null where there is none or an unfinished one. */
export function readPidFile(data: string): PidFile | null {
  try {
    return parsePidFile(readFileSync(join(data, "postmaster.pid"), "utf8"));
  } catch {
    return null;
  }
}

/**
 * Whether a live process works in this data directory. Every server process has it as its working directory,
 * so this tells a server from another program that got its number after a reboot.
 */
export function worksIn(pid: number, data: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === data;
  } catch {
    return false;
  }
}

/** Whether any process at all still works in this data directory (a backend can outlive its postmaster). */
export function anyoneWorksIn(data: string): boolean {
  return readdirSync("/proc").some((name) => /^\d+$/.test(name) && worksIn(Number(name), data));
}
