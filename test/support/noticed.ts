import { expect } from "vitest";
import type { ControlPlaneProcess } from "#test/support/control-plane-process.ts";

/** A control plane whose figures and lines are watched. */
export interface Watched {
  readonly plane: Pick<ControlPlaneProcess, "log">;
  readonly metricsUrl: string;
}

const SOON = { timeout: 10_000, interval: 20 };

/**
 * Does something bad and waits until it is counted so often in this series and, where words are given, told in a line
 * that has them all.
 */
export async function expectNoticed<T>(
  { plane, metricsUrl }: Watched,
  series: string,
  words: readonly string[],
  attack: () => Promise<T> | T,
  times = 1,
): Promise<T> {
  const figure = async (): Promise<number> => {
    const text = await (await fetch(metricsUrl)).text();
    const line = text.split("\n").find((row) => row.startsWith(`${series} `));
    return line === undefined ? 0 : Number(line.slice(series.length));
  };
  const [before, length] = [await figure(), plane.log().length];
  const result = await attack();
  await expect.poll(async () => (await figure()) - before, SOON).toBe(times);
  const isTold = (): boolean => {
    const lines = plane.log().slice(length).split("\n");
    return lines.some((line) => words.every((word) => line.includes(word)));
  };
  await expect.poll(isTold, SOON).toBe(true);
  return result;
}
