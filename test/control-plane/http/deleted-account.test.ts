import { describe, expect, it } from "vitest";
import { startControlPlane, type Answer } from "#test/support/control-plane.ts";
import { operationsOf, type ApiOperation } from "#test/support/openapi-samples.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly security?: readonly object[] }>>>>;
}

// Wrong keys are limited by the address of the client: each request has one of its own.
const plane = await stopAfterAll(startControlPlane({ plans: WIDE_PLANS, config: { trustedProxies: ["127.0.0.0/8"] } }));
const document = JSON.parse((await plane.call("/openapi.json")).text) as Document;
const needsKey = ({ path, method }: ApiOperation): boolean => {
  const ways = document.paths[path]?.[method]?.security ?? [];
  return ways.some((way) => "apiKey" in way) && !ways.some((way) => Object.keys(way).length === 0);
};
/** Every operation that needs a key. */
const keyed = operationsOf(document).filter(needsKey);

async function openAccount(): Promise<{ readonly key: string; readonly id: number }> {
  const { body } = await plane.operate("POST", "/api/admin/keys", { plan: "captain" });
  const { key, account_id: id } = body.data as { readonly key: string; readonly account_id: number };
  expect((await plane.call("/api/v4/account", { key })).status).toBe(200);
  return { key, id };
}

let sent = 0;

/** Sends the sample of an operation. */
function send(operation: ApiOperation, key: string, more: object = {}): Promise<Answer> {
  const { method, path, pathParameters, query, body } = operation;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => pathParameters[name] ?? "");
  const fields = Object.entries({ ...query, ...more }).map(([name, value]): [string, string] => [name, String(value)]);
  sent += 1;
  return plane.call(`${filled}?${new URLSearchParams(fields).toString()}`, {
    method: method.toUpperCase(),
    key,
    headers: { "x-forwarded-for": `192.0.${Math.floor(sent / 250)}.${1 + (sent % 250)}` },
    ...(body === undefined ? {} : { body }),
  });
}

/** Returns the operations that answer otherwise than with 401 invalid_api_key. */
async function findOthers(operations: readonly ApiOperation[], key: string, more?: object): Promise<readonly string[]> {
  const others: string[] = [];
  for (const operation of operations) {
    // oxlint-disable-next-line no-await-in-loop -- in the order of the document
    const { status, text, headers } = await send(operation, key, more);
    const isRefused =
      status === 401 && text.includes('"invalid_api_key"') && headers.get("www-authenticate") === "Bearer";
    if (!isRefused) others.push(`${status} ${operation.method} ${operation.path}: ${text.slice(0, 200)}`);
  }
  return others;
}

describe("a key whose account is deleted", () => {
  it("is invalid for every operation that needs one", async () => {
    const { key, id } = await openAccount();
    expect((await plane.operate("DELETE", `/api/admin/accounts?id=${id}`)).status).toBe(200);
    expect(keyed.length).toBeGreaterThan(100);
    expect(await findOthers(keyed, key)).toEqual([]);
  });

  it("is invalid for every write that it began before, also where the write names something by its id", async () => {
    const { key, id } = await openAccount();
    // Its key is still known here, as it is while a request is under way.
    await plane.app.sql`delete from accounts where id = ${id}`;
    const nouns = /^\/api\/v4\/(?:monitors|maintenance|incidents|status|webhooks)$/;
    const writes = keyed.filter(({ path, method }) => nouns.test(path) && method !== "get");
    expect(writes).toHaveLength(14);
    // These wait for a probe before they write.
    const probed = new Set(["create_monitor"]);
    const changes = writes.filter((operation) => !probed.has(operation.id));
    expect(await findOthers(changes, key, { id: 1 })).toEqual([]);
    const jobs = keyed.filter(({ path, method }) => /\/(?:batch|measurements)$/.test(path) && method === "delete");
    expect(await findOthers(jobs, key)).toEqual([]);
    const posts = ["webhooks?action=test&id=1", "webhooks?action=rotate&id=1", "monitors?action=run&id=1"];
    for (const path of posts) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { status, body } = await plane.call(`/api/v4/${path}`, { method: "POST", key });
      expect([path, status, body]).toMatchObject([path, 401, { error: { code: "invalid_api_key" } }]);
    }
  });
});
