import { availableParallelism, cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

const MOST_WORKERS = 4;
/** Half of the time, a test file waits for a time-out of the product and not for a core. */
const FILES_A_CORE = 1.5;

/**
 * Returns how many test files run at a time, 1 to 4, for this many free cores: more would starve the timers of each
 * other's products, fewer would leave cores idle.
 */
export function chooseWorkers(freeCores: number): number {
  return Math.max(1, Math.min(MOST_WORKERS, Math.ceil(freeCores * FILES_A_CORE)));
}

/** Returns how many cores were free over this time, milliseconds, as a fraction such as 1.9. */
export async function measureFreeCores(ms: number): Promise<number> {
  const before = readTimes();
  await sleep(ms);
  const after = readTimes();
  const all = after.all - before.all;
  return all <= 0 ? availableParallelism() : ((after.idle - before.idle) / all) * availableParallelism();
}

function readTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((cpu) => cpu.times);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((each) => Object.values(each))) };
}
