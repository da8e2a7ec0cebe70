import { describe, expect, it } from "vitest";
import { openAccountDocuments, type Row } from "#test/support/account-documents.ts";
import { startMonitorService } from "#test/support/monitor-service.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const service = await stopAfterAll(startMonitorService());
service.attach("eu-west");
const documents = openAccountDocuments(service);

const counts = (created: number, updated: number, unchanged: number) => ({ created, updated, unchanged });

describe("a document with problems", () => {
  const ROW = { url: "https://example.com", locations: ["eu-west"] };

  it("is refused with all of them, and changes nothing", async () => {
    const { key } = await documents.createOwner();
    const { status, body } = await documents.send(key, {
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
    expect(await documents.listOf(key)).toEqual([]);
  });

  it("names 50 of them at most", async () => {
    const { key } = await documents.createOwner();
    const monitors = Array.from({ length: 80 }, (_, n) => ({ ...ROW, name: `${n}`, retries: 9 }));
    const { body } = await documents.send(key, { version: 2, monitors });
    expect((body.error as { problems: readonly Row[] }).problems).toHaveLength(50);
  });

  it("is refused as a whole for slugs of another account, and each is named", async () => {
    const [other, own] = [await documents.createOwner(), await documents.createOwner()];
    await documents.send(other.key, {
      version: 2,
      monitors: [],
      status_pages: [
        { title: "x", slug: "taken-slug" },
        { title: "y", slug: "other-slug" },
      ],
    });
    const { status, body } = await documents.send(own.key, {
      version: 2,
      monitors: [{ ...ROW, name: "a" }],
      status_pages: [
        { title: "x", slug: "taken-slug" },
        { title: "y", slug: "other-slug" },
      ],
    });
    expect(status).toBe(400);
    expect((body.error as { problems: readonly Row[] }).problems).toMatchObject([
      { row: "status_pages.0", field: "slug", reason: "duplicate" },
      { row: "status_pages.1", field: "slug", reason: "duplicate" },
    ]);
    expect(await documents.listOf(own.key)).toEqual([]);
  });

  it("is held to the plan: what is new counts, what is there does not", async () => {
    const { key } = await documents.createOwner("starter");
    const names = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => ({ name: `n${from + n}`, check_type: "heartbeat" }));
    expect((await documents.send(key, { version: 2, monitors: names(0, 25) })).status).toBe(201);
    expect((await documents.send(key, { version: 2, monitors: names(0, 25) })).body.data).toMatchObject(
      counts(0, 0, 25),
    );
    expect((await documents.send(key, { version: 2, monitors: names(20, 26) })).status).toBe(403);
    expect((await documents.send(key, { version: 2, monitors: names(100, 130) })).status).toBe(403);
  });

  it("is unchanged after a downgrade too, which pauses what the plan does not allow", async () => {
    const { id, key } = await documents.createOwner("pro");
    const monitors = Array.from({ length: 30 }, (_, n) => ({ name: `n${n}`, check_type: "heartbeat" }));
    await documents.send(key, { version: 2, monitors });
    const document = await documents.exportOf(key);
    await service.operate("PUT", `/api/admin/accounts?id=${id}`, { plan: "starter" });
    expect((await documents.listOf(key)).filter((row) => row["paused_reason"] === "plan")).toHaveLength(5);
    expect(await documents.exportOf(key)).toEqual(document);
    expect((await documents.send(key, document)).body.data).toMatchObject(counts(0, 0, 30));
    expect((await documents.listOf(key)).filter((row) => row["paused_reason"] === "plan")).toHaveLength(5);
    const more = { version: 2, monitors: [{ name: "more", check_type: "heartbeat" }] };
    expect((await documents.send(key, more)).status).toBe(403);
  });
});
