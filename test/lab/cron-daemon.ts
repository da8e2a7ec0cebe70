import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFaketime } from "#test/support/faketime.ts";

/** Package cron of Debian 12, 3.0pl1-162. */
const CRON = "/usr/sbin/cron";
const TICK = "tick";

/** A running daemon of Debian's package cron. */
interface CronDaemon {
  /** How many minutes have begun for it, by a line of five asterisks. */
  ticks(): number;
  /** How often each line has run, in the order of the lines. */
  runs(): readonly number[];
  end(): Promise<void>;
}

/** Returns in one line why no daemon can run here; null if one can. */
export function whyNoCron(): string | null {
  if (process.getuid?.() !== 0) return "skipped: cron needs root (a mount namespace)";
  if (!existsSync(CRON)) return "skipped: Debian's cron is not installed";
  return findFaketime() === undefined ? "skipped: libfaketime is not installed" : null;
}

/**
 * Runs the daemon with a crontab of these lines, in a mount namespace of its own, so that it sees no crontab of this
 * machine. Its clock starts at `startsAt` (Unix milliseconds) and goes `speed` times as fast as ours.
 */
export function runCron({
  lines,
  zone,
  startsAt,
  speed,
}: {
  readonly lines: readonly string[];
  readonly zone: string;
  readonly startsAt: number;
  readonly speed: number;
}): CronDaemon {
  const folder = mkdtempSync(join(tmpdir(), "vantage-cron-"));
  const journal = join(folder, "journal");
  writeFileSync(journal, "");
  const jobs = [["* * * * *", TICK], ...lines.map((line, index) => [line, String(index)])];
  const table = jobs.map(([line = "", name = ""]) => `${line} root echo ${name} >> ${journal}`);
  writeFileSync(join(folder, "crontab"), ["SHELL=/bin/sh", ...table, ""].join("\n"), { mode: 0o600 });
  const mounts = [
    "mount -t tmpfs tmpfs /run",
    "mount -t tmpfs tmpfs /var/spool/cron",
    "mkdir /var/spool/cron/crontabs",
    "mount -t tmpfs tmpfs /etc/cron.d",
    `mount --bind ${folder}/crontab /etc/crontab`,
  ];
  const script = [...mounts, `LD_PRELOAD=${findFaketime() ?? ""} exec ${CRON} -f`].join(" && ");
  const child = spawn("unshare", ["--mount", "sh", "-c", script], {
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      TZ: zone,
      FAKETIME: `@${Math.floor(startsAt / 1_000)} x${speed}`,
      FAKETIME_FMT: "%s",
    },
  });
  const ended = once(child, "exit");
  const written = (): readonly string[] => readFileSync(journal, "utf8").split("\n");
  return {
    ticks: () => written().filter((name) => name === TICK).length,
    runs() {
      const counts = Object.groupBy(written(), (name) => name);
      return lines.map((_, index) => counts[index]?.length ?? 0);
    },
    async end() {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
