import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { addStatusChanges } from "#control-plane/outages/history/record.ts";
import { startPageWorld, URL, type PageWorld } from "#test/control-plane/public/status-pages/world.ts";
import { createManualClock } from "#test/support/clock.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const NOON = new Date("2026-05-10T12:00:05Z");
const HOUR_MS = 3_600_000;

const clock = createManualClock(NOON);
/** The other replica reads the page 4 s later. */
const otherClock = createManualClock(new Date(NOON.getTime() + 4_000));
let visitors = 0;

const world = await stopAfterAll(startPageWorld({ overrides: { clock } }));
const other = await stopAfterAll(startPageWorld({ overrides: { clock: otherClock }, databaseUrl: world.databaseUrl }));
const owner = await world.owner();

/** Asks from an address that nobody else has, or from a given one. */
function ask(replica: PageWorld, path: string, headers: Readonly<Record<string, string>> = {}) {
  visitors += 1;
  return replica.call(path, { headers: { "x-forwarded-for": `10.1.${visitors >> 8}.${visitors & 255}`, ...headers } });
}

/** Creates a page with a monitor that was down this morning, one that is down, and an open incident. */
async function createTroubled() {
  const recovered = await world.addMonitor(owner);
  const down = await world.addMonitor(owner, { state: { status: "down", changedAt: NOON.getTime() - 90_000 } });
  const at = (before: number) => new Date(NOON.getTime() - before);
  await transact(world.app.sql, (tx) =>
    addStatusChanges(
      tx,
      [
        { monitorId: recovered, at: at(5 * HOUR_MS), status: "up" },
        { monitorId: recovered, at: at(4 * HOUR_MS), status: "down" },
        { monitorId: recovered, at: at(2 * HOUR_MS), status: "up" },
        { monitorId: down, at: at(5 * HOUR_MS), status: "up" },
        { monitorId: down, at: at(90_000), status: "down" },
      ],
      NOON,
    ),
  );
  const page = await world.createPage(owner, { monitors: [{ id: recovered }, { id: down, name: "Payments" }] });
  const incident = { title: "Payments fail", text: "We look into it.", monitor_ids: [down] };
  const opened = await world.call("/api/v4/incidents", { key: owner.key, body: incident });
  expect(opened.status, opened.text).toBe(201);
  return { ...page, down };
}

describe("a page in trouble", () => {
  it("has the same entity tags on every replica and after each reading, until something changes", async () => {
    const { slug, id } = await createTroubled();
    const forms = ["", "/feed.rss", "/feed.atom", "/feed.json", "/badge.svg?metric=uptime", "/summary.json"];
    const lists = ["status", "components", "incidents"].map((name) => `/api/v2/${name}.json`);
    const paths = [...forms, ...lists].map((path) => `/status/${slug}${path}`);
    paths.push(`${URL}?slug=${slug}`);
    const read = async (replica: PageWorld) =>
      Object.fromEntries(
        await Promise.all(
          paths.map(async (path) => {
            const { status, headers } = await ask(replica, path);
            expect(status, path).toBe(200);
            return [path, { etag: headers.get("etag") ?? "", age: headers.get("age") }] as const;
          }),
        ),
      );
    const tagsOf = (answers: Awaited<ReturnType<typeof read>>) =>
      Object.fromEntries(Object.entries(answers).map(([path, { etag }]) => [path, etag]));

    // The notifications of the writes have arrived when both show the incident.
    const isShown = async (replica: PageWorld) =>
      (await ask(replica, `/status/${slug}`)).text.includes("Payments fail");
    await expect.poll(() => Promise.all([isShown(world), isShown(other)])).toEqual([true, true]);
    const first = tagsOf(await read(world));
    expect(tagsOf(await read(other))).toEqual(first);
    for (const seconds of [10, 30]) {
      clock.advance(seconds * 1_000);
      otherClock.advance(seconds * 1_000);
      const again = await read(world);
      expect(again[`/status/${slug}`]?.age, "the page is read again").toBe("0");
      expect(tagsOf(again)).toEqual(first);
      expect(tagsOf(await read(other))).toEqual(first);
    }
    for (const path of paths) {
      const known = await ask(other, path, { "if-none-match": first[path] ?? "" });
      expect([known.status, known.text], path).toEqual([304, ""]);
    }
    await world.put(owner, id, { title: "New title" });
    const isNew = async (replica: PageWorld) =>
      (await ask(replica, `/status/${slug}`, { "if-none-match": first[`/status/${slug}`] ?? "" })).status;
    await expect.poll(() => Promise.all([isNew(world), isNew(other)])).toEqual([200, 200]);
  });

  it("is sent with its age, so that no copy is older than 10 s", async () => {
    const { slug } = await world.createSimple(owner);
    clock.advance(60_000);
    const ageOf = async (path: string) => {
      const { headers } = await ask(world, path);
      return [headers.get("age"), headers.get("cache-control")];
    };
    for (const [seconds, age] of [
      [0, "0"],
      [3, "3"],
      [6, "9"],
      [1, "0"],
    ] as const) {
      clock.advance(seconds * 1_000);
      for (const path of [`/status/${slug}`, `/status/${slug}/badge.svg?label=x`, `${URL}?slug=${slug}`]) {
        expect(await ageOf(path), path).toEqual([age, "public, max-age=10"]);
      }
    }
  });
});

describe("maintenance", () => {
  const datesOf = async (slug: string) => {
    const { body } = await ask(world, `/status/${slug}/summary.json`);
    const windows = (body as unknown as { scheduled_maintenances: Record<string, string>[] }).scheduled_maintenances;
    return windows.map(({ name, created_at: announced, started_at: starts }) => [name, announced, starts]);
  };
  const from = (time: number) => new Date(time).toISOString();

  it("is dated by its announcement and its planned start; repeated, when it comes into sight, 14 days ahead", async () => {
    const { slug, monitor } = await world.createSimple(owner);
    const now = clock.now().getTime();
    const schedule = async (body: object) => {
      const shared = { monitor_ids: [monitor], duration_seconds: 600 };
      const made = await world.call("/api/v4/maintenance", { key: owner.key, body: { ...shared, ...body } });
      expect(made.status, made.text).toBe(201);
      return (made.body.data as { readonly id: number }).id;
    };
    const [once, first] = [now + 30 * HOUR_MS, now + 50 * HOUR_MS];
    await schedule({ title: "Once", public: true, starts_at: from(once) });
    await schedule({ title: "Often", public: true, starts_at: from(first), rrule: "FREQ=DAILY;INTERVAL=20" });
    const hidden = await schedule({ title: "Later told", starts_at: from(once) });
    clock.advance(HOUR_MS);
    const shown = await world.call(`/api/v4/maintenance?id=${hidden}`, {
      method: "PUT",
      key: owner.key,
      body: { public: true },
    });
    expect(shown.status, shown.text).toBe(200);
    const expected = [
      ["Once", from(now), from(once)],
      ["Later told", from(now + HOUR_MS), from(once)],
      ["Often", from(now), from(first)],
    ];
    await expect.poll(() => datesOf(slug)).toEqual(expected);
    const second = first + 20 * 24 * HOUR_MS;
    clock.advance(second - 10 * 24 * HOUR_MS - clock.now().getTime());
    expect(await datesOf(slug)).toEqual([["Often", from(second - 14 * 24 * HOUR_MS), from(second)]]);
  });
});

describe("the limit of an address", () => {
  it("is 60 requests per minute for pages, feeds, badges, JSON and shared results together", async () => {
    const { slug } = await world.createSimple(owner);
    clock.advance(60_000);
    const doors: readonly (readonly [path: string, status: number])[] = [
      [`/status/${slug}`, 200],
      [`/status/${slug}/feed.atom`, 200],
      [`/status/${slug}/badge.svg`, 200],
      [`${URL}?slug=${slug}`, 200],
      [`/api/v3/status.php?slug=${slug}`, 200],
      ["/s/Zm9vYmFyMDEyMzQ1Njc4OQ", 404],
    ];
    const from = { "x-forwarded-for": "198.51.100.9" };
    for (let count = 0; count < 10; count += 1) {
      for (const [path, status] of doors) expect((await ask(world, path, from)).status, path).toBe(status);
    }
    for (const [path] of doors) {
      const refused = await ask(world, path, from);
      expect([refused.status, refused.headers.get("retry-after")], path).toEqual([429, expect.stringMatching(/^\d+$/)]);
      expect((await ask(world, path)).status, path).not.toBe(429);
    }
  });
});
