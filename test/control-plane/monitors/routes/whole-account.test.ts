import { describe, expect, it } from "vitest";
import { dataUri, drawPng } from "#test/support/logos.ts";
import { openSecrets } from "#control-plane/outages/kinds/secrets.ts";
import { openAccountDocuments, type Document } from "#test/support/account-documents.ts";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { listChanges } from "#test/support/list-changes.ts";

// Documents of version 2: monitors, status pages and maintenance of an account.

const URL = "/api/v4/monitors";
const FAR = "2099-03-01T02:00:00.000Z";

const service = await stopAfterAll(startMonitorService());
for (const region of ["eu-west", "us-east"]) service.attach(region, { capabilities: ["browser"] });
const documents = openAccountDocuments(service);

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
      {
        name: "Platform",
        check_type: "composite",
        composite: { monitors: ["Shop", "Everything", "Port"], down_when: "percent", percent: 40 },
      },
      { name: "Everything", check_type: "composite", composite: { monitors: ["Router", "Page"] } },
    ],
    status_pages: [
      {
        title: "Example",
        slug: `whole-${tag}`,
        description: "Two\nlines",
        footer: "Help",
        homepage_url: "https://www.example.com/shop",
        accent_color: "#8250df",
        logo: dataUri(drawPng(5, 3)),
        is_public: false,
        domain: `${tag}.status.example.com`,
        show_causes: true,
        auto_incidents: false,
        auto_incidents_after_minutes: 7,
        response_graph: true,
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
    const from = await documents.createOwner();
    const given = documentOf("round");
    const made = await documents.send(from.key, given);
    expect([made.status, made.body.data], made.text).toMatchObject([
      201,
      { ...counts(12, 0, 0), status_pages: counts(2, 0, 0), maintenance: counts(3, 0, 0), secrets_missing: [] },
    ]);
    const document = await documents.exportOf(from.key);
    expect(document).toMatchObject(given);
    expect(JSON.stringify(document)).not.toMatch(/"(id|status|heartbeat_url|created_at|monitor_ids)"/);
    await documents.erase(from.id);
    const to = await documents.createOwner();
    const imported = await documents.send(to.key, document);
    expect(imported.status, imported.text).toBe(201);
    expect(await documents.exportOf(to.key)).toEqual(document);
  });

  it("imported twice changes nothing the second time, and the ids are the same", async () => {
    const { key } = await documents.createOwner();
    const first = await documents.send(key, documentOf("twice"));
    const before = await documents.listOf(key);
    for (const document of [documentOf("twice"), await documents.exportOf(key)]) {
      const { status, body } = await documents.send(key, document);
      expect([status, body.data]).toMatchObject([
        201,
        { ...counts(0, 0, 12), status_pages: counts(0, 0, 2), maintenance: counts(0, 0, 3) },
      ]);
      expect(body.data["ids"]).toEqual(first.body.data["ids"]);
    }
    expect((await documents.listOf(key)).map((row) => row["updated_at"])).toEqual(
      before.map((row) => row["updated_at"]),
    );
  });

  it("changes what differs, and a dry run says the same numbers and changes nothing", async () => {
    const { key } = await documents.createOwner();
    await documents.send(key, documentOf("change"));
    const document = await documents.exportOf(key);
    const changed = {
      ...document,
      monitors: [
        ...document.monitors.map((row) => (row["name"] === "Shop" ? { ...row, depends_on: null, retries: 4 } : row)),
        { name: "New", url: "example.org", locations: ["eu-west"] },
      ],
      status_pages: document.status_pages.map((row, n) => (n === 0 ? { ...row, title: "Renamed" } : row)),
      maintenance: document.maintenance.map((row, n) => (n === 1 ? { ...row, public: true } : row)),
    };
    const dry = await documents.send(key, changed, "&dry_run=1");
    const expected = { ...counts(1, 1, 11), status_pages: counts(0, 1, 1), maintenance: counts(0, 1, 2) };
    expect([dry.status, dry.body.data]).toMatchObject([200, { ...expected, ids: [] }]);
    const shop = document.monitors.findIndex(({ name }) => name === "Shop");
    expect(dry.body.data["changes"]).toEqual([
      { row: `monitors.${document.monitors.length}`, action: "created", fields: [] },
      { row: `monitors.${shop}`, action: "changed", fields: ["retries", "depends_on"] },
      { row: "status_pages.0", action: "changed", fields: ["title"] },
      { row: "maintenance.1", action: "changed", fields: ["public"] },
    ]);
    expect(await documents.exportOf(key)).toEqual(document);
    const done = await documents.send(key, changed);
    expect([done.status, done.body.data]).toMatchObject([201, expected]);
    expect(done.body.data).not.toHaveProperty("changes");
    const after = await documents.exportOf(key);
    expect(after.monitors.find(({ name }) => name === "Shop")).toMatchObject({ depends_on: null, retries: 4 });
    expect(after.status_pages[0]).toMatchObject({ title: "Renamed" });
    const logged = (await listChanges(service, key)).filter(({ action }) => action === "changed");
    expect(logged.map(({ subject }) => subject.kind).toSorted()).toEqual(["maintenance", "monitor", "status_page"]);
  });

  it("can turn dependencies round, and must not make a circle with those of the account", async () => {
    const { key } = await documents.createOwner();
    const row = (name: string, depends_on: string | null) => ({ name, check_type: "heartbeat", depends_on });
    await documents.send(key, { version: 2, monitors: [row("a", null), row("b", "a"), row("c", "b")] });
    const turned = { version: 2, monitors: [row("c", null), row("b", "c"), row("a", "b")] };
    expect((await documents.send(key, turned)).body.data).toMatchObject(counts(0, 3, 0));
    const part = await documents.send(key, {
      version: 2,
      monitors: [row("c", "a"), { name: "a", check_type: "heartbeat" }],
    });
    expect([part.status, part.body.error]).toMatchObject([400, { field: "monitors.0.depends_on", reason: "range" }]);
  });

  it("with a row for each of several monitors of one name finds them again", async () => {
    const { key } = await documents.createOwner();
    for (let n = 0; n < 3; n += 1) {
      await service.call(URL, { key, body: { name: "same", check_type: "heartbeat", tags: [`n:${n}`] } });
    }
    const document = await documents.exportOf(key);
    expect(new Set(document.monitors.map(({ name }) => name)).size).toBe(3);
    expect((await documents.send(key, document)).body.data).toMatchObject(counts(0, 0, 3));
    expect((await documents.listOf(key)).map(({ name }) => name)).toEqual(["same", "same", "same"]);
  });

  it("leaves out a maintenance window that is over, with a warning", async () => {
    const { key } = await documents.createOwner();
    const over = { title: "Old", tags: ["a"], starts_at: "2020-01-01T00:00:00Z", duration_seconds: 60 };
    const { status, body } = await documents.send(key, { version: 2, monitors: [], maintenance: [over] });
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
    const { key } = await documents.createOwner();
    const made = await documents.send(key, { version: 2, monitors: [{ ...SHOP, ...SECRETS }] });
    const [id = 0] = made.body.data["ids"] as readonly number[];
    const document = await documents.exportOf(key);
    expect(JSON.stringify(document)).not.toContain("s3cret");
    expect(document.monitors[0]).toMatchObject({
      request_headers: { Accept: "text/html" },
      secrets_missing: ["request_headers.Authorization", "body"],
    });
    const again = await documents.send(key, document);
    expect([again.body.data, again.body.meta["warnings"]]).toMatchObject([counts(0, 0, 1), undefined]);
    const renewed = { version: 2, monitors: [{ ...document.monitors[0], retries: 4 }] };
    expect((await documents.send(key, renewed)).body.data).toMatchObject(counts(0, 1, 0));
    expect(await secretsOf(id)).toEqual(SECRETS);
  });

  it("of no monitor of the account make a row paused, and it is listed until they are there", async () => {
    const [from, to] = [await documents.createOwner(), await documents.createOwner()];
    const open = { ...SHOP, name: "Open", method: "GET", request_headers: { "Accept-Language": "de" } };
    await documents.send(from.key, { version: 2, monitors: [{ ...SHOP, ...SECRETS }, open] });
    const document = await documents.exportOf(from.key);
    const names = ["request_headers.Authorization", "body"];
    const listed = [{ row: 0, name: "Shop", secrets_missing: names }];
    for (const [query, expected] of [
      ["&dry_run=1", counts(2, 0, 0)],
      ["", counts(2, 0, 0)],
      ["", counts(0, 0, 2)],
    ] as const) {
      const { body } = await documents.send(to.key, document, query);
      expect(body.data).toMatchObject({ ...expected, secrets_missing: listed });
      expect(body.meta["warnings"]).toMatchObject(names.map((name) => ({ parameter: `monitors.0.${name}` })));
    }
    const shown = await documents.listOf(to.key);
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
    expect((await documents.send(to.key, document)).body.data).toMatchObject({
      ...counts(0, 1, 1),
      secrets_missing: [],
    });
  });

  it("never go to another origin", async () => {
    const { key } = await documents.createOwner();
    const made = await documents.send(key, { version: 2, monitors: [{ ...SHOP, ...SECRETS }] });
    const [id = 0] = made.body.data["ids"] as readonly number[];
    const { monitors } = await documents.exportOf(key);
    const moved = { version: 2, monitors: [{ ...monitors[0], url: "https://other.example/" }] };
    const { body } = await documents.send(key, moved);
    expect(body.data).toMatchObject({ ...counts(0, 1, 0), secrets_missing: [{ row: 0 }] });
    expect(await secretsOf(id)).toEqual({ request_headers: { Accept: "text/html" }, body: null });
    expect((await documents.listOf(key))[0]).toMatchObject({ is_active: false, url: "https://other.example/" });
  });

  it("are in an export that asks for them, which the log of changes notes", async () => {
    const [from, to] = [await documents.createOwner(), await documents.createOwner()];
    await documents.send(from.key, { version: 2, monitors: [{ ...SHOP, ...SECRETS }] });
    const noted = async () => (await listChanges(service, from.key)).filter(({ action }) => action === "shown");
    await documents.read(from.key);
    expect(await noted()).toEqual([]);
    const { status, body } = await documents.read(from.key, "&secrets=include");
    expect([status, (body.data as Document).monitors[0]]).toMatchObject([200, SECRETS]);
    expect((body.data as Document).monitors[0]).not.toHaveProperty("secrets_missing");
    expect(await noted()).toMatchObject([{ subject: { kind: "monitor", id: null }, actor: { kind: "key" } }]);
    const imported = await documents.send(to.key, body.data);
    expect(await secretsOf((imported.body.data["ids"] as readonly number[])[0] ?? 0)).toEqual(SECRETS);
  });
});
