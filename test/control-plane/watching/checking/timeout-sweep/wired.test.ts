import { expect, it } from "vitest";
import { connect } from "#control-plane/core/database/connect.ts";
import { encodeState } from "#control-plane/outages/state/encoding.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { tellOfUp } from "#test/control-plane/outages/state/story.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane());
const sql = await stopAfterAll(
  connect(plane.databaseUrl, { name: "test", connections: 2, statementTimeoutMs: 30_000 }),
);

it("a running control plane sweeps monitors by itself, without any agent", async () => {
  const { key, ids } = await createWatchedAccount(plane, sql, 1);
  const [id = 0] = ids;
  // No check of it is due, so that nothing but a sweep can change it.
  await sql`update monitor_slots set due_at = now() + interval '1 day' where monitor_id = ${id}`;
  const { state } = tellOfUp();
  await sql`
    update monitor_states set status = 'up', state = ${encodeState(state)}, visit_at = '-infinity'
    where monitor_id = ${id}`;
  const read = async () => (await plane.call(`/api/v4/monitors?id=${id}`, { key })).body.data;
  await expect.poll(read).toMatchObject({ status: "unknown" });
});
