import { expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane());
const key = await plane.createKey("captain");

const HOOK = "https://hooks.example.com/x";

it.each<readonly [what: string, path: string, field: string, bodyOf: (name: string) => object]>([
  ["a monitor", "v4/monitors", "name", (name) => ({ name, check_type: "heartbeat" })],
  ["a status page", "v4/status", "title", (title) => ({ title, slug: "hidden-names" })],
  ["a webhook", "v4/webhooks", "name", (name) => ({ name, url: HOOK })],
  ["maintenance", "v4/maintenance", "title", (title) => ({ title, tags: ["a"], starts_at: "2099-01-01T00:00:00Z" })],
])("%s has no name with characters that are hidden or reorder text, and the answer says which one", async (...row) => {
  const [, path, field, bodyOf] = row;
  for (const code of ["061C", "200E", "200F", "202A", "202E", "2066", "2069", "0085", "009B", "200B", "FEFF", "00AD"]) {
    const name = `Shop ${String.fromCodePoint(Number.parseInt(code, 16))}north`;
    const { status, body } = await plane.call(`/api/${path}`, { key, body: bodyOf(name) });
    expect([status, body.error], code).toMatchObject([400, { code: "missing_parameter", field }]);
    const isControl = code.startsWith("008") || code.startsWith("009");
    if (!isControl) expect(body.error["message"], code).toContain(`U+${code}`);
  }
});

it("nor has a key", async () => {
  const made = await plane.operate("POST", "/api/admin/keys", { name: "Graf\u202eana" });
  expect([made.status, made.body.error]).toMatchObject([400, { field: "name", reason: "type" }]);
  expect(made.body.error["message"]).toContain("U+202E");
});

it("a monitor that got such a name before can still be sent back as it was read, and gets no other one", async () => {
  const { id } = await createMonitor(plane, key, { name: "Old", check_type: "heartbeat" });
  await plane.app.sql`update monitors set name = ${"O\u200eld"} where id = ${id}`;
  const path = `/api/v4/monitors?id=${id}`;
  const read = (await plane.call(path, { key })).body.data as object;
  const sent = await plane.call(path, { method: "PUT", key, body: read });
  expect([sent.status, sent.body.data], sent.text).toMatchObject([200, { name: "O\u200eld" }]);
  expect((await plane.call(path, { method: "PUT", key, body: { name: "N\u200eew" } })).status).toBe(400);
});
