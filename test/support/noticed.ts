import { expect } from "vitest";
import type { ControlPlaneProcess } from "#test/support/control-plane-process.ts";

/** A control plane whose metrics and log lines are checked. */
export interface Watched {
  readonly plane: Pick<ControlPlaneProcess, "log">;
  readonly metricsUrl: string;
}

const SOON = { interval: 20 };

/**
 * Runs an attack and waits until this series has increased by `times` and, if words are given, a log line has all of
 * them.
 */
export async function expectNoticed<T>(
  { plane, metricsUrl }: Watched,
  series: string,
  words: readonly string[],
  attack: () => Promise<T> | T,
  times = 1,
): Promise<T> {
  const readMetric = async (): Promise<number> => {
    const text = await (await fetch(metricsUrl)).text();
    const line = text.split("\n").find((row) => row.startsWith(`${series} `));
    return line === undefined ? 0 : Number(line.slice(series.length));
  };
  const [before, length] = [await readMetric(), plane.log().length];
  const result = await attack();
  await expect.poll(async () => (await readMetric()) - before, SOON).toBe(times);
  const isLogged = (): boolean => {
    const lines = plane.log().slice(length).split("\n");
    return lines.some((line) => words.every((word) => line.includes(word)));
  };
  await expect.poll(isLogged, SOON).toBe(true);
  return result;
}
