import { expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createAccountKey, signInOwner } from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { listChanges } from "#test/support/list-changes.ts";

const plane = await stopAfterAll(startControlPlane());
const { browser: owner, accountId } = await signInOwner(plane);

it("what members change in the browser is logged by name with its values, and what they save unchanged is not", async () => {
  const made = await owner.post("/app/monitors/new", { check_type: "heartbeat", name: "Backup", do: "save" });
  const path = /^\/app\/monitors\/\d+/.exec(made.location ?? "")?.[0] ?? "";
  expect(path, made.html).not.toBe("");
  for (const action of ["pause", "pause", "resume"])
    expect(await owner.post(`${path}/${action}`)).toMatchObject({ status: 303 });
  expect(await owner.post(`${path}/delete`, { name: "Backup" })).toMatchObject({ status: 303 });
  const logged = await listChanges(plane, await createAccountKey(plane, accountId), "subject=monitor");
  const by = { actor: { kind: "member", name: "owner@example.com" }, subject: { name: "Backup" } };
  expect(logged.toReversed()).toMatchObject([
    { ...by, action: "created", changed: [] },
    { ...by, action: "changed", changed: [{ field: "is_active", before: true, after: false }] },
    { ...by, action: "changed", changed: [{ field: "is_active", before: false, after: true }] },
    { ...by, action: "deleted", changed: [] },
  ]);
});
