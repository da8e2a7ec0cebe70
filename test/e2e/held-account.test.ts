import { expect, it } from "vitest";
import { connect } from "#control-plane/core/database/connect.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createAccountKey, signIn, signInOwner } from "#test/support/dashboard.ts";
import { untilLockIsAwaited } from "#test/support/database-locks.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const IMPORTS = 30;
const MONITORS = Array.from({ length: 20 }, (_, index) => ({ name: `m${index}`, check_type: "heartbeat" }));

const plane = await stopAfterAll(startControlPlane());
const sql = await stopAfterAll(
  connect(plane.databaseUrl, { name: "test", connections: 2, statementTimeoutMs: 600_000 }),
);

it("while thirty imports of an account wait for it, other accounts read, write and sign in, and it reads itself", async () => {
  const { accountId } = await signInOwner(plane, "held@example.com");
  const { accountId: other } = await signInOwner(plane, "other@example.com");
  const [heldKey, otherKey] = [await createAccountKey(plane, accountId), await createAccountKey(plane, other)];
  const lock = await sql.reserve();
  await lock`begin`;
  await lock`select from accounts where id = ${accountId} for no key update`;
  let ended = 0;
  const imports = Array.from({ length: IMPORTS }, async () => {
    const body = { version: 1, monitors: MONITORS };
    const { status } = await plane.call("/api/v4/monitors?action=import&dry_run=1", { key: heldKey, body });
    ended += 1;
    return status;
  });
  try {
    await untilLockIsAwaited(sql);
    expect((await plane.call("/api/v4/monitors", { key: otherKey })).status).toBe(200);
    const body = { name: "other", check_type: "heartbeat" };
    expect((await plane.call("/api/v4/monitors", { key: otherKey, body })).status).toBe(201);
    await signIn(plane, "other@example.com");
    await signIn(plane, "held@example.com");
    expect((await plane.call("/api/v4/monitors", { key: heldKey })).status).toBe(200);
    expect((await plane.call("/healthz")).status).toBe(200);
    // PostgreSQL ends a statement that waits too long. Those that wait for their turn have sent none.
    expect(ended).toBeLessThan(IMPORTS / 3);
  } finally {
    await lock`commit`;
    lock.release();
  }
  const statuses = await Promise.all(imports);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(IMPORTS / 2);
});
