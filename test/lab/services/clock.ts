import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFaketime } from "#test/support/faketime.ts";

/** A wall clock that a test moves forward. Monotonic clocks go on as they are. */
export interface MovableClock {
  /** Environment of programs that follow it within a second. */
  readonly environment: Readonly<Record<string, string>>;
  /** The same for programs with one thread, which read the time in signal handlers. */
  readonly singleThreaded: Readonly<Record<string, string>>;
  now(): Date;
  moveTo(time: Date): void;
}

const SHARED_MEMORY = "/dev/shm";

/** Returns in one line why clocks cannot be moved here; null if they can. */
export function whyNoClock(): string | null {
  return findFaketime() === undefined ? "skipped: moving clocks needs libfaketime (Debian package)" : null;
}

/** Creates a clock with the present time. Its file is in the folder of the lab. */
export function createMovableClock(folder: string): MovableClock {
  const file = join(folder, "clock");
  let offsetMs = 0;
  const now = (): Date => new Date(Date.now() + offsetMs);
  const write = (): void => {
    // Programs read it at any time: they must not find half of it.
    writeFileSync(`${file}.next`, `+${(offsetMs / 1_000).toFixed(3)}\n`);
    renameSync(`${file}.next`, file);
  };
  const environment = (build: "" | "MT") => ({
    LD_PRELOAD: findFaketime(build) ?? "",
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    NO_FAKE_STAT: "1",
  });
  write();
  removeLeftovers();
  return {
    environment: environment("MT"),
    singleThreaded: environment(""),
    now,
    moveTo(time) {
      offsetMs += time.getTime() - now().getTime();
      write();
    },
  };
}

/**
 * Removes the shared memory that killed programs have left. The library ends a program whose process id is that of an
 * earlier one.
 */
function removeLeftovers(): void {
  for (const name of readdirSync(SHARED_MEMORY)) {
    const pid = /^(?:sem\.faketime_sem|faketime_shm)_(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(SHARED_MEMORY, name), { force: true });
  }
}
