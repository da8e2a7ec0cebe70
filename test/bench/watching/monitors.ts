import { setTimeout as sleep } from "node:timers/promises";
import type { Scene } from "#test/bench/watching/scene.ts";

/** Monitors of one document. */
const AT_ONCE = 1_000;
/** Time for the first checks of all monitors, in milliseconds. */
const FIRST_CHECKS_MS = 900_000;

/** Creates HTTP monitors, checked from every region, through the API. */
export async function createMonitors(
  { plane, key, webPort, regions }: Scene,
  count: number,
  intervalMinutes = 1,
): Promise<void> {
  for (let done = 0; done < count; done += AT_ONCE) {
    const monitors = Array.from({ length: Math.min(AT_ONCE, count - done) }, (_, index) => ({
      name: `Shop ${done + index + 1}`,
      url: `http://127.0.0.1:${webPort}/`,
      interval_minutes: intervalMinutes,
      locations: regions,
    }));
    const answer = await plane.call("/api/v4/monitors?action=import", { key, body: { version: 1, monitors } });
    if (answer.status !== 201) throw new Error(answer.text.slice(0, 500));
  }
}

/** Resolves when every schedule entry has been checked, and nothing is late any more. */
export async function waitForFirstChecks({ sql }: Scene): Promise<void> {
  const until = performance.now() + FIRST_CHECKS_MS;
  for (;;) {
    const [row] = await sql<{ unchecked: number }[]>`
      select count(*)::integer as unchecked from monitor_slots
      where checked_at is null or due_at < now() - interval '1 second'`;
    if (row?.unchecked === 0) return;
    if (performance.now() > until) throw new Error(`${row?.unchecked} checks are still late`);
    await sleep(1_000);
  }
}
