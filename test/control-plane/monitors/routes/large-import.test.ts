import type { FastifyRequest } from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import { RawBody } from "#control-plane/http/body.ts";
import { createImportBodies, type ImportBodies } from "#control-plane/monitors/routes/import-body.ts";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { listChanges } from "#test/support/list-changes.ts";

// A document of more than 1 MB is parsed in a thread. Spaces make any document as long, and mean nothing.

const IMPORT = "/api/v4/monitors?action=import";
const MB = 1_048_576;
const ROW = { url: "https://example.com/", locations: ["eu-west"] };
const long = (text: string): string => `${text}${" ".repeat(MB)}`;
const documentOf = (monitors: readonly unknown[]): string => JSON.stringify({ version: 1, monitors });

const open: ImportBodies[] = [];

const service = await stopAfterAll(startMonitorService());
service.attach("eu-west");
afterEach(() => {
  for (const reader of open.splice(0)) reader.close();
});

const send = (key: string, body: string, query = "") =>
  service.call(`${IMPORT}${query}`, { key, body, headers: { "content-type": "application/json" } });

describe("a large document is answered as a small one is", () => {
  const many = "200,".repeat(780_000).slice(0, -1);
  it.each<readonly [what: string, body: string, status: number]>([
    ["monitors", documentOf([ROW, { ...ROW, name: "second", tags: ["a"] }]), 200],
    [
      "a dependency",
      documentOf([
        { ...ROW, name: "a" },
        { ...ROW, depends_on: "a" },
      ]),
      200,
    ],
    ["broken JSON", '{"version":1,"monitors":[', 400],
    ["a repeated key", '{"version":1,"version":1,"monitors":[]}', 400],
    ["a prototype", '{"version":1,"monitors":[{"__proto__":{}}]}', 400],
    ["a list", "[]", 400],
    ["deep nesting", `{"version":1,"monitors":${"[".repeat(100)}${"]".repeat(100)}}`, 400],
    ["another version", '{"version":3,"monitors":[{}]}', 400],
    ["a row of version 2 without a name", '{"version":2,"monitors":[{}]}', 400],
    ["a status page in version 1", '{"version":1,"monitors":[{}],"status_pages":[]}', 400],
    [
      "pages and maintenance",
      JSON.stringify({
        version: 2,
        monitors: [{ ...ROW, name: "a" }],
        status_pages: [{ title: "Shop", slug: "large-shop", monitors: [{ monitor: "a" }] }],
        maintenance: [{ title: "x", monitors: ["a"], starts_at: "2099-01-01T00:00:00Z", duration_seconds: 60 }],
      }),
      200,
    ],
    [
      "problems in every list",
      JSON.stringify({
        version: 2,
        monitors: [{ ...ROW, name: "a", retries: 9, recovery: 0 }, 5],
        status_pages: [{ title: "Shop", slug: "UPPER" }, []],
        maintenance: [{ title: "x", monitors: ["b"], starts_at: "2099-01-01T00:00:00Z", duration_seconds: 60 }],
      }),
      400,
    ],
    ["no rows", documentOf([]), 400],
    ["rows that are no list", '{"version":1,"monitors":{}}', 400],
    ["an unknown field beside the rows", '{"version":1,"monitors":[{}],"constructor":{}}', 400],
    ["a row that is no object", documentOf([ROW, 5]), 400],
    ["a wrong value in a later row", documentOf([ROW, ROW, { ...ROW, retries: 9 }]), 400],
    [
      "a wrong target before a wrong value",
      documentOf([ROW, { ...ROW, url: "nonsense" }, { ...ROW, retries: 9 }]),
      400,
    ],
    [
      "a wrong value before a wrong target",
      documentOf([
        { ...ROW, retries: 9 },
        { ...ROW, url: "nonsense" },
      ]),
      400,
    ],
    ["an unknown dependency", documentOf([{ ...ROW, depends_on: "x" }]), 400],
    ["a list of many items in a row", `{"version":1,"monitors":[{"expected_codes":[${many}]}]}`, 400],
    ["more rows than the plan allows", documentOf(Array.from({ length: 30_000 }, () => ROW)), 403],
    ["more rows than a document has", documentOf(Array.from({ length: 100_001 }, () => ({}))), 400],
  ])("%s", async (_what, text, status) => {
    const key = await service.createKey();
    const small = text.length > MB ? null : await send(key, text, "&dry_run=1");
    const large = await send(key, long(text), "&dry_run=1");
    expect(large.status, large.text).toBe(status);
    if (small !== null)
      expect([large.status, large.body.data, large.body.error]).toEqual([
        small.status,
        small.body.data,
        small.body.error,
      ]);
    else expect(large.body.error).toMatchObject({ field: expect.stringMatching(/^monitors/) });
  });
});

it("bytes that are no UTF-8 and another coding of the body are refused as in a small one", async () => {
  const key = await service.createKey();
  const post = (body: Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
    fetch(`${service.url}${IMPORT}`, { method: "POST", headers: { "x-api-key": key, ...headers }, body });
  const json = { "content-type": "application/json" };
  const broken = await post(Buffer.alloc(2 * MB, 0xff), json);
  expect([broken.status, await broken.json()]).toMatchObject([400, { error: { reason: "invalid_json" } }]);
  expect((await post(Buffer.alloc(2 * MB, 32), { ...json, "content-encoding": "gzip" })).status).toBe(415);
  expect((await post(Buffer.alloc(2 * MB, 32), { "content-type": "application/x-www-form-urlencoded" })).status).toBe(
    415,
  );
  expect((await post(Buffer.alloc(4 * MB + 1, 32), json)).status).toBe(413);
});

it("a large import is stored, and the log of changes has its monitors", async () => {
  const key = await service.createKey();
  const made = await send(key, long(documentOf([ROW, { ...ROW, name: "second" }])));
  expect([made.status, made.body.data], made.text).toMatchObject([201, { created: 2 }]);
  const logged = await listChanges(service, key, "subject=monitor");
  expect(logged.map(({ subject, action }) => `${subject.name} ${action}`)).toEqual([
    "second created",
    "example.com/ created",
  ]);
});

/** A body that only another thread can parse. */
class UnparsedBody extends RawBody {
  override json(): never {
    throw new Error("the body was parsed in this thread");
  }
}

function openReader(): ImportBodies {
  const made = createImportBodies();
  open.push(made);
  return made;
}

const requestOf = (body: RawBody) => ({ body, apiVersion: "v4" }) as unknown as FastifyRequest;

it("only a large document is parsed in another thread, and its rows are read when it is their turn", async () => {
  const reader = openReader();
  const text = documentOf([ROW, { ...ROW, name: "second" }, { retries: 9 }, ROW]);
  await expect(reader.read(requestOf(new UnparsedBody("json", Buffer.from(text))))).rejects.toThrow("in this thread");
  const { monitors } = await reader.read(requestOf(new UnparsedBody("json", Buffer.from(long(text)))));
  expect(monitors.count).toBe(4);
  expect(Array.from(monitors.read())).toMatchObject([
    { ok: true, value: ROW },
    { ok: true, value: { name: "second" } },
    { ok: false, problems: [{ field: "retries", reason: "range" }] },
    { ok: true, value: ROW },
  ]);
});

it("of many large documents at once those that cannot wait are refused, and the others are read", async () => {
  const reader = openReader();
  const body = Buffer.from(long(documentOf([ROW])));
  const read = await Promise.allSettled(
    Array.from({ length: 12 }, () => reader.read(requestOf(new UnparsedBody("json", body)))),
  );
  const refused = read.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(4);
  expect(refused).toMatchObject(refused.map(() => ({ reason: { code: "service_unavailable" } })));
});

it("4 MB in the form that takes most memory is read within the memory of the thread", async () => {
  const reader = openReader();
  const lists = "[],".repeat(Math.floor((4 * MB - 100) / 3)).slice(0, -1);
  const body = new UnparsedBody("json", Buffer.from(`{"version":1,"monitors":[{"tags":[${lists}]}]}`));
  const { monitors } = await reader.read(requestOf(body));
  expect(Array.from(monitors.read())).toMatchObject([{ ok: false, problems: [{ field: "tags", reason: "range" }] }]);
});
