import { afterAll, describe, expect, it } from "vitest";
import { failed, refused as refusedTarget } from "#shared/contracts/outcome.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { BLUE, pngOf, rawPng, WHITE } from "#test/support/pictures.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";
import { attachVisual, TAKEN, type VisualAgent } from "#test/support/visual-agent.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

interface Visual {
  readonly viewport: object;
  readonly threshold_percent: number;
  readonly accepted: { readonly picture_id: number; readonly at: string } | null;
  readonly latest: {
    readonly picture_id: number;
    readonly at: string;
    readonly ratio: number;
    readonly difference_picture_id: number | null;
  } | null;
}

interface Monitor {
  readonly id: number;
  readonly status: string;
  readonly visual: Visual;
  readonly last_error: { readonly reason: string; readonly message: string } | null;
  readonly checks: readonly { readonly status: string }[];
}

const PLAIN = pngOf(400, 300);
const CHANGED = pngOf(400, 300, WHITE, [[0, 0, 100, 100, BLUE]]);
const OTHER = pngOf(400, 300, WHITE, [[200, 100, 100, 100, BLUE]]);

const plane = await stopAfterAll(startControlPlane());
const key = await plane.createKey("captain");
const probe = await stopAfterAll(attachVisual(plane, "eu-west"));
const plain = await attachScripted(plane, helloOf("us-east"));

afterAll(async () => {
  plain.cut();
});

async function create(body: object = {}): Promise<number> {
  const made = await plane.call("/api/v4/monitors", {
    key,
    body: { url: "https://example.com", check_type: "visual", ...body },
  });
  expect(made.text).toContain('"visual"');
  return (made.body.data as { id: number }).id;
}

async function read(id: number): Promise<Monitor> {
  return (await plane.call(`/api/v4/monitors?id=${id}`, { key })).body.data;
}

/** Makes a check due, and waits until it is recorded. */
async function checkAgain(id: number): Promise<Monitor> {
  const { length } = (await read(id)).checks;
  const { sql } = plane.app;
  await sql`update monitor_slots set planned_at = now(), due_at = now() where monitor_id = ${id} and lease = 0`;
  await expect.poll(async () => (await read(id)).checks.length).toBeGreaterThan(length);
  return read(id);
}

async function firstCheck(id: number): Promise<Monitor> {
  await expect.poll(async () => (await read(id)).checks.length).toBeGreaterThan(0);
  return read(id);
}

async function changedEvents(id: number) {
  const rows = await plane.app.sql<{ body: string }[]>`
    select body from events where monitor_id = ${id} and type = 'visual.changed' order by created_at`;
  return rows.map(({ body }) => (JSON.parse(body) as { data: Record<string, never> }).data);
}

const picturePath = (id: number, picture: number | undefined) =>
  `/api/v4/monitors?id=${id}&action=picture&picture_id=${picture}`;

describe("a visual monitor", () => {
  it("accepts its first picture, is up, and shows the picture to its account only", async () => {
    probe.show(PLAIN);
    const id = await create();
    const { status, visual } = await firstCheck(id);
    expect(status).toBe("up");
    expect(visual).toMatchObject({
      viewport: { width: 1_280, height: 800 },
      full_page: false,
      wait_ms: 0,
      ignore: [],
      threshold_percent: 0.1,
      latest: { ratio: 0, picture_id: visual.accepted?.picture_id, difference_picture_id: null },
    });
    const path = picturePath(id, visual.accepted?.picture_id);
    const response = await fetch(`${plane.url}${path}`, { headers: { "x-api-key": key } });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      "cache-control": "private, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(PLAIN)).toBe(true);
    const tag = response.headers.get("etag") ?? "";
    expect((await plane.call(path, { key, headers: { "if-none-match": tag } })).status).toBe(304);
    expect((await plane.call(picturePath(id, 999_999), { key })).status).toBe(404);
    expect((await plane.call(`/api/v4/monitors?id=${id}&action=picture`, { key })).body.error).toMatchObject({
      field: "picture_id",
    });
    expect((await plane.call(path, { key: await plane.createKey("captain") })).status).toBe(404);
    expect((await plane.call(path)).status).toBe(401);
  });

  it("announces a change once, further changes again, and after a return the next one", async () => {
    probe.show(PLAIN);
    const id = await create({ name: "Start page" });
    const first = (await firstCheck(id)).visual;
    probe.show(CHANGED);
    const changed = (await checkAgain(id)).visual;
    expect(changed.accepted).toEqual(first.accepted);
    expect(changed.latest?.ratio).toBeCloseTo((100 * 10_000) / 120_000);
    await checkAgain(id);
    const [event, ...more] = await changedEvents(id);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      monitor: { id, name: "Start page", check_type: "visual" },
      location: "eu-west",
      ratio: changed.latest?.ratio,
      threshold_percent: 0.1,
      accepted: { picture_id: first.accepted?.picture_id },
      latest: { picture_id: changed.latest?.picture_id },
      difference: { picture_id: changed.latest?.difference_picture_id },
    });
    const shownUrl = (event?.["latest"] as { readonly url: string } | undefined)?.url;
    expect(shownUrl).toContain(picturePath(id, changed.latest?.picture_id));
    const shown = await fetch(`${plane.url}${picturePath(id, changed.latest?.difference_picture_id ?? 0)}`, {
      headers: { "x-api-key": key },
    });
    expect(shown.headers.get("content-type")).toBe("image/png");

    probe.show(OTHER);
    const other = (await checkAgain(id)).visual.latest?.picture_id;
    expect(await changedEvents(id)).toHaveLength(2);
    probe.show(PLAIN);
    expect((await checkAgain(id)).visual.latest).toMatchObject({ ratio: 0, picture_id: first.accepted?.picture_id });
    expect(await changedEvents(id)).toHaveLength(2);
    probe.show(OTHER);
    // Equal pictures are stored once.
    expect(await checkAgain(id)).toMatchObject({ status: "up", visual: { latest: { picture_id: other } } });
    expect(await changedEvents(id)).toHaveLength(3);
  });

  it("compares with the newest picture after action=accept", async () => {
    probe.show(PLAIN);
    const id = await create();
    await firstCheck(id);
    probe.show(CHANGED);
    const changed = (await checkAgain(id)).visual;
    const accepted = await plane.call(`/api/v4/monitors?action=accept&id=${id}`, { key, method: "POST" });
    expect(accepted.status).toBe(200);
    expect((accepted.body.data as Monitor).visual).toMatchObject({
      accepted: { picture_id: changed.latest?.picture_id },
      latest: { ratio: 0, difference_picture_id: null },
    });
    expect((await checkAgain(id)).visual.latest?.ratio).toBe(0);
    probe.show(PLAIN);
    await checkAgain(id);
    expect(await changedEvents(id)).toHaveLength(2);
  });

  it("begins again with another viewport, and goes on with other regions and another threshold", async () => {
    probe.show(PLAIN);
    const id = await create();
    const first = (await firstCheck(id)).visual;
    probe.show(CHANGED);
    const put = (visual: object) => plane.call(`/api/v4/monitors?id=${id}`, { key, method: "PUT", body: { visual } });
    const ignoring = await put({ ignore: [{ x: 0, y: 0, width: 100, height: 100 }], threshold_percent: 1 });
    expect((ignoring.body.data as Monitor).visual).toMatchObject({ accepted: first.accepted, threshold_percent: 1 });
    expect((await checkAgain(id)).visual.latest).toMatchObject({ ratio: 0, difference_picture_id: null });
    expect(await changedEvents(id)).toEqual([]);
    const read1 = (await put({ ignore: [] })).body.data as Monitor;
    expect((await put(read1.visual)).status).toBe(200); // a record can be sent back as it was read
    expect((await checkAgain(id)).visual.latest?.ratio).toBeGreaterThan(8);
    expect(await changedEvents(id)).toHaveLength(1);

    const other = (await put({ viewport: { width: 800 } })).body.data as Monitor;
    expect(other).toMatchObject({
      status: "unknown",
      visual: { viewport: { width: 800, height: 800 }, accepted: null, latest: null },
    });
    await expect.poll(async () => (await read(id)).visual.accepted).not.toBeNull();
    expect((await read(id)).visual.latest?.ratio).toBe(0);
    expect(await changedEvents(id)).toHaveLength(1);
  });

  it("is unknown with the cause, and never down, without a picture; with the next picture it is up", async () => {
    probe.show((job) => probe.agent.answer(job, failed("connect", "target", "refused", "the connection was refused")));
    const id = await create();
    expect(await firstCheck(id)).toMatchObject({
      status: "unknown",
      last_error: { reason: "refused" },
      visual: { accepted: null },
    });
    const attempts: [string, (job: Parameters<VisualAgent["send"]>[0]) => void][] = [
      ["artifact_invalid", (job) => probe.send(job, PLAIN, true)],
      ["picture_missing", (job) => probe.agent.answer(job, TAKEN)],
      [
        "picture_invalid",
        (job) => {
          probe.send(job, rawPng(3_840, 60_000, Buffer.alloc(9)));
          probe.agent.answer(job, TAKEN);
        },
      ],
      [
        "picture_invalid",
        (job) => {
          probe.send(job, rawPng(30, 30, Buffer.alloc(9)));
          probe.agent.answer(job, TAKEN);
        },
      ],
    ];
    for (const [reason, act] of attempts) {
      probe.show(act);
      const { status, last_error: error, checks } = await checkAgain(id);
      expect({ status, reason: error?.reason, check: checks[0]?.status }).toEqual({
        status: "unknown",
        reason,
        check: "unknown",
      });
    }
    probe.show(PLAIN);
    expect(await checkAgain(id)).toMatchObject({
      status: "up",
      last_error: null,
      visual: { latest: { ratio: 0, changed_percent: 0 } },
    });
    // What was up is not up any longer once its page has no picture.
    probe.show((job) => probe.agent.answer(job, refusedTarget));
    expect(await checkAgain(id)).toMatchObject({ status: "unknown", last_error: { reason: "target_not_allowed" } });
  });
});

describe("a visual monitor is refused", () => {
  it.each([
    [{ locations: ["eu-west", "us-east"] }, "locations"],
    [{ locations: ["us-east"] }, "locations"],
    [{ timeout_seconds: 5 }, "timeout_seconds"],
    [{ visual: { viewport: { width: 100 } } }, "visual.viewport.width"],
    [{ visual: { wait_ms: 10_001 } }, "visual.wait_ms"],
    [{ visual: { threshold_percent: 101 } }, "visual.threshold_percent"],
    [{ visual: { ignore: [{ x: 1_270, y: 0, width: 20, height: 10 }] } }, "visual.ignore.0"],
    [{ visual: { ignore: Array.from({ length: 51 }, () => ({ x: 0, y: 0, width: 1, height: 1 })) } }, "visual.ignore"],
    [{ visual: { full_page: true, ignore: [{ x: 0, y: 9_999, width: 20, height: 10 }] } }, "visual.ignore.0"],
    [{ visual: { zoom: 2 } }, "visual.zoom"],
    [{ check_type: "http", visual: { full_page: true } }, "visual"],
  ])("with %j", async (body, field) => {
    const refused = await plane.call("/api/v4/monitors", {
      key,
      body: { url: "https://example.com", check_type: "visual", ...body },
    });
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatchObject({ field });
  });

  it("if no probe has a browser, with the reason", async () => {
    const alone = await startControlPlane();
    try {
      const agent = await attachScripted(alone, helloOf("us-east"));
      const body = { url: "https://example.com", check_type: "visual" };
      const refused = await alone.call("/api/v4/monitors", { key: await alone.createKey(), body });
      expect(refused.status).toBe(400);
      expect(refused.body.error).toMatchObject({
        field: "check_type",
        message: expect.stringContaining("browser") as string,
      });
      agent.cut();
    } finally {
      await alone.stop();
    }
  });

  it("if a monitor of another type is to accept a picture", async () => {
    const made = await plane.call("/api/v4/monitors", {
      key,
      body: { url: "https://example.com", locations: ["us-east"] },
    });
    const { id } = made.body.data as { id: number };
    expect((await plane.call(`/api/v4/monitors?action=accept&id=${id}`, { key, method: "POST" })).status).toBe(400);
    probe.show(() => undefined);
    const visual = await create();
    expect((await plane.call(`/api/v4/monitors?action=accept&id=${visual}`, { key, method: "POST" })).status).toBe(400);
  });
});
