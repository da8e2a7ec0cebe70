import { expect, it } from "vitest";
import { toExactNumber } from "#shared/json/exact.ts";
import { exportAudit, isSignedWith, revealSecret } from "#test/support/audit.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createAccountKey, fieldsOfForm, signInOwner } from "#test/support/dashboard.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

// A number that no double holds, as the value of a JSON condition: each door shows the digits that were given.

const ID = "50000000014435121";
const NEXT = "50000000014435122";
const conditionOf = (text: string) => ({ path: "$.id", op: "equals", value: toExactNumber(text) });

const plane = await stopAfterAll(startControlPlane());
await attachScripted(plane, helloOf("eu-west"));
const { browser: owner, accountId } = await signInOwner(plane);
const key = await createAccountKey(plane, accountId);

async function send(path: string, options: { readonly method?: string; readonly body?: object } = {}): Promise<string> {
  const { status, text } = await plane.call(path, { key, ...options });
  expect(status, text).toBeLessThan(300);
  return text;
}

async function create(name: string, text: string): Promise<number> {
  const body = { name, url: "https://example.com/", locations: ["eu-west"], is_active: false, json: conditionOf(text) };
  const made = await send("/api/v4/monitors", { body });
  expect(made).toContain(`"value":${text}`);
  return (JSON.parse(made) as { data: { id: number } }).data.id;
}

it("the API, its log of changes and its import keep all digits", async () => {
  const id = await create("Shop", ID);
  for (const path of [`v4/monitors?id=${id}`, "v4/monitors", "v4/monitors?action=export"])
    expect(await send(`/api/${path}`)).toContain(`"value":${ID}`);

  const changed = await send(`/api/v4/monitors?id=${id}`, { method: "PUT", body: { json: conditionOf(NEXT) } });
  expect(changed).toContain(`"value":${NEXT}`);
  const unchanged = await send(`/api/v4/monitors?id=${id}`, { method: "PUT", body: { json: conditionOf(NEXT) } });
  expect(unchanged).toContain(`"value":${NEXT}`);
  expect(await send("/api/v4/changes")).toContain(`{"field":"json.value","before":${ID},"after":${NEXT}}`);

  const row = { name: "Imported", url: "https://example.com/", locations: ["eu-west"], json: conditionOf(ID) };
  await send("/api/v4/monitors?action=import", { body: { version: 2, monitors: [row] } });
  expect(await send("/api/v4/monitors?q=Imported")).toContain(`"value":${ID}`);
});

it("an audit export has them as a text, and its signature holds", async () => {
  const id = await create("Audited", ID);
  const signed = await exportAudit(plane, key, `type=monitor&id=${id}`);
  expect(signed.data).toMatchObject({ monitor: { json: { value: ID } } });
  const { secret } = await revealSecret(plane, { account_id: accountId });
  expect(isSignedWith(signed, secret)).toBe(true);
});

it("the form shows them, and saves what was typed", async () => {
  const id = await create("Edited", ID);
  const path = `/app/monitors/${id}/edit`;
  const fields = fieldsOfForm((await owner.get(path)).html, path);
  expect(fields["json.value"]).toBe(ID);
  const saved = await owner.post(path, { ...fields, "json.value": NEXT, do: "save" });
  expect(saved.status, saved.html).toBe(303);
  expect(await send(`/api/v4/monitors?id=${id}`)).toContain(`"value":${NEXT}`);
  expect((await owner.get(`/app/monitors/${id}`)).html).toContain(NEXT);
});

it("the agent endpoint shows them", async () => {
  const id = await create("Asked", ID);
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "get_monitor", arguments: { id } } };
  const answer = await send("/mcp", { body: call });
  expect(answer).toContain(`"value":${ID}`);
});

it.each([
  [
    "a number of another field",
    { interval_minutes: toExactNumber(ID) },
    "interval_minutes",
    "must be a decimal integer",
  ],
  ["a number in place of an object", { json: toExactNumber(ID) }, "json", "must be an object, or null"],
  ["a text", { name: toExactNumber(ID) }, "name", "must be a string"],
  [
    "a number of 1,001 characters",
    { json: conditionOf(`1.${"1".repeat(999)}`) },
    "json.value",
    "must have at most 1000",
  ],
  ["a number that is no double", { json: conditionOf("1e400") }, "json.value", "must be"],
])("%s is refused by its field", async (_, body, field, message) => {
  const id = await create("Refused", "1");
  const { status, body: answer } = await plane.call(`/api/v4/monitors?id=${id}`, { method: "PUT", key, body });
  expect([status, answer.error]).toMatchObject([400, { field, message: expect.stringContaining(message) }]);
});
