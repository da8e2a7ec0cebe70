import { setTimeout as sleep } from "node:timers/promises";
import { quantile, row, type Row } from "#test/bench/report.ts";
import type { Scene } from "#test/bench/watching/scene.ts";

/** Rate of the reads. */
export const READS_PER_SECOND = 50;
/** Shares no factor with usual numbers of monitors, so that neighbours are not read one after the other. */
const STEP = 104_729;

/** Reads single monitors through the API at a fixed rate, while the watching goes on. */
export async function measureReads({ plane, key, sql }: Scene, seconds: number): Promise<Row[]> {
  const ids = (await sql<{ id: number }[]>`select id from monitors order by id`).map(({ id }) => id);
  const took: number[] = [];
  const reads: Promise<void>[] = [];
  const begin = performance.now();
  for (let index = 0; index < READS_PER_SECOND * seconds; index += 1) {
    await sleep(Math.max(0, begin + (index * 1_000) / READS_PER_SECOND - performance.now()));
    const id = ids[(index * STEP) % ids.length];
    const read = async (): Promise<void> => {
      const startedAt = performance.now();
      const answer = await plane.call(`/api/v4/monitors?id=${id}`, { key });
      if (answer.status !== 200) throw new Error(answer.text);
      took.push(performance.now() - startedAt);
    };
    reads.push(read());
  }
  await Promise.all(reads);
  return [
    row("watching: single monitor at 50/s, p50", quantile(took, 0.5), "ms"),
    row("watching: single monitor at 50/s, p99", quantile(took, 0.99), "ms", { atMost: 20 }),
  ];
}
