import { expect, it } from "vitest";
import { startPageWorld } from "#test/control-plane/public/status-pages/world.ts";
import { createManualClock } from "#test/support/clock.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const HOUR_MS = 3_600_000;
const clock = createManualClock(new Date());

const world = await stopAfterAll(startPageWorld({ overrides: { clock } }));
const owner = await world.owner();

/** Returns which monitors have a check that was requested. */
async function requested(): Promise<readonly number[]> {
  const rows = await world.app.sql<{ id: number }[]>`
    select monitor_id as id from monitor_slots where is_requested order by monitor_id`;
  return rows.map(({ id }) => id);
}

it("checks what is down when its maintenance ends, by itself or by hand, and nothing else", async () => {
  const down = { state: { status: "down" as const } };
  const named = await world.addMonitor(owner, down);
  const tagged = await world.addMonitor(owner, { ...down, tags: ["db"] });
  const up = await world.addMonitor(owner);
  await world.addMonitor(owner, down);
  const byHand = await world.addMonitor(owner, down);
  const plan = async (body: object): Promise<number> => {
    const times = { starts_at: clock.now().toISOString(), ends_at: new Date(clock.now().getTime() + HOUR_MS) };
    const made = await world.call("/api/v4/maintenance", { key: owner.key, body: { title: "M", ...times, ...body } });
    expect(made.status, made.text).toBe(201);
    return (made.body.data as { readonly id: number }).id;
  };
  await plan({ monitor_ids: [named, up], tags: ["db"] });
  const cut = await plan({ monitor_ids: [byHand] });
  clock.advance(HOUR_MS / 2);
  await world.call(`/api/v4/maintenance?id=${cut}`, { method: "PUT", key: owner.key, body: { status: "cancelled" } });
  await expect.poll(requested).toEqual([byHand]);
  clock.advance(HOUR_MS / 2);
  await expect.poll(requested).toEqual([named, tagged, byHand]);
});
