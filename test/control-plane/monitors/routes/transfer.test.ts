import { describe, expect, it } from "vitest";
import { openSecrets } from "#control-plane/outages/kinds/secrets.ts";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { seeded } from "#test/support/seeded.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const URL = "/api/v4/monitors";

const service = await stopAfterAll(startMonitorService({ plans: WIDE_PLANS }));
for (const region of ["eu-west", "us-east"]) service.attach(region);

type Row = Readonly<Record<string, unknown>>;

interface Document {
  readonly version: number;
  readonly monitors: readonly Row[];
}

const importInto = (key: string, monitors: readonly unknown[], query = "") =>
  service.call(`${URL}?action=import${query}`, { key, body: { version: 1, monitors } });
const exportOf = async (key: string): Promise<Document> =>
  (await service.call(`${URL}?action=export`, { key })).body.data;
const count = async (key: string): Promise<number> =>
  (await service.call(URL, { key })).body.meta["pagination"]["total"];

const ROW = { url: "https://example.com", locations: ["eu-west"] };

describe("an import", () => {
  it("creates the monitors of a document in its order, with their dependencies", async () => {
    const key = await service.createKey();
    const monitors = [
      { ...ROW, name: "Child", depends_on: "Parent" },
      { ...ROW, name: "Parent" },
      { url: "example.com", check_type: "ping", is_active: false },
    ];
    const { status, body } = await importInto(key, monitors);
    expect([status, body.data]).toMatchObject([201, { created: 3 }]);
    const ids = body.data["ids"] as readonly number[];
    expect(ids.toSorted((one, other) => one - other)).toEqual(ids);
    const read = async (id: number | undefined) => (await service.call(`${URL}?id=${id}`, { key })).body.data;
    expect(await read(ids[0])).toMatchObject({ name: "Child", depends_on: ids[1] });
    expect(await read(ids[2])).toMatchObject({
      check_type: "ping",
      is_active: false,
      locations: ["eu-west", "us-east"],
    });
    const entries = await service.app.sql`select from monitor_slots where monitor_id = any(${[...ids]}::bigint[])`;
    expect(entries).toHaveLength(2);
  });

  it("of 1,000 rows is done at once", async () => {
    const key = await service.createKey();
    const monitors = Array.from({ length: 1_000 }, (_, n) => ({
      ...ROW,
      name: `monitor ${n} ${"x".repeat(150)}`,
      url: `https://example.com/${"y".repeat(800)}${n}`,
      tags: [`n:${n}`],
      depends_on: n % 100 === 0 ? null : `monitor ${n - (n % 100)} ${"x".repeat(150)}`,
    }));
    expect(JSON.stringify(monitors).length).toBeGreaterThan(1_048_576);
    const { status, body } = await importInto(key, monitors);
    expect([status, body.data]).toMatchObject([201, { created: 1_000 }]);
    expect(new Set(body.data["ids"]).size).toBe(1_000);
    expect(await count(key)).toBe(1_000);
    const [states] = await service.app.sql`
      select count(*)::int as n from monitor_states join monitors on id = monitor_id
      where id = any(${body.data["ids"] as number[]}::bigint[])`;
    expect(states).toEqual({ n: 1_000 });
    expect((await importInto(key, [ROW])).status).toBe(403);
    const { monitors: exported } = await exportOf(key);
    expect(exported.map(({ name }) => name)).toEqual(monitors.map(({ name }) => name));
    expect(exported.map(({ depends_on: parent }) => parent)).toEqual(monitors.map(({ depends_on: parent }) => parent));
  });

  it("with dry_run checks everything and creates nothing", async () => {
    const key = await service.createKey();
    const good = await importInto(key, [ROW, ROW], "&dry_run=1");
    expect([good.status, good.body.data]).toMatchObject([200, { created: 2, updated: 0, unchanged: 0, ids: [] }]);
    expect((await importInto(key, [ROW, { url: "nonsense" }], "&dry_run=1")).status).toBe(400);
    expect(await count(key)).toBe(0);
  });

  it.each<readonly [string, readonly unknown[], string, string]>([
    ["a row that is no object", [ROW, 5], "monitors.1", "type"],
    ["an unknown field", [ROW, { ...ROW, colour: "red" }], "monitors.1.colour", "unknown"],
    ["a wrong value inside", [{ ...ROW, tags: ["ok", "NO"] }], "monitors.0.tags.1", "type"],
    ["a row without target", [{ name: "x" }], "monitors.0.url", "required"],
    ["a wrong target", [ROW, { ...ROW, url: "nonsense" }], "monitors.1.url", "invalid_url"],
    ["an unknown location", [{ ...ROW, locations: ["mars"] }], "monitors.0.locations", "unknown_location"],
    ["an id as dependency", [{ ...ROW, depends_on: 5 }], "monitors.0.depends_on", "type"],
    ["an unknown dependency", [{ ...ROW, depends_on: "x" }], "monitors.0.depends_on", "unknown"],
    ["a dependency on itself", [{ ...ROW, name: "x", depends_on: "x" }], "monitors.0.depends_on", "range"],
    [
      "an ambiguous dependency",
      [
        { ...ROW, name: "x" },
        { ...ROW, name: "x" },
        { ...ROW, depends_on: "x" },
      ],
      "monitors.2.depends_on",
      "duplicate",
    ],
    [
      "a cycle",
      [
        { ...ROW, name: "a", depends_on: "b" },
        { ...ROW, name: "b", depends_on: "a" },
      ],
      "monitors.1.depends_on",
      "range",
    ],
    [
      "a chain of six",
      Array.from({ length: 6 }, (_, n) => ({ ...ROW, name: `${n}`, depends_on: n === 0 ? null : `${n - 1}` })),
      "monitors.5.depends_on",
      "range",
    ],
    ["a masked body without POST", [{ ...ROW, body: "****" }], "monitors.0.body", "enum"],
    [
      "a masked header that cannot be set",
      [{ ...ROW, request_headers: { Host: "****" } }],
      "monitors.0.request_headers.Host",
      "unknown",
    ],
  ])("with %s is refused as a whole, and the row is named", async (_name, monitors, field, reason) => {
    const key = await service.createKey();
    const { status, body } = await importInto(key, monitors);
    expect([status, body.error]).toMatchObject([400, { field, reason }]);
    expect(await count(key)).toBe(0);
  });

  describe("with masked secrets", () => {
    const SECRETS = {
      ...ROW,
      name: "Shop",
      method: "POST",
      request_headers: { Authorization: "Bearer s3cret-1", "X-Plain": "s3cret-2" },
      body: "s3cret-body",
    };
    const create = async (key: string, body: object): Promise<number> => {
      const made = await service.call(URL, { key, body });
      expect(made.status, made.text).toBe(201);
      return made.body.data["id"];
    };
    const secretsOf = async (id: number | undefined) => {
      const sealed = await service.app.sql<{ secrets: Uint8Array | null }[]>`
        select secrets from monitors where id = ${id ?? 0}`;
      return openSecrets(service.app.encryption, sealed[0]?.secrets ?? null);
    };
    const warning = (parameter: string, why: string) => {
      const message = `"${parameter}" was left out: it is masked (****), and ${why}. Set it in the new monitor.`;
      return { parameter, message, did_you_mean: null };
    };
    const UNKNOWN = "no monitor of your account with this name and url has a value for it";

    it("takes those of the account's own monitors with the same names and urls: an export can be imported", async () => {
      const key = await service.createKey();
      const first = await create(key, SECRETS);
      // Two parents with one name: the export gives them different ones.
      const parent = await create(key, { ...SECRETS, url: "https://example.com/2" });
      await create(key, { ...ROW, name: "Child", depends_on: parent });
      const document = await exportOf(key);
      expect(JSON.stringify(document)).not.toContain("s3cret");
      const dry = await importInto(key, document.monitors, "&dry_run=1");
      expect([dry.status, dry.body.data, dry.body.meta["warnings"]]).toMatchObject([200, { created: 3 }, undefined]);
      const { status, body } = await importInto(key, document.monitors);
      expect([status, body.meta["warnings"]]).toEqual([201, undefined]);
      const [copy, copiedParent] = body.data["ids"] as readonly number[];
      const { request_headers, body: text } = SECRETS;
      for (const id of [first, copy, copiedParent])
        expect(await secretsOf(id)).toEqual({ request_headers, body: text });
      expect((await importInto(key, document.monitors)).body.meta["warnings"]).toBeUndefined();
    });

    it("of another account creates the monitors without them, and names each, also in a dry run", async () => {
      const [from, to] = [await service.createKey(), await service.createKey()];
      await create(from, SECRETS);
      await create(from, { ...ROW, name: "Plain" });
      // The same name with another url is another monitor, and so is the other way round.
      await create(to, { ...SECRETS, url: "https://example.com/other" });
      await create(to, { ...SECRETS, name: "Other" });
      const { monitors } = await exportOf(from);
      const warnings = ["request_headers.Authorization", "request_headers.X-Plain", "body"].map((field) =>
        warning(`monitors.0.${field}`, UNKNOWN),
      );
      const dry = await importInto(to, monitors, "&dry_run=1");
      expect([dry.status, dry.body.meta["warnings"]]).toEqual([200, warnings]);
      expect(await count(to)).toBe(2);
      const { status, body } = await importInto(to, monitors);
      expect([status, body.data, body.meta["warnings"]]).toMatchObject([201, { created: 2 }, warnings]);
      const [made] = body.data["ids"] as readonly number[];
      expect(await secretsOf(made)).toEqual({ request_headers: {}, body: null });
    });

    it("takes each value for itself, and none that differs between monitors with one name and url", async () => {
      const key = await service.createKey();
      await create(key, SECRETS);
      await create(key, { ...SECRETS, request_headers: { AUTHORIZATION: "Bearer s3cret-3" }, body: null });
      const request_headers = { "x-new": "new", authorization: "****", "x-plain": "****", "x-none": "****" };
      const { status, body } = await importInto(key, [{ ...SECRETS, request_headers, body: "****" }]);
      expect([status, body.meta["warnings"]]).toEqual([
        201,
        [
          warning(
            "monitors.0.request_headers.authorization",
            "several monitors of your account with this name and url have different values for it",
          ),
          warning("monitors.0.request_headers.x-none", UNKNOWN),
        ],
      ]);
      expect(await secretsOf((body.data["ids"] as readonly number[])[0])).toEqual({
        request_headers: { "x-new": "new", "x-plain": "s3cret-2" },
        body: "s3cret-body",
      });
    });

    it("in two places, a websocket's message and its header fields, keeps each in its own", async () => {
      const key = await service.createKey();
      const request_headers = { Origin: "https://app.example", Authorization: "Bearer s3cret-1" };
      const websocket = { send: "s3cret-2", expect: "welcome" };
      const row = { ...ROW, name: "Live", check_type: "websocket", url: "wss://example.com/live" };
      const id = await create(key, { ...row, request_headers, websocket });
      const read = async () => (await service.call(`${URL}?id=${id}`, { key })).body.data;
      const shown = { request_headers: { Origin: "****", Authorization: "****" }, websocket: { send: "****" } };
      expect(await read()).toMatchObject(shown);
      const change = async (body: object) => {
        const { status, text, body: answer } = await service.call(`${URL}?id=${id}`, { key, method: "PUT", body });
        expect(status, text).toBe(200);
        return (answer.meta["warnings"] as readonly { parameter: string }[] | undefined)?.map((one) => one.parameter);
      };
      await change({ websocket: { expect: "hello" } });
      await change({ request_headers: { Origin: "****", Authorization: "Bearer s3cret-3" } });
      const kept = { Origin: "https://app.example", Authorization: "Bearer s3cret-3", send: "s3cret-2" };
      expect(await secretsOf(id)).toEqual({ request_headers: kept, body: null });
      const { monitors } = await exportOf(key);
      expect(JSON.stringify(monitors)).not.toContain("s3cret");
      const copied = (await importInto(key, monitors)).body.data["ids"] as readonly number[];
      expect(await secretsOf(copied[0])).toEqual({ request_headers: kept, body: null });
      // Another origin gets what comes with the change alone.
      const moved = { url: "wss://other.example/live", request_headers: { Origin: "****", Cookie: "a=b" } };
      expect(await change(moved)).toEqual(["websocket.send", "request_headers.Origin"]);
      expect(await secretsOf(id)).toEqual({ request_headers: { Cookie: "a=b" }, body: null });
    });

    it("names at most 15 of them, and says how many there are", async () => {
      const key = await service.createKey();
      const rows = Array.from({ length: 40 }, () => ({ ...ROW, request_headers: { "X-A": "****" } }));
      const { status, body } = await importInto(key, rows);
      const warnings = body.meta["warnings"] as readonly { parameter: string; message: string }[];
      expect([status, warnings.length]).toEqual([201, 16]);
      expect(warnings[0]).toMatchObject({
        parameter: "monitors",
        message: "40 values or rows were left out; the first 15 of them are named.",
      });
      expect(warnings[15]).toMatchObject({ parameter: "monitors.14.request_headers.X-A" });
    });

    it("answers with the same warnings under the same idempotency key", async () => {
      const key = await service.createKey();
      const monitors = [{ ...ROW, request_headers: { "X-A": "****" } }];
      const send = () =>
        service.call(`${URL}?action=import`, {
          key,
          headers: { "x-idempotency-key": "once" },
          body: { version: 1, monitors },
        });
      const first = await send();
      expect(first.body.meta["warnings"]).toHaveLength(1);
      expect((await send()).text).toBe(first.text);
    });
  });

  it("refuses a target that is not allowed, in its row", async () => {
    const key = await service.createKey();
    const { status, body } = await importInto(key, [ROW, { ...ROW, url: "http://10.0.0.1/" }]);
    expect([status, body.error]).toMatchObject([400, { code: "target_not_allowed", field: "monitors.1.url" }]);
  });

  it.each<readonly [object, string]>([
    [{ monitors: [ROW] }, "version"],
    [{ version: 3, monitors: [ROW] }, "version"],
    [{ version: 1, monitors: [ROW], maintenance: [] }, "maintenance"],
    [{ version: 1 }, "monitors"],
    [{ version: 1, monitors: [] }, "monitors"],
    [{ version: 1, monitors: {} }, "monitors"],
    [{ version: 1, monitors: [ROW], more: 1 }, "more"],
  ])("of another form is refused: %j", async (body, field) => {
    const key = await service.createKey();
    const answer = await service.call(`${URL}?action=import`, { key, body });
    expect([answer.status, answer.body.error]).toMatchObject([400, { field }]);
  });

  it("has a larger limit of its size than other requests", async () => {
    const key = await service.createKey();
    const large = { ...ROW, method: "POST", body: "x".repeat(60_000) };
    expect(
      (
        await importInto(
          key,
          Array.from({ length: 60 }, () => large),
        )
      ).status,
    ).toBe(201);
    const tooLarge = await importInto(
      key,
      Array.from({ length: 80 }, () => large),
    );
    expect([tooLarge.status, tooLarge.body.error["message"]]).toMatchObject([
      413,
      "The body is larger than 4194304 bytes, the limit.",
    ]);
    const one = await service.call(URL, { key, body: { ...ROW, name: "x".repeat(1_100_000) } });
    expect([one.status, one.body.error["message"]]).toMatchObject([
      413,
      "The body is larger than 1048576 bytes, the limit.",
    ]);
  });
});

describe("an export", () => {
  it("of no monitors is an empty document", async () => {
    expect(await exportOf(await service.createKey())).toEqual({
      version: 2,
      monitors: [],
      status_pages: [],
      maintenance: [],
    });
  });

  it("imported by another account gives the same document again, whatever the monitors are", async () => {
    const next = seeded(11);
    const pick = <T>(values: readonly T[]): T => values[next() % values.length] as T;
    const random = (index: number): Row => {
      const type = pick(["http", "keyword", "dns", "ping", "port"]);
      const isHttp = type === "http" || type === "keyword";
      return {
        name: pick([`n${index}`, "same", "  spaced ", "ünï \u05d0"]),
        url: isHttp ? pick(["https://example.com/a?b=c", "example.org"]) : pick(["example.com", "EXAMPLE.org"]),
        check_type: type,
        interval_minutes: 1 + (next() % 60),
        is_active: pick([true, false]),
        tags: pick([[], ["a"], ["b", "a", "b"]]),
        locations: pick([["eu-west"], ["us-east", "eu-west"]]),
        quorum: pick(["majority", 1]),
        retries: next() % 6,
        recovery: 1 + (next() % 5),
        degraded_ms: pick([null, 500]),
        repeat_minutes: pick([null, 30]),
        notify_email: pick([true, false]),
        notify_emails: pick([null, [], ["a@example.com"]]),
        timeout_seconds: 1 + (next() % 30),
        ...(type === "keyword" ? { keyword: "x", keyword_mode: pick(["present", "absent"]) } : {}),
        ...(isHttp
          ? {
              expected_codes: pick([null, [200, "300-399"]]),
              follow: pick([true, false]),
              watch_domain: pick([true, false]),
            }
          : {}),
        ...(isHttp ? { json: pick([null, { path: "$.a", op: "equals", value: pick([null, "x", 1.5, false]) }]) } : {}),
        ...(type === "dns"
          ? { dns: pick([null, { type: "TXT", op: "contains", values: ["a b"], dnssec: "ignore" }]) }
          : {}),
        ...(type === "port" ? { port: 1 + (next() % 65_535) } : {}),
      };
    };
    for (let round = 0; round < 10; round += 1) {
      const [from, to] = [await service.createKey(), await service.createKey()];
      const ids: number[] = [];
      for (let n = 0; n < 12; n += 1) {
        const depends = ids.length > 0 && next() % 3 === 0 ? { depends_on: ids[next() % Math.min(ids.length, 4)] } : {};
        const { status, body } = await service.call(URL, { key: from, body: { ...random(n), ...depends } });
        if (status === 201) ids.push(body.data["id"]);
        else expect(body.error).toMatchObject({ field: "depends_on", reason: "range" });
      }
      const document = await exportOf(from);
      const imported = await service.call(`${URL}?action=import`, { key: to, body: document });
      expect(imported.status, imported.text).toBe(201);
      expect(await exportOf(to)).toEqual(document);
    }
  });
});
