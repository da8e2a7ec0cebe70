import type { Static } from "typebox";
import { describe, expect, it } from "vitest";
import type { PUBLIC_PAGE } from "#control-plane/public/status-pages/public-json.ts";
import { startPageWorld } from "#test/control-plane/public/status-pages/world.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

type Shown = Static<typeof PUBLIC_PAGE>;

const HOUR_MS = 3_600_000;

const world = await stopAfterAll(startPageWorld());
/** Another replica on the same database. */
const other = await stopAfterAll(startPageWorld({ databaseUrl: world.databaseUrl }));
const owner = await world.owner();
const stranger = await world.owner();

const seen = async (slug: string, on = world): Promise<Shown> => (await on.visit(slug)).body.data;
const createPage = (more: object = {}) => world.createPage(owner, more);
const createSimple = (more: object = {}) => world.createSimple(owner, more);

describe("a page on another replica", () => {
  const onBoth = (slug: string) => Promise.all([seen(slug), seen(slug, other)]);

  it("changes after a change of the page, a monitor, an incident or a window", async () => {
    const { slug, id, monitor } = await createSimple({ groups: [] });
    await onBoth(slug);
    const becomes = async (read: (page: Shown) => unknown, expected: unknown): Promise<void> => {
      await expect.poll(async () => (await onBoth(slug)).map(read)).toEqual([expected, expected]);
    };
    await world.put(owner, id, { title: "New title" });
    await becomes(({ title }) => title, "New title");
    await world.put(owner, id, { monitors: [{ id: monitor }] });
    await becomes(({ monitors }) => monitors[0]?.name, "shop-internal-7");
    const change = (body: object) =>
      world.call(`/api/v4/monitors?id=${monitor}`, { method: "PUT", key: owner.key, body });
    expect((await change({ name: "Renamed" })).status).toBe(200);
    await becomes(({ monitors }) => monitors[0]?.name, "Renamed");
    await change({ is_active: false });
    await becomes((page) => page.overall_status, "unknown");
    const incident = { title: "By hand", text: "Now.", monitor_ids: [monitor] };
    await world.call("/api/v4/incidents", { key: owner.key, body: incident });
    await becomes((page) => page.recent_incidents[0]?.title, "By hand");
    const window = { title: "Window", monitor_ids: [monitor], duration_seconds: 600, public: true };
    const starts = { starts_at: new Date(Date.now() + HOUR_MS).toISOString() };
    await world.call("/api/v4/maintenance", { key: owner.key, body: { ...window, ...starts } });
    await becomes((page) => page.maintenance[0]?.title, "Window");
    await world.call(`/api/v4/monitors?id=${monitor}`, { method: "DELETE", key: owner.key });
    await becomes((page) => page.monitors_total, 0);
  });

  it("changes after a change of a status, and is never stale for heartbeats", async () => {
    const body = { name: "Backup", url: "backup", check_type: "heartbeat" };
    const made = await world.call("/api/v4/monitors", { key: owner.key, body });
    expect(made.status, made.text).toBe(201);
    const { id, heartbeat_url: address } = made.body.data as { readonly id: number; readonly heartbeat_url: string };
    const { slug } = await createPage({ monitors: [{ id }], auto_incidents_after_minutes: 0 });
    const becomes = async (expected: string): Promise<void> => {
      const statuses = async () => (await onBoth(slug)).map((page) => page.monitors[0]?.status);
      await expect.poll(statuses).toEqual([expected, expected]);
    };
    await becomes("unknown");
    const path = new globalThis.URL(address).pathname;
    await world.call(path);
    await becomes("up");
    await world.call(`${path}/fail`);
    await becomes("down");
    expect(await seen(slug, other)).toMatchObject({
      overall_status: "major_outage",
      stale: null,
      recent_incidents: [{ title: "Backup is down" }],
    });
    await world.call(path);
    await becomes("up");
  });

  it("appears under a slug that was absent, moves with its slug, and disappears", async () => {
    const slug = "appears-later";
    const statuses = (name: string) =>
      Promise.all([world, other].map(async (replica) => (await replica.visit(name)).status));
    expect(await statuses(slug)).toEqual([404, 404]);
    const { id } = await createPage({ slug });
    await expect.poll(() => statuses(slug)).toEqual([200, 200]);
    await world.put(owner, id, { slug: "moved-away" });
    await expect.poll(() => statuses(slug)).toEqual([404, 404]);
    expect(await statuses("moved-away")).toEqual([200, 200]);
    await world.put(owner, id, { is_public: false });
    await expect.poll(() => statuses("moved-away")).toEqual([404, 404]);
    await world.put(owner, id, { is_public: true });
    await expect.poll(() => statuses("moved-away")).toEqual([200, 200]);
    await world.remove(owner, id);
    await expect.poll(() => statuses("moved-away")).toEqual([404, 404]);
  });
});

describe("the agent endpoint", () => {
  const ask = async (slug: string, key: string) => {
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "get_status_page", arguments: { slug } },
    };
    const { body } = await world.call("/mcp", { key, body: call });
    return (body as unknown as { result: { isError?: boolean; structuredContent: Record<string, unknown> } }).result;
  };

  it("returns a page as visitors see it, and private ones to their account", async () => {
    const { slug } = await createSimple({ is_public: false });
    expect((await ask(slug, owner.key)).structuredContent).toEqual(
      (await world.visit(slug, { key: owner.key })).body.data,
    );
    expect(await ask(slug, stranger.key)).toMatchObject({ isError: true });
    expect(await ask("nobody-has-this", stranger.key)).toEqual(await ask(slug, stranger.key));
  });
});
