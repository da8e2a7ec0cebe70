import { createHash } from "node:crypto";
import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";
import { statusPage } from "#control-plane/public/status-pages/settings/resource.ts";
import { MOST_PAGES } from "#control-plane/public/status-pages/writes.ts";
import { errorOf, startPageWorld, URL } from "#test/control-plane/public/status-pages/world.ts";
import type { Answer } from "#test/support/control-plane.ts";
import { markVerified } from "#test/support/verified-domain.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** The fields of an answer that these tests read. */
interface Shown {
  readonly id: number;
  readonly slug: string;
  readonly title: string;
  readonly url: string;
  readonly domain: string | null;
  readonly monitors: readonly { readonly id: number; readonly name: string }[];
  readonly groups: readonly { readonly name: string; readonly monitor_ids: readonly number[] }[];
}

let slugs = 0;

const world = await stopAfterAll(startPageWorld());
const owner = await world.owner();
const stranger = await world.owner();

const shown = ({ body }: Answer): Shown => body.data;
const nextSlug = () => `page-${(slugs += 1)}`;
const read = async (id: number, as = owner) => world.call(`${URL}?id=${id}`, { key: as.key });

async function create(more: object = {}, as = owner): Promise<Shown> {
  const answer = await world.post(as, { title: "Shop", slug: nextSlug(), ...more });
  expect(answer.text).toContain('"data"');
  expect(answer.status).toBe(201);
  return shown(answer);
}

describe("a status page", () => {
  it("is created with defaults, read, changed and deleted", async () => {
    const made = await create({ slug: "lifecycle" });
    expect(Value.Errors(statusPage.shown, made)).toEqual([]);
    expect(made).toMatchObject({
      title: "Shop",
      slug: "lifecycle",
      url: `${world.app.config.baseUrl}/status/lifecycle`,
      description: null,
      footer: null,
      homepage_url: null,
      accent_color: null,
      logo_url: null,
      is_public: true,
      domain: null,
      monitors: [],
      groups: [],
    });
    expect(shown(await read(made.id))).toEqual(made);
    const changed = await world.put(owner, made.id, { title: "Shop and more", description: "Line 1\r\nLine 2" });
    expect(changed.body.data).toMatchObject({ title: "Shop and more", description: "Line 1\nLine 2" });
    expect((await world.remove(owner, made.id)).body.data).toEqual({ id: made.id, deleted: true });
    expect(errorOf(await read(made.id))).toEqual([404, "not_found", undefined, undefined]);
    expect((await world.remove(owner, made.id)).status).toBe(404);
  });

  it("accepts its own answer back unchanged", async () => {
    const monitors = [{ id: await world.addMonitor(owner) }, { id: await world.addMonitor(owner), name: "Payments" }];
    const groups = [{ name: "Europe", monitor_ids: [monitors[1]?.id] }];
    const made = await create({ monitors, groups, description: "About", domain: "own.example.com", is_public: false });
    const { updated_at: _before, ...before } = made as Shown & { readonly updated_at: string };
    expect((await world.put(owner, made.id, made)).body.data).toMatchObject(before);
  });

  it("has an accent colour in lower case, which is logged, and none again", async () => {
    const made = await create({ accent_color: " #8250DF " });
    expect(made).toMatchObject({ accent_color: "#8250df" });
    const page = await world.call(`/status/${made.slug}`);
    expect(page.text).toContain("--accent:#8250df");
    for (const path of ["/history", ""]) {
      const below = await world.call(`/status/${made.slug}${path}`);
      const accent = /<style>(:root{--accent:#8250df[^<]*)<\/style>/.exec(below.text)?.[1] ?? "";
      const hash = createHash("sha256").update(accent).digest("base64");
      expect(below.headers.get("content-security-policy")).toContain(`'sha256-${hash}'`);
    }
    expect((await world.put(owner, made.id, { title: "Other" })).body.data).toMatchObject({ accent_color: "#8250df" });
    expect((await world.put(owner, made.id, { accent_color: null })).body.data).toMatchObject({ accent_color: null });
    const changes = await world.call(`/api/v4/changes?type=status_page&id=${made.id}`, { key: owner.key });
    expect(changes.text).toContain(JSON.stringify({ field: "accent_color", before: "#8250df", after: null }));
  });

  it("has groups in their own order, without monitors that leave the page", async () => {
    const ids = await Promise.all([1, 2, 3].map(() => world.addMonitor(owner)));
    const [a = 0, b = 0, c = 0] = ids;
    const made = await create({
      monitors: ids.map((id) => ({ id })),
      groups: [
        { name: "One", monitor_ids: [c, a] },
        { name: "Empty", monitor_ids: [] },
      ],
    });
    expect(made.groups).toEqual([
      { name: "One", monitor_ids: [c, a] },
      { name: "Empty", monitor_ids: [] },
    ]);
    const changed = shown(await world.put(owner, made.id, { monitors: [{ id: b }, { id: a }] }));
    expect(changed.monitors.map(({ id }) => id)).toEqual([b, a]);
    expect(changed.groups[0]).toEqual({ name: "One", monitor_ids: [a] });
    await world.call(`/api/v4/monitors?id=${a}`, { method: "DELETE", key: owner.key });
    expect(shown(await read(made.id))).toMatchObject({
      monitors: [{ id: b }],
      groups: [
        { name: "One", monitor_ids: [] },
        { name: "Empty", monitor_ids: [] },
      ],
    });
  });

  it("shows the name of a monitor, also after a change, unless it has its own", async () => {
    const plain = await world.addMonitor(owner, { name: "one" });
    const named = await world.addMonitor(owner, { name: "two" });
    const made = await create({ monitors: [{ id: plain }, { id: named, name: "Second" }] });
    expect(made.monitors.map(({ name }) => name)).toEqual(["one", "Second"]);
    await world.put(owner, made.id, made);
    for (const id of [plain, named]) {
      const answer = await world.call(`/api/v4/monitors?id=${id}`, {
        method: "PUT",
        key: owner.key,
        body: { name: "renamed" },
      });
      expect(answer.text).toContain("renamed");
    }
    expect(shown(await read(made.id)).monitors.map(({ name }) => name)).toEqual(["renamed", "Second"]);
  });

  it("is listed newest first, in v3 too, and only for its account", async () => {
    const other = await world.owner();
    expect((await world.call(URL, { key: other.key })).body).toMatchObject({
      data: [],
      meta: { pagination: { total: 0 } },
    });
    const made = [await create({}, other), await create({}, other), await create({}, other)];
    const list = await world.call(`${URL}?per_page=2`, { key: other.key });
    expect(list.body.data).toEqual([made[2], made[1]]);
    expect(list.body.meta).toMatchObject({ pagination: { total: 3, page: 1, per_page: 2, pages: 2 } });
    const old = await world.call("/api/v3/status.php?page=2&per_page=2", { key: other.key });
    expect(old.body).toMatchObject({ data: [made[0]], meta: { api_version: "3.0" } });
    expect((await world.call(`/api/v3/status?api_key=${other.key}`)).status).toBe(200);
    expect((await read(made[0]?.id ?? 0, stranger)).status).toBe(404);
    expect(errorOf(await world.put(stranger, made[0]?.id ?? 0, { title: "Mine" }))).toEqual(
      errorOf(await world.put(stranger, 999_999, { title: "Mine" })),
    );
    expect((await world.remove(stranger, made[0]?.id ?? 0)).status).toBe(404);
  });

  it("has its domain in its address once it is verified", async () => {
    const made = await create({ domain: "Status.Example.ORG" });
    const url = `${world.app.config.baseUrl}/status/${made.slug}`;
    const name = "_vantage.status.example.org";
    const record = { name, type: "TXT", value: expect.stringMatching(/^vantage-page=[0-9A-Za-z]{32}$/) };
    const pending = { domain: "status.example.org", domain_state: "pending", domain_record: record };
    expect(made).toMatchObject({ ...pending, url });
    await markVerified(world.app.sql, "status.example.org");
    const verified = { domain_state: "verified", url: "http://status.example.org" };
    expect(shown(await read(made.id))).toMatchObject(verified);
    expect(shown(await world.put(owner, made.id, { domain: "STATUS.example.org" }))).toMatchObject(verified);
    const freed = shown(await world.put(owner, made.id, { domain: null }));
    expect(freed).toMatchObject({ domain: null, domain_state: null, domain_record: null, url });
    const again = await create({ domain: "status.example.org" });
    expect(again).toMatchObject({ ...pending, url: `${world.app.config.baseUrl}/status/${again.slug}` });
    expect(Value.Errors(statusPage.shown, again)).toEqual([]);
  });

  it("is created once for a repeated idempotency key", async () => {
    const body = { title: "Once", slug: nextSlug() };
    const headers = { "x-idempotency-key": "create-a-page" };
    const first = await world.post(owner, body, headers);
    const again = await world.post(owner, body, headers);
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    const taken = await world.post(owner, { ...body, title: "Twice" }, { "x-idempotency-key": "another" });
    expect(errorOf(taken)).toEqual([400, "missing_parameter", "slug", "duplicate"]);
    expect((await world.post(owner, { ...body, title: "Twice" }, { "x-idempotency-key": "another" })).text).toBe(
      taken.text,
    );
  });

  it("needs a key with the scope monitors, except by slug", async () => {
    expect((await world.call(URL)).status).toBe(401);
    expect((await world.call(`${URL}?id=1`)).status).toBe(401);
    expect((await world.call(URL, { body: { title: "Shop", slug: "no-key-at-all" } })).status).toBe(401);
    const free = await world.createKey("free");
    expect(errorOf(await world.call(URL, { key: free })).slice(0, 2)).toEqual([403, "insufficient_scope"]);
  });
});

describe("a refused write names the field", () => {
  const refused: readonly (readonly [what: string, body: object, field: string, reason: string])[] = [
    ["no title", { title: undefined }, "title", "required"],
    ["a blank title", { title: "   " }, "title", "range"],
    ["a title that is too long", { title: "x".repeat(201) }, "title", "range"],
    ["a title with a line break", { title: "a\nb" }, "title", "type"],
    ["a title that is reordered", { title: "a\u202Eb" }, "title", "type"],
    ["half a surrogate pair", { title: "a\uD800" }, "title", "type"],
    ["no slug", { slug: undefined }, "slug", "required"],
    ["a short slug", { slug: "ab" }, "slug", "range"],
    ["a long slug", { slug: "a".repeat(61) }, "slug", "range"],
    ["an upper-case slug", { slug: "Shop" }, "slug", "type"],
    ["a slug with a dash first", { slug: "-shop" }, "slug", "type"],
    ["a slug with a dash last", { slug: "shop-" }, "slug", "type"],
    ["a slug with a slash", { slug: "../admin" }, "slug", "type"],
    ["a slug with a dotless i", { slug: "shıp" }, "slug", "type"],
    ["a reserved slug", { slug: "api" }, "slug", "enum"],
    ["another reserved slug", { slug: "www" }, "slug", "enum"],
    ["a long description", { description: "x".repeat(1_001) }, "description", "range"],
    ["a description with NUL", { description: "a\0b" }, "description", "type"],
    ["a blank description", { description: "\n" }, "description", "range"],
    ["a long footer", { footer: "x".repeat(501) }, "footer", "range"],
    ["a homepage that is a script", { homepage_url: "javascript:alert(1)" }, "homepage_url", "type"],
    ["a homepage with a password", { homepage_url: "https://me:secret@example.com/" }, "homepage_url", "type"],
    ["a homepage that is no address", { homepage_url: "example.com" }, "homepage_url", "type"],
    [
      "a homepage that is long as an address",
      { homepage_url: `https://example.com/${"é".repeat(900)}` },
      "homepage_url",
      "type",
    ],
    ["a long homepage", { homepage_url: `https://example.com/${"x".repeat(2_000)}` }, "homepage_url", "range"],
    ["a footer that is reordered", { footer: "a\u2066b" }, "footer", "type"],
    ["a domain with a port", { domain: "status.example.com:443" }, "domain", "type"],
    ["a domain with a scheme", { domain: "https://status.example.com" }, "domain", "type"],
    ["a domain without a dot", { domain: "localhost" }, "domain", "type"],
    ["an address as the domain", { domain: "192.0.2.1" }, "domain", "type"],
    ["a domain with an empty label", { domain: "status..com" }, "domain", "type"],
    ["a domain without room for its record", { domain: `${"a".repeat(60)}.`.repeat(4) + "com" }, "domain", "range"],
    ["a domain that is not ASCII", { domain: "stätus.example.com" }, "domain", "type"],
    ["a monitor that is absent", { monitors: [{ id: 999_999 }] }, "monitors.0.id", "unknown"],
    ["a monitor id that is text", { monitors: [{ id: "one" }] }, "monitors.0.id", "type"],
    ["an unknown field of a monitor", { monitors: [{ id: 1, nam: "x" }] }, "monitors.0.nam", "unknown"],
    ["a colour by its name", { accent_color: "red" }, "accent_color", "type"],
    ["a short form of a colour", { accent_color: "#f00" }, "accent_color", "type"],
    ["a colour with more behind it", { accent_color: "#ff0000;}" }, "accent_color", "type"],
    ["an empty colour", { accent_color: "" }, "accent_color", "range"],
    ["an unknown field", { colour: "red" }, "colour", "unknown"],
    ["too many monitors", { monitors: Array.from({ length: 201 }, (_, id) => ({ id: id + 1 })) }, "monitors", "range"],
    ["a group of others", { groups: [{ name: "A", monitor_ids: [7] }] }, "groups.0.monitor_ids.0", "unknown"],
    ["a group without a name", { groups: [{ name: "", monitor_ids: [] }] }, "groups.0.name", "range"],
  ];

  it.each(refused)("%s", async (_what, body, field, reason) => {
    const answer = await world.post(owner, { title: "Shop", slug: nextSlug(), ...body });
    expect(errorOf(answer)).toEqual([400, "missing_parameter", field, reason]);
  });

  it("for monitors that are named twice, of others, or with hostile names", async () => {
    const id = await world.addMonitor(owner);
    const foreign = await world.addMonitor(stranger);
    const problem = async (monitors: readonly object[], groups: readonly object[] = []) =>
      errorOf(await world.post(owner, { title: "Shop", slug: nextSlug(), monitors, groups })).slice(2);
    expect(await problem([{ id }, { id }])).toEqual(["monitors.1.id", "duplicate"]);
    expect(await problem([{ id }, { id: foreign }])).toEqual(["monitors.1.id", "unknown"]);
    expect(await problem([{ id, name: "a\u0007b" }])).toEqual(["monitors.0.name", "type"]);
    expect(await problem([{ id, name: "a\u202Eb" }])).toEqual(["monitors.0.name", "type"]);
    expect(await problem([{ id, name: " " }])).toEqual(["monitors.0.name", "range"]);
    const twice = [
      { name: "A", monitor_ids: [id] },
      { name: "B", monitor_ids: [id] },
    ];
    expect(await problem([{ id }], twice)).toEqual(["groups.1.monitor_ids.0", "duplicate"]);
    expect(await problem([{ id }], [{ name: "a\u202Eb", monitor_ids: [] }])).toEqual(["groups.0.name", "type"]);
  });

  it("for a slug of another page, also of another account", async () => {
    const made = await create();
    const other = await create({}, stranger);
    const duplicate = (field: string) => [400, "missing_parameter", field, "duplicate"];
    expect(errorOf(await world.post(stranger, { title: "S", slug: made.slug }))).toEqual(duplicate("slug"));
    expect(errorOf(await world.put(stranger, other.id, { slug: made.slug }))).toEqual(duplicate("slug"));
    expect(shown(await read(other.id, stranger))).toEqual(other);
  });

  it("beyond the number of pages of an account", async () => {
    const many = await world.owner();
    for (let count = 0; count < MOST_PAGES; count += 1) await create({}, many);
    const answer = await world.post(many, { title: "Shop", slug: nextSlug() });
    expect(errorOf(answer)).toEqual([403, "plan_limit_exceeded", "status_pages", undefined]);
  });
});

describe("an account", () => {
  it("has its pages in its export, and takes them along when it is erased", async () => {
    const leaving = await world.owner();
    const made = await create({ monitors: [{ id: await world.addMonitor(leaving) }] }, leaving);
    expect((await world.visit(made.slug)).status).toBe(200);
    const erased = await world.operate("DELETE", `/api/admin/accounts?id=${leaving.accountId}&export=1`);
    expect((erased.body.data as { export: { status_pages: unknown } }).export.status_pages).toEqual([
      { ...made, logo: null },
    ]);
    await expect.poll(async () => (await world.visit(made.slug)).status).toBe(404);
  });
});
