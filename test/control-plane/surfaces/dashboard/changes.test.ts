import { expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { signInOwner } from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane());
const { browser: owner, accountId } = await signInOwner(plane);

const logged = () => plane.app.sql`
  select actor_type, actor_name, action, subject_name, changed from account_changes
  where account_id = ${accountId} and resource = 'monitor' order by id`;

it("what members change in the browser is logged by name with its values, and what they save unchanged is not", async () => {
  const made = await owner.post("/app/monitors/new", { check_type: "heartbeat", name: "Backup", do: "save" });
  const path = /^\/app\/monitors\/\d+/.exec(made.location ?? "")?.[0] ?? "";
  expect(path, made.html).not.toBe("");
  for (const action of ["pause", "pause", "resume"])
    expect(await owner.post(`${path}/${action}`)).toMatchObject({ status: 303 });
  expect(await owner.post(`${path}/delete`, { name: "Backup" })).toMatchObject({ status: 303 });
  const by = { actor_type: "member", actor_name: "owner@example.com", subject_name: "Backup" };
  expect([...(await logged())]).toEqual([
    { ...by, action: "created", changed: [] },
    { ...by, action: "changed", changed: [{ field: "is_active", before: true, after: false }] },
    { ...by, action: "changed", changed: [{ field: "is_active", before: false, after: true }] },
    { ...by, action: "deleted", changed: [] },
  ]);
});
