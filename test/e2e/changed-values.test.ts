import { beforeEach, describe, expect, it } from "vitest";
import { createAccount, type TestAccount } from "#test/support/audit.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { listChanges, type LoggedChange } from "#test/support/list-changes.ts";

let account: TestAccount;

const plane = await stopAfterAll(startControlPlane());
beforeEach(async () => {
  account = await createAccount(plane, "captain");
});

/** Sends a write that must succeed; returns the id in its answer. */
async function write(method: string, path: string, body?: object): Promise<number> {
  const sent = body === undefined ? {} : { body };
  const answer = await plane.call(`/api/v4/${path}`, { method, key: account.key, ...sent });
  expect(answer.status, answer.text).toBeLessThan(300);
  return (answer.body.data as { id: number }).id;
}

const changesOf = (query: string) => listChanges(plane, account.key, query);

/** Sends a change that must succeed; returns the fields that are logged, as [name, before, after]. */
async function changedBy(path: string, body: object): Promise<readonly (readonly unknown[])[]> {
  await write("PUT", path, body);
  const [newest] = await changesOf("");
  expect(newest?.action).toBe("changed");
  return (newest?.changed ?? []).map(({ field, before, after }) => [field, before, after]);
}

/** Everything that the log has of the account, as text. */
async function wholeLog(): Promise<string> {
  const [row] = await plane.app.sql<{ text: string }[]>`
    select string_agg(account_changes::text, ' ') as text from account_changes where account_id = ${account.id}`;
  return row?.text ?? "";
}

const SECRET = ["changed", "changed"] as const;

describe("the log of changes has values before and after", () => {
  it("of a monitor, and says of its headers and body that they have changed", async () => {
    const agent = await attachScripted(plane, helloOf("eu-a"));
    const id = await write("POST", "monitors", {
      name: "Shop",
      url: "https://shop.example.com/",
      locations: ["eu-a"],
      is_active: false,
      method: "POST",
      body: "hunter2-body",
      request_headers: { Authorization: "hunter2-old", "X-Same": "hunter2-same" },
    });
    const fields = await changedBy(`monitors?id=${id}`, {
      name: "Web shop",
      tags: ["web"],
      json: { path: "$.ok", op: "equals", value: true },
      body: "hunter2-new",
      request_headers: { Authorization: "hunter2-new", "X-Same": "****", "X-More": "hunter2-more" },
    });
    expect(new Set(fields)).toEqual(
      new Set([
        ["name", "Shop", "Web shop"],
        ["tags", [], ["web"]],
        ["json", null, { path: "$.ok", op: "equals", value: true }],
        ["body", ...SECRET],
        ["request_headers.Authorization", ...SECRET],
        ["request_headers.X-More", ...SECRET],
      ]),
    );
    const moved = await changedBy(`monitors?id=${id}`, { url: "https://other.example.com/" });
    expect(moved.map(([field]) => field)).toEqual([
      "url",
      "request_headers.Authorization",
      "request_headers.X-Same",
      "request_headers.X-More",
      "body",
    ]);
    await write("DELETE", `monitors?id=${id}`);
    const names = (await changesOf(`subject=monitor:${id}`)).map(({ subject, action }) => [action, subject.name]);
    expect(names).toEqual([
      ["deleted", "Web shop"],
      ["changed", "Web shop"],
      ["changed", "Web shop"],
      ["created", "Shop"],
    ]);
    expect(await wholeLog()).not.toContain("hunter2");
    agent.cut();
  });

  it("of a kind of monitor with secrets of its own, also where it becomes another kind", async () => {
    const agent = await attachScripted(plane, helloOf("eu-a"));
    const grpc = { check_type: "grpc", url: "cart.example.com:443", locations: ["eu-a"], is_active: false };
    const id = await write("POST", "monitors", { ...grpc, grpc: { metadata: { token: "hunter2-old" } } });
    const given = { grpc: { service: "shop.Cart", metadata: { token: "hunter2-new" } } };
    expect(await changedBy(`monitors?id=${id}`, given)).toEqual([
      ["grpc.service", null, "shop.Cart"],
      ["grpc.metadata.token", ...SECRET],
    ]);
    const other = { check_type: "http", url: "https://cart.example.com/", request_headers: { "X-Key": "hunter2-key" } };
    const fields = await changedBy(`monitors?id=${id}`, other);
    expect(fields).toContainEqual(["check_type", "grpc", "http"]);
    expect(fields).toContainEqual(["request_headers.X-Key", ...SECRET]);
    expect(await wholeLog()).not.toContain("hunter2");
    agent.cut();
  });

  it("of what a heartbeat expects, and not of what its pings say or of its address", async () => {
    const made = await plane.call("/api/v4/monitors", {
      key: account.key,
      body: { check_type: "heartbeat", name: "Backup", heartbeat: { period_seconds: 90 } },
    });
    const { id, heartbeat_url: url } = made.body.data as { id: number; heartbeat_url: string };
    expect((await plane.call(new URL(url).pathname)).status).toBe(200);
    expect(await changedBy(`monitors?id=${id}`, { heartbeat: { period_seconds: 120 } })).toEqual([
      ["heartbeat.period_seconds", 90, 120],
    ]);
    await write("POST", `monitors?id=${id}&action=rotate`);
    const [newest] = await changesOf("");
    expect(newest).toMatchObject({ action: "rotated", changed: [{ field: "heartbeat_url", before: "changed" }] });
    expect(await wholeLog()).not.toContain(new URL(url).pathname.split("/").at(-1));
  });

  it("of a status page, with the monitors as it shows them", async () => {
    const monitor = await write("POST", "monitors", { check_type: "heartbeat", name: "Backup" });
    const id = await write("POST", "status", { title: "Shop", slug: "values-shop", monitors: [{ id: monitor }] });
    expect(await changedBy(`status?id=${id}`, { slug: "values-store", is_public: false, monitors: [] })).toEqual([
      ["slug", "values-shop", "values-store"],
      ["is_public", true, false],
      ["monitors", [{ id: monitor, name: "Backup" }], []],
    ]);
    const [newest] = await changesOf("");
    expect(newest?.subject).toEqual({ kind: "status_page", id, name: "values-store" });
  });

  it("of a maintenance window, and not of the state that its times give it", async () => {
    const id = await write("POST", "maintenance", {
      title: "Updates",
      tags: ["web"],
      starts_at: "2020-01-06T00:00:00Z",
      rrule: "FREQ=DAILY",
      duration_seconds: 86_400,
    });
    expect(await changedBy(`maintenance?id=${id}`, { rrule: "FREQ=YEARLY" })).toEqual([
      ["rrule", "FREQ=DAILY", "FREQ=YEARLY"],
    ]);
    expect(await changedBy(`maintenance?id=${id}`, { status: "cancelled", title: "Off" })).toEqual([
      ["title", "Updates", "Off"],
      ["status", "scheduled", "cancelled"],
    ]);
  });

  it("of an incident, with the texts that a change adds to it", async () => {
    const monitor = await write("POST", "monitors", { check_type: "heartbeat", name: "Backup" });
    const id = await write("POST", "incidents", { title: "Slow", text: "We look.", monitor_ids: [monitor] });
    const update = { status: "resolved", text: "It is over." };
    const given = { title: "Slow payments", acknowledged: true, note: "The disk.", update };
    expect(await changedBy(`incidents?id=${id}`, given)).toEqual([
      ["title", "Slow", "Slow payments"],
      ["status", "investigating", "resolved"],
      ["acknowledged", false, true],
      ["note", null, "The disk."],
      ["update", null, update],
    ]);
  });

  it("of a webhook, and says of secrets, header values, options and secret addresses that they have changed", async () => {
    const id = await write("POST", "webhooks", {
      name: "Hook",
      url: "https://hooks.example.com/a",
      secret: "hunter2-secret-value",
      headers: { "X-Team": "hunter2-old" },
      is_active: false,
    });
    const fields = await changedBy(`webhooks?id=${id}`, {
      url: "https://hooks.example.com/b",
      events: ["monitor.down"],
      secret: "hunter2-other-secret",
      headers: { "X-Team": "hunter2-new", "X-More": "hunter2-more" },
    });
    const isPlain = ([field]: readonly unknown[]) => field !== "events";
    expect(fields.filter(isPlain)).toEqual([
      ["url", "https://hooks.example.com/a", "https://hooks.example.com/b"],
      ["secret", ...SECRET],
      ["headers.X-Team", ...SECRET],
      ["headers.X-More", ...SECRET],
    ]);
    expect(fields.find(([field]) => field === "events")?.[2]).toEqual(["monitor.down"]);
    const provider = await changedBy(`webhooks?id=${id}`, {
      url: "https://api.pushover.net/1/messages.json",
      format: "pushover",
      format_options: { token: `hunter2${"a".repeat(23)}`, user: "b".repeat(30), priority: 1 },
    });
    expect(new Set(provider)).toEqual(
      new Set([
        ["url", ...SECRET],
        ["format", "standard", "pushover"],
        // Own headers stay at the origin that they were for.
        ["headers.X-Team", ...SECRET],
        ["headers.X-More", ...SECRET],
        ["format_options.priority", null, "1"],
        ["format_options.token", ...SECRET],
        ["format_options.user", ...SECRET],
      ]),
    );
    const slack = await changedBy(`webhooks?id=${id}`, {
      url: "https://hooks.slack.com/services/T0/B0/hunter2-path",
      format: "slack",
      format_options: {},
    });
    expect(slack.map(([field, , after]) => [field, after])).toContainEqual(["url", "changed"]);
    await write("POST", `webhooks?action=rotate&id=${id}`);
    expect((await changesOf(""))[0]).toMatchObject({
      action: "rotated",
      changed: [{ field: "secret", after: "changed" }],
    });
    expect(await wholeLog()).not.toContain("hunter2");
  });
});

describe("an import", () => {
  it("of 1,000 monitors logs each with its name, and of those that it changes what has changed", async () => {
    const rows = Array.from({ length: 1_000 }, (_, n) => ({ name: `Beat ${n}`, check_type: "heartbeat", tags: ["a"] }));
    await write("POST", "monitors?action=import", { version: 2, monitors: rows });
    const changed = rows.map((row, n) => (n < 300 ? { ...row, tags: ["b"] } : row));
    await write("POST", "monitors?action=import", { version: 2, monitors: changed });
    const pages = Array.from({ length: 14 }, (_, n) => changesOf(`subject=monitor&page=${n + 1}`));
    const logged = (await Promise.all(pages)).flat().map((one) => [one.subject.name, one.action, one.changed]);
    const tags = [{ field: "tags", before: ["a"], after: ["b"] }];
    expect(logged.toReversed()).toEqual([
      ...rows.map(({ name }) => [name, "created", []]),
      ...rows.slice(0, 300).map(({ name }) => [name, "changed", tags]),
    ]);
  });

  it("logs what has changed of status pages and maintenance", async () => {
    const times = { starts_at: "2098-01-06T02:00:00Z", ends_at: "2098-01-06T03:00:00Z", tags: ["web"] };
    const documentOf = (title: string, isPublic: boolean) => ({
      version: 2,
      monitors: [],
      status_pages: [{ title, slug: "imported-values" }],
      maintenance: [{ title: "Updates", ...times, public: isPublic }],
    });
    await write("POST", "monitors?action=import", documentOf("Shop", false));
    await write("POST", "monitors?action=import", documentOf("Store", true));
    const logged = await changesOf("");
    expect(logged.slice(0, 2).map(({ subject, changed }) => [subject.name, changed])).toEqual([
      ["Updates", [{ field: "public", before: false, after: true }]],
      ["imported-values", [{ field: "title", before: "Shop", after: "Store" }]],
    ]);
  });
});

it("an erasure takes every change, and the copy of the data has them with their values", async () => {
  const id = await write("POST", "monitors", { check_type: "heartbeat", name: "Backup" });
  await write("PUT", `monitors?id=${id}`, { name: "Nightly backup" });
  const erased = await plane.operate("DELETE", `/api/admin/accounts?id=${account.id}&export=1`);
  const { changes } = erased.body.data["export"] as { changes: readonly LoggedChange[] };
  expect(changes[0]).toMatchObject({
    subject: { kind: "monitor", id, name: "Nightly backup" },
    changed: [{ field: "name", before: "Backup", after: "Nightly backup" }],
  });
  expect(await wholeLog()).toBe("");
});
