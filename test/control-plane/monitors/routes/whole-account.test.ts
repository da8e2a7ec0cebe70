import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSecrets } from "#control-plane/monitors/settings/secrets.ts";
import { startMonitorService, type MonitorService } from "#test/support/monitor-service.ts";

// Documents of version 2: monitors, status pages and maintenance of an account.

const URL = "/api/v4/monitors";
const FAR = "2099-03-01T02:00:00.000Z";

let service: MonitorService;

beforeAll(async () => {
  service = await startMonitorService();
  for (const region of ["eu-west", "us-east"]) service.attach(region, { capabilities: ["browser"] });
});
afterAll(() => service?.stop());

type Row = Readonly<Record<string, unknown>>;
interface Document {
  readonly version: number;
  readonly monitors: readonly Row[];
  readonly status_pages: readonly Row[];
  readonly maintenance: readonly Row[];
}

interface Owner {
  readonly id: number;
  readonly key: string;
}

async function createOwner(plan = "captain"): Promise<Owner> {
  const { body } = await service.operate("POST", "/api/admin/keys", { plan });
  const made = body.data as { account_id: number; key: string };
  return { id: made.account_id, key: made.key };
}

const send = (key: string, document: object, query = "") =>
  service.call(`${URL}?action=import${query}`, { key, body: document });
const read = (key: string, query = "") => service.call(`${URL}?action=export${query}`, { key });
const exportOf = async (key: string): Promise<Document> => (await read(key)).body.data;
const erase = (id: number) => service.operate("DELETE", `/api/admin/accounts?id=${id}`);
const listOf = async (key: string) => (await service.call(URL, { key })).body.data as readonly Row[];

/** Every kind of monitor, with fields that differ from the defaults; pages and maintenance that name them. */
function documentOf(tag: string): object {
  const at = { locations: ["us-east", "eu-west"] };
  return {
    version: 2,
    monitors: [
      { ...at, name: "Router", check_type: "ping", url: "example.com", quorum: 1, recovery: 3 },
      {
        ...at,
        name: "Shop",
        url: "https://example.com/shop?a=b",
        depends_on: "Router",
        method: "POST",
        request_headers: { Accept: "text/html" },
        expected_codes: [200, "300-399"],
        json: { path: "$.a", op: "equals", value: 1.5 },
        tags: ["shop", "team:web"],
        watch_domain: true,
        notify_email: true,
        notify_emails: ["ops@example.com"],
        repeat_minutes: 60,
        degraded_ms: 500,
      },
      { ...at, name: "Page", check_type: "keyword", url: "https://example.com", keyword: "x", keyword_mode: "absent" },
      { ...at, name: "Certificate", check_type: "ssl", url: "example.com", port: 465, interval_minutes: 60 },
      { ...at, name: "Domain", check_type: "domain", url: "example.com", is_active: false },
      {
        ...at,
        name: "Records",
        check_type: "dns",
        url: "example.com",
        dns: { type: "TXT", op: "contains", values: ["a b"], dnssec: "ignore" },
      },
      { ...at, name: "Port", check_type: "port", url: "example.com", port: 25, retries: 0 },
      {
        name: "Looks",
        check_type: "visual",
        url: "https://example.com",
        locations: ["eu-west"],
        visual: { viewport: { width: 800, height: 600 }, ignore: [{ x: 1, y: 2, width: 3, height: 4 }] },
      },
      { name: "Backup", check_type: "heartbeat", heartbeat: { cron: "30 2 * * *", timezone: "Europe/Berlin" } },
      { name: "Sync", check_type: "heartbeat", depends_on: "Backup", heartbeat: { period_seconds: 90 } },
    ],
    status_pages: [
      {
        title: "Example",
        slug: `whole-${tag}`,
        description: "Two\nlines",
        footer: "Help",
        is_public: false,
        domain: `${tag}.status.example.com`,
        show_causes: true,
        auto_incidents: false,
        auto_incidents_after_minutes: 7,
        monitors: [{ monitor: "Shop", name: "Web shop" }, { monitor: "Backup" }, { monitor: "Router", name: null }],
        groups: [
          { name: "Europe", monitors: ["Router", "Shop"] },
          { name: "None", monitors: [] },
        ],
      },
      { title: "Second", slug: `whole-${tag}-2` },
    ],
    maintenance: [
      { title: "Once", monitors: ["Shop"], starts_at: FAR, ends_at: "2099-03-01T04:00:00.000Z", public: true },
      {
        title: "Weekly",
        tags: ["shop"],
        monitors: ["Backup", "Shop"],
        starts_at: "2026-01-03T01:00:00.000Z",
        duration_seconds: 7_200,
        rrule: "FREQ=WEEKLY;BYDAY=SA",
        timezone: "Europe/Berlin",
      },
      // The same title and start twice are two windows.
      { title: "Once", monitors: ["Router"], starts_at: FAR, ends_at: "2099-03-01T05:00:00.000Z" },
    ],
  };
}

const counts = (created: number, updated: number, unchanged: number) => ({ created, updated, unchanged });

describe("a document of an account", () => {
  it("exported, erased and imported by another account is exported as the same document", async () => {
    const from = await createOwner();
    const given = documentOf("round");
    const made = await send(from.key, given);
    expect([made.status, made.body.data], made.text).toMatchObject([
      201,
      { ...counts(10, 0, 0), status_pages: counts(2, 0, 0), maintenance: counts(3, 0, 0), secrets_missing: [] },
    ]);
    const document = await exportOf(from.key);
    expect(document).toMatchObject(given);
    expect(JSON.stringify(document)).not.toMatch(/"(id|status|heartbeat_url|created_at|monitor_ids)"/);
    await erase(from.id);
    const to = await createOwner();
    const imported = await send(to.key, document);
    expect(imported.status, imported.text).toBe(201);
    expect(await exportOf(to.key)).toEqual(document);
  });

  it("imported twice changes nothing the second time, and the ids are the same", async () => {
    const { key } = await createOwner();
    const first = await send(key, documentOf("twice"));
    const before = await listOf(key);
    for (const document of [documentOf("twice"), await exportOf(key)]) {
      const { status, body } = await send(key, document);
      expect([status, body.data]).toMatchObject([
        201,
        { ...counts(0, 0, 10), status_pages: counts(0, 0, 2), maintenance: counts(0, 0, 3) },
      ]);
      expect(body.data["ids"]).toEqual(first.body.data["ids"]);
    }
    expect((await listOf(key)).map((row) => row["updated_at"])).toEqual(before.map((row) => row["updated_at"]));
  });

  it("changes what differs, and a dry run says the same numbers and changes nothing", async () => {
    const { id, key } = await createOwner();
    await send(key, documentOf("change"));
    const document = await exportOf(key);
    const changed = {
      ...document,
      monitors: [
        ...document.monitors.map((row) => (row["name"] === "Shop" ? { ...row, depends_on: null, retries: 4 } : row)),
        { name: "New", url: "example.org", locations: ["eu-west"] },
      ],
      status_pages: document.status_pages.map((row, n) => (n === 0 ? { ...row, title: "Renamed" } : row)),
      maintenance: document.maintenance.map((row, n) => (n === 1 ? { ...row, public: true } : row)),
    };
    const dry = await send(key, changed, "&dry_run=1");
    const expected = { ...counts(1, 1, 9), status_pages: counts(0, 1, 1), maintenance: counts(0, 1, 2) };
    expect([dry.status, dry.body.data]).toMatchObject([200, { ...expected, ids: [] }]);
    expect(await exportOf(key)).toEqual(document);
    const done = await send(key, changed);
    expect([done.status, done.body.data]).toMatchObject([201, expected]);
    const after = await exportOf(key);
    expect(after.monitors.find(({ name }) => name === "Shop")).toMatchObject({ depends_on: null, retries: 4 });
    expect(after.status_pages[0]).toMatchObject({ title: "Renamed" });
    const logged = await service.app.sql`
      select resource, action, count(*)::int as n from account_changes
      where account_id = ${id} and action = 'changed' group by 1, 2 order by 1`;
    expect([...logged]).toEqual([
      { resource: "maintenance", action: "changed", n: 1 },
      { resource: "monitor", action: "changed", n: 1 },
      { resource: "status_page", action: "changed", n: 1 },
    ]);
  });

  it("can turn dependencies round, and must not make a circle with those of the account", async () => {
    const { key } = await createOwner();
    const row = (name: string, depends_on: string | null) => ({ name, check_type: "heartbeat", depends_on });
    await send(key, { version: 2, monitors: [row("a", null), row("b", "a"), row("c", "b")] });
    const turned = { version: 2, monitors: [row("c", null), row("b", "c"), row("a", "b")] };
    expect((await send(key, turned)).body.data).toMatchObject(counts(0, 3, 0));
    const part = await send(key, {
      version: 2,
      monitors: [row("c", "a"), { name: "a", check_type: "heartbeat" }],
    });
    expect([part.status, part.body.error]).toMatchObject([400, { field: "monitors.0.depends_on", reason: "range" }]);
  });

  it("with a row for each of several monitors of one name finds them again", async () => {
    const { key } = await createOwner();
    for (let n = 0; n < 3; n += 1) {
      await service.call(URL, { key, body: { name: "same", check_type: "heartbeat", tags: [`n:${n}`] } });
    }
    const document = await exportOf(key);
    expect(new Set(document.monitors.map(({ name }) => name)).size).toBe(3);
    expect((await send(key, document)).body.data).toMatchObject(counts(0, 0, 3));
    expect((await listOf(key)).map(({ name }) => name)).toEqual(["same", "same", "same"]);
  });

  it("leaves out a maintenance window that is over, with a warning", async () => {
    const { key } = await createOwner();
    const over = { title: "Old", tags: ["a"], starts_at: "2020-01-01T00:00:00Z", duration_seconds: 60 };
    const { status, body } = await send(key, { version: 2, monitors: [], maintenance: [over] });
    expect([status, body.data["maintenance"]]).toMatchObject([201, counts(0, 0, 0)]);
    expect(body.meta["warnings"]).toMatchObject([{ parameter: "maintenance.0" }]);
  });
});

describe("the secrets of a document", () => {
  const SHOP = { name: "Shop", url: "https://example.com", locations: ["eu-west"], method: "POST" };
  const SECRETS = { request_headers: { Accept: "text/html", Authorization: "s3cret-1" }, body: "s3cret-2" };
  const secretsOf = async (id: number) => {
    const [row] = await service.app.sql<
      { secrets: Uint8Array | null }[]
    >`select secrets from monitors where id = ${id}`;
    return openSecrets(service.app.encryption, row?.secrets ?? null);
  };

  it("are left out and named, and are those of the monitor with the row's name", async () => {
    const { key } = await createOwner();
    const made = await send(key, { version: 2, monitors: [{ ...SHOP, ...SECRETS }] });
    const [id = 0] = made.body.data["ids"] as readonly number[];
    const document = await exportOf(key);
    expect(JSON.stringify(document)).not.toContain("s3cret");
    expect(document.monitors[0]).toMatchObject({
      request_headers: { Accept: "text/html" },
      secrets_missing: ["request_headers.Authorization", "body"],
    });
    const again = await send(key, document);
    expect([again.body.data, again.body.meta["warnings"]]).toMatchObject([counts(0, 0, 1), undefined]);
    const renewed = { version: 2, monitors: [{ ...document.monitors[0], retries: 4 }] };
    expect((await send(key, renewed)).body.data).toMatchObject(counts(0, 1, 0));
    expect(await secretsOf(id)).toEqual(SECRETS);
  });

  it("of no monitor of the account make a row paused, and it is listed until they are there", async () => {
    const [from, to] = [await createOwner(), await createOwner()];
    const open = { ...SHOP, name: "Open", method: "GET", request_headers: { "Accept-Language": "de" } };
    await send(from.key, { version: 2, monitors: [{ ...SHOP, ...SECRETS }, open] });
    const document = await exportOf(from.key);
    const names = ["request_headers.Authorization", "body"];
    const listed = [{ row: 0, name: "Shop", secrets_missing: names }];
    for (const [query, expected] of [
      ["&dry_run=1", counts(2, 0, 0)],
      ["", counts(2, 0, 0)],
      ["", counts(0, 0, 2)],
    ] as const) {
      const { body } = await send(to.key, document, query);
      expect(body.data).toMatchObject({ ...expected, secrets_missing: listed });
      expect(body.meta["warnings"]).toMatchObject(names.map((name) => ({ parameter: `monitors.0.${name}` })));
    }
    const shown = await listOf(to.key);
    expect(shown.map(({ name, is_active }) => [name, is_active])).toEqual([
      ["Open", true],
      ["Shop", false],
    ]);
    const { request_headers, body } = SECRETS;
    await service.call(`${URL}?id=${String(shown[1]?.["id"])}`, {
      method: "PUT",
      key: to.key,
      body: { request_headers, body },
    });
    expect((await send(to.key, document)).body.data).toMatchObject({ ...counts(0, 1, 1), secrets_missing: [] });
  });

  it("never go to another origin", async () => {
    const { key } = await createOwner();
    const made = await send(key, { version: 2, monitors: [{ ...SHOP, ...SECRETS }] });
    const [id = 0] = made.body.data["ids"] as readonly number[];
    const { monitors } = await exportOf(key);
    const moved = { version: 2, monitors: [{ ...monitors[0], url: "https://other.example/" }] };
    const { body } = await send(key, moved);
    expect(body.data).toMatchObject({ ...counts(0, 1, 0), secrets_missing: [{ row: 0 }] });
    expect(await secretsOf(id)).toEqual({ request_headers: { Accept: "text/html" }, body: null });
    expect((await listOf(key))[0]).toMatchObject({ is_active: false, url: "https://other.example/" });
  });

  it("are in an export that asks for them, which the log of changes notes", async () => {
    const [from, to] = [await createOwner(), await createOwner()];
    await send(from.key, { version: 2, monitors: [{ ...SHOP, ...SECRETS }] });
    const noted = () => service.app.sql`
      select resource, resource_id, actor_type from account_changes
      where account_id = ${from.id} and action = 'shown'`;
    await read(from.key);
    expect(await noted()).toHaveLength(0);
    const { status, body } = await read(from.key, "&secrets=include");
    expect([status, (body.data as Document).monitors[0]]).toMatchObject([200, SECRETS]);
    expect((body.data as Document).monitors[0]).not.toHaveProperty("secrets_missing");
    expect([...(await noted())]).toEqual([{ resource: "monitor", resource_id: null, actor_type: "key" }]);
    const imported = await send(to.key, body.data);
    expect(await secretsOf((imported.body.data["ids"] as readonly number[])[0] ?? 0)).toEqual(SECRETS);
  });
});

describe("a document with problems", () => {
  const ROW = { url: "https://example.com", locations: ["eu-west"] };

  it("is refused with all of them, and changes nothing", async () => {
    const { key } = await createOwner();
    const { status, body } = await send(key, {
      version: 2,
      monitors: [
        { ...ROW, name: "a" },
        5,
        { ...ROW, name: "b", retries: 9, colour: "red", recovery: "x" },
        { ...ROW },
        { ...ROW, name: "a" },
        { ...ROW, name: "c", url: "http://10.0.0.1/", tags: ["ok"] },
        { ...ROW, name: "d", depends_on: "b" },
        { ...ROW, name: "e", depends_on: "nobody", secrets_missing: ["token"] },
      ],
      status_pages: [
        { title: "x", slug: "UPPER" },
        { title: "x", slug: "problems", monitors: [{ monitor: "nobody" }] },
      ],
      maintenance: [
        { title: "x", monitors: ["d"], starts_at: "soon, or a little later", duration_seconds: 60 },
        { title: "y" },
      ],
    });
    expect(status).toBe(400);
    const { problems, ...first } = body.error as { problems: readonly Row[] };
    expect(first).toMatchObject({ code: "missing_parameter", field: "monitors.1", reason: "type" });
    expect(problems.map(({ row, field, reason }) => `${String(row)} ${String(field)} ${String(reason)}`)).toEqual([
      "monitors.1 null type",
      "monitors.2 retries range",
      "monitors.2 recovery type",
      "monitors.2 colour unknown",
      "monitors.3 name required",
      "monitors.4 name duplicate",
      "monitors.5 url target_not_allowed",
      "monitors.7 secrets_missing.0 enum",
      "status_pages.0 slug type",
      "status_pages.1 monitors.0.monitor unknown",
      "maintenance.0 starts_at type",
      "maintenance.1 starts_at required",
    ]);
    expect(await listOf(key)).toEqual([]);
  });

  it("names 50 of them at most", async () => {
    const { key } = await createOwner();
    const monitors = Array.from({ length: 80 }, (_, n) => ({ ...ROW, name: `${n}`, retries: 9 }));
    const { body } = await send(key, { version: 2, monitors });
    expect((body.error as { problems: readonly Row[] }).problems).toHaveLength(50);
  });

  it("is refused as a whole for a slug and a domain of another account, and each is named", async () => {
    const [other, own] = [await createOwner(), await createOwner()];
    await send(other.key, {
      version: 2,
      monitors: [],
      status_pages: [
        { title: "x", slug: "taken-slug" },
        { title: "y", slug: "other-slug", domain: "taken.example.com" },
      ],
    });
    const { status, body } = await send(own.key, {
      version: 2,
      monitors: [{ ...ROW, name: "a" }],
      status_pages: [
        { title: "x", slug: "taken-slug" },
        { title: "y", slug: "free-slug", domain: "taken.example.com" },
      ],
    });
    expect(status).toBe(400);
    expect((body.error as { problems: readonly Row[] }).problems).toMatchObject([
      { row: "status_pages.0", field: "slug", reason: "duplicate" },
      { row: "status_pages.1", field: "domain", reason: "duplicate" },
    ]);
    expect(await listOf(own.key)).toEqual([]);
  });

  it("is held to the plan: what is new counts, what is there does not", async () => {
    const { key } = await createOwner("starter");
    const names = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => ({ name: `n${from + n}`, check_type: "heartbeat" }));
    expect((await send(key, { version: 2, monitors: names(0, 25) })).status).toBe(201);
    expect((await send(key, { version: 2, monitors: names(0, 25) })).body.data).toMatchObject(counts(0, 0, 25));
    expect((await send(key, { version: 2, monitors: names(20, 26) })).status).toBe(403);
    expect((await send(key, { version: 2, monitors: names(100, 130) })).status).toBe(403);
  });

  it("is unchanged after a downgrade too, which pauses what the plan does not allow", async () => {
    const { id, key } = await createOwner("pro");
    const monitors = Array.from({ length: 30 }, (_, n) => ({ name: `n${n}`, check_type: "heartbeat" }));
    await send(key, { version: 2, monitors });
    const document = await exportOf(key);
    await service.operate("PUT", `/api/admin/accounts?id=${id}`, { plan: "starter" });
    expect((await listOf(key)).filter((row) => row["paused_reason"] === "plan")).toHaveLength(5);
    expect(await exportOf(key)).toEqual(document);
    expect((await send(key, document)).body.data).toMatchObject(counts(0, 0, 30));
    expect((await listOf(key)).filter((row) => row["paused_reason"] === "plan")).toHaveLength(5);
    const more = { version: 2, monitors: [{ name: "more", check_type: "heartbeat" }] };
    expect((await send(key, more)).status).toBe(403);
  });
});
