import { beforeAll, describe, expect, it } from "vitest";
import { useAgent } from "#test/support/agent-process.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

// Inputs of a hostile user to the nouns of monitoring, over the started product: each is refused with the field it is
// about, or stored and shown harmlessly. None is a fault of the service, and none is slow.

/** Control characters but line feeds, separators of lines, and invisible characters, which turn text around. */
const UNSAFE = /[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/u;
const REORDERED = "Paid \u202etxt.exe\u2066";
const FORGED = "Shop\r\nBcc: victim@example.com";
const HUGE = 2 ** 53;
const MARKUP = "<script>alert(1)</script>";

/** Paused, so that nothing is checked. */
const MONITOR = {
  url: "https://example.com/",
  check_type: "http",
  interval_minutes: 5,
  locations: ["eu-west"],
  is_active: false,
};
/** Its id in a new database. */
const OWN = 1;
const WINDOW = {
  tags: ["shop"],
  title: "Database",
  starts_at: "2099-01-01T00:00:00Z",
  ends_at: "2099-01-01T01:00:00Z",
};
const INCIDENT = {
  monitor_ids: [OWN],
  title: "Slow",
  text: "We look into it",
  status: "investigating",
  impact: "minor",
};
const WEEKLY = {
  tags: ["shop"],
  title: "Backup",
  starts_at: "2099-01-01T00:00:00Z",
  duration_seconds: 3_600,
  timezone: "UTC",
};

/** Nests arrays. */
const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

const plane = await stopAfterAll(startControlPlane());
useAgent(plane, "eu-west");
const key = await plane.createKey("captain");
beforeAll(async () => {
  const made = await plane.call("/api/v4/monitors", { key, body: MONITOR });
  if ((made.body.data as { id: number } | undefined)?.id !== OWN) throw new Error(made.text);
});

const post = (path: string, body: unknown, method = "POST") => plane.call(`/api/v4/${path}`, { key, method, body });

describe("a field with hostile content is refused and named", () => {
  const cases: readonly (readonly [path: string, body: object, field: string])[] = [
    ["monitors", { ...MONITOR, name: REORDERED }, "name"],
    ["monitors", { ...MONITOR, name: FORGED }, "name"],
    ["monitors", { ...MONITOR, url: "https://user:secret@example.com/" }, "url"],
    ["monitors", { ...MONITOR, interval_minutes: 1e21 }, "interval_minutes"],
    ["monitors", { ...MONITOR, request_headers: { "X-A\r\nHost": "b" } }, "request_headers"],
    ["monitors", { ...MONITOR, depends_on: HUGE }, "depends_on"],
    ["monitors", { ...MONITOR, depends_on: 999_999_999 }, "depends_on"],
    ["monitors", { ...MONITOR, json: { path: `$${"[0]".repeat(5_000)}`, op: "exists" } }, "json.path"],
    ["maintenance", { ...WINDOW, title: REORDERED }, "title"],
    ["maintenance", { ...WINDOW, starts_at: "-000001-01-01T00:00:00Z" }, "starts_at"],
    ["maintenance", { ...WEEKLY, rrule: "FREQ=DAILY;COUNT=99999999999999999999" }, "rrule"],
    ["maintenance", { ...WEEKLY, rrule: "FREQ=DAILY", duration_seconds: 1e300 }, "duration_seconds"],
    ["maintenance", { ...WINDOW, monitor_ids: [HUGE] }, "monitor_ids"],
    ["incidents", { ...INCIDENT, monitor_ids: [HUGE] }, "monitor_ids"],
    ["incidents", { ...INCIDENT, text: `${REORDERED}\u0007` }, "text"],
    ["incidents", { ...INCIDENT, status: "constructor" }, "status"],
  ];
  it.each(cases)("%s %j", async (path, body, field) => {
    const { status, body: answer, text } = await post(path, body);
    expect(status, text).toBe(400);
    expect(answer.error, text).toMatchObject({ field: expect.stringMatching(new RegExp(`^${field}`)) });
    expect(text).not.toMatch(UNSAFE);
  });
});

describe("a body with a hostile form is refused", () => {
  it.each([
    ["not JSON", "{"],
    ["a JSON text that is deeper than any body", `{"url": ${nested(50_000)}}`],
    ["an array", "[]"],
    ["a text", '"x"'],
    ["a prototype", '{"__proto__": {"url": "https://example.com/"}, "check_type": "http"}'],
    ["more than 1 MB", JSON.stringify({ ...MONITOR, name: "x".repeat(1_200_000) })],
    [
      "ten thousand unknown fields",
      JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`f${n}`, n]))),
    ],
  ])("%s", async (_what, text) => {
    for (const path of ["monitors", "maintenance", "incidents", "monitors?action=import"]) {
      const answer = await fetch(`${plane.url}/api/v4/${path}`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: text,
      });
      expect([400, 413], path).toContain(answer.status);
      expect(((await answer.json()) as { error: { code: string } }).error.code).toMatch(/^[a-z_]+$/);
    }
  });
});

describe("an id that no row can have", () => {
  it.each(["0", "-1", "1.5", "9007199254740993", "99999999999999999999", "1e3", "%00", "1;drop table monitors", "٣"])(
    "%s is refused or not found",
    async (id) => {
      for (const path of ["monitors", "incidents", "maintenance"]) {
        for (const method of ["GET", "PUT", "DELETE"]) {
          const { status, text } = await plane.call(`/api/v4/${path}?id=${id}`, {
            key,
            method,
            ...(method === "PUT" ? { body: { title: "x", name: "x" } } : {}),
          });
          expect([400, 404, 405], `${method} ${path}: ${text}`).toContain(status);
        }
      }
    },
  );
});

it("markup and long words in names are stored as they are, and the answers are JSON that no browser runs", async () => {
  const made = await post("monitors", { ...MONITOR, name: `${MARKUP}${"W".repeat(150)}` });
  expect(made.status, made.text).toBe(201);
  const { id } = made.body.data as { id: number };
  const read = await fetch(`${plane.url}/api/v4/monitors?id=${id}`, { headers: { "x-api-key": key } });
  expect(read.headers.get("content-type")).toContain("application/json");
  expect(read.headers.get("x-content-type-options")).toBe("nosniff");
  expect(((await read.json()) as { data: { name: string } }).data.name).toContain(MARKUP);
});

it("a cycle of dependencies is refused, however it is made", async () => {
  const made = await post("monitors", { ...MONITOR, name: "child", depends_on: OWN });
  const { id } = made.body.data as { id: number };
  for (const depends_on of [id, OWN]) {
    const { status, body } = await post(`monitors?id=${OWN}`, { depends_on }, "PUT");
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ field: "depends_on" });
  }
  const rows = ["a", "b", "c"].map((name, index, all) => ({ ...MONITOR, name, depends_on: all[(index + 1) % 3] }));
  const imported = await post("monitors?action=import", { version: 1, monitors: rows });
  expect(imported.status).toBe(400);
  expect(imported.body.error).toMatchObject({ field: expect.stringMatching(/^monitors\.\d\.depends_on$/) });
});

it("nothing of it was stored, and the service still answers", async () => {
  const { body } = await plane.call("/api/v4/monitors?limit=100", { key });
  expect((body.data as readonly { name: string }[]).map(({ name }) => name).toSorted()).toHaveLength(3);
  expect((await plane.call("/api/v4/maintenance", { key })).body.data).toEqual([]);
  expect((await plane.call("/api/v4/incidents", { key })).body.data).toEqual([]);
});
