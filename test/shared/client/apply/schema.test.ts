import { Check } from "typebox/schema";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runVantage } from "#test/shared/client/command-line.ts";
import { openAccountDocuments } from "#test/support/account-documents.ts";
import { startMonitorService, type MonitorService } from "#test/support/monitor-service.ts";

let service: MonitorService;
let schema: object;

beforeAll(async () => {
  service = await startMonitorService();
  service.attach("eu-west");
  const printed = await runVantage(["export", "--schema"], { VANTAGE_BASE_URL: service.url });
  if (printed.status !== 0) throw new Error(printed.complained);
  schema = JSON.parse(printed.said) as object;
});
afterAll(() => service?.stop());

const at = { locations: ["eu-west"] };
const FULL = {
  version: 2,
  monitors: [
    { ...at, name: "Shop", url: "https://example.com", request_headers: { A: "b" }, tags: ["web"] },
    { ...at, name: "Mail", check_type: "tcp", url: "example.com:25", tcp: { send: "EHLO" } },
    { ...at, name: "Calls", check_type: "grpc", url: "example.com:443", grpc: { metadata: { a: "b" } } },
    { name: "All", check_type: "composite", composite: { monitors: ["Shop", "Mail"] }, depends_on: null },
    { name: "Backup", check_type: "heartbeat", heartbeat: { period_seconds: 3600 }, depends_on: "Shop" },
  ],
  status_pages: [{ title: "Example", slug: "schema-shop", monitors: [{ monitor: "Shop" }] }],
  maintenance: [{ title: "Updates", monitors: ["Shop"], starts_at: "2099-01-01T00:00:00Z", duration_seconds: 60 }],
};

const HOOK = { name: "On-call", url: "https://hooks.example.com/vantage" };
const WEBHOOKS = [
  { ...HOOK, events: null, filter: { monitors: ["Shop"], tags: ["web"] }, headers: { A: { env: "A" } } },
  { name: "Chat", url: { env: "SLACK" }, format: "slack", secret: { file: "secret.txt" }, is_active: false },
  {
    name: "Phone",
    url: "https://api.pushover.net",
    format: "pushover",
    format_options: { token: { env: "A" }, user: "****", priority: 1 },
  },
];

describe("the schema of documents", () => {
  it("has what an import takes and an export writes", async () => {
    const documents = openAccountDocuments(service);
    const { key } = await documents.createOwner();
    const sent = await documents.send(key, FULL);
    expect(sent.status, sent.text).toBe(201);
    expect([Check(schema, FULL), Check(schema, await documents.exportOf(key))]).toEqual([true, true]);
  });

  it("has webhooks as an apply takes them and an export writes them", async () => {
    const { key } = await openAccountDocuments(service).createOwner();
    const call = (body: object) => service.call("/api/v4/webhooks", { key, body });
    const options = { format: "ntfy", format_options: { topic: "secret" }, filter: { tags: ["web"] } };
    expect([(await call(HOOK)).status, (await call({ ...HOOK, ...options, name: "Topic" })).status]).toEqual([
      201, 201,
    ]);
    const exported = await runVantage(["export"], { VANTAGE_BASE_URL: service.url, VTG_API_KEY: key });
    const document = parse(exported.said) as { readonly webhooks: readonly object[] };
    expect(document.webhooks).toHaveLength(2);
    expect([Check(schema, document), Check(schema, { ...FULL, webhooks: WEBHOOKS })]).toEqual([true, true]);
  });

  it("has the owner, and references in place of secrets", () => {
    const secret = { env: "TOKEN" };
    const rows = [
      { name: "a", request_headers: { A: secret }, body: { file: "body.txt" } },
      { name: "b", grpc: { metadata: { a: secret } }, tcp: { send: secret }, websocket: { send: secret } },
    ];
    expect(Check(schema, { version: 2, owner: "shop/web", monitors: rows })).toBe(true);
  });

  it.each<readonly [what: string, document: object]>([
    ["another version", { version: 1, monitors: [] }],
    ["no list of monitors", { version: 2 }],
    ["an unknown field of the document", { version: 2, monitors: [], monitor: [] }],
    ["an unknown field of a row", { version: 2, monitors: [{ name: "a", intervall: 3 }] }],
    ["a row without a name", { version: 2, monitors: [{ url: "x" }] }],
    ["an owner that is no tag", { version: 2, owner: "A b", monitors: [] }],
    ["a reference to two places", { version: 2, monitors: [{ name: "a", body: { env: "a", file: "b" } }] }],
    ["a reference elsewhere", { version: 2, monitors: [{ name: "a", url: { env: "a" } }] }],
    ["an id in a composite", { version: 2, monitors: [{ name: "a", composite: { monitor_ids: [1, 2] } }] }],
    ["a webhook without a name", { version: 2, monitors: [], webhooks: [{ url: HOOK.url }] }],
    ["an unknown field of a webhook", { version: 2, monitors: [], webhooks: [{ ...HOOK, managed_by: "shop" }] }],
    ["ids in a filter", { version: 2, monitors: [], webhooks: [{ ...HOOK, filter: { monitor_ids: [1] } }] }],
    ["an unknown format", { version: 2, monitors: [], webhooks: [{ ...HOOK, format: "fax" }] }],
    ["an unknown field of a page", { version: 2, monitors: [], status_pages: [{ title: "a", slug: "abc", x: 1 }] }],
  ])("refuses %s", (_what, document) => {
    expect(Check(schema, document)).toBe(false);
  });

  it("is not printed if no service answers", async () => {
    const away = await runVantage(["export", "--schema"], { VANTAGE_BASE_URL: "http://127.0.0.1:9" });
    expect(away).toMatchObject({ status: 5, said: "" });
  });
});
