import { expect, it } from "vitest";
import { differencesOf } from "#control-plane/monitors/changed-fields.ts";
import { defaultDraft } from "#control-plane/outages/kinds/defaults.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";

const http: MonitorDraft = { ...defaultDraft("http", 1), name: "Shop", url: "https://example.com" };

it("a monitor that is as it was has no differences", () => {
  expect(differencesOf(http, { ...http, tags: [...http.tags] })).toEqual([]);
});

it("fields show their values, and the options of a kind one by one", () => {
  const job = defaultDraft("heartbeat", 1);
  const { heartbeat } = job;
  if (heartbeat === null) throw new Error("a heartbeat has options");
  const after = { ...job, retries: 0, heartbeat: { ...heartbeat, cron: "0 1 * * *", grace_seconds: 90 } };
  expect(differencesOf(job, after)).toEqual([
    { field: "heartbeat.grace_seconds", before: 60, after: 90 },
    { field: "heartbeat.cron", before: null, after: "0 1 * * *" },
    { field: "retries", before: 2, after: 0 },
  ]);
});

it("secrets are never shown, also those among the options of a kind", () => {
  const hidden = (field: string) => ({ field, before: "changed", after: "changed" });
  const after = { ...http, request_headers: { authorization: "s3cret" }, body: "s3cret" };
  expect(differencesOf(http, after)).toEqual([hidden("request_headers.authorization"), hidden("body")]);
  for (const [type, field] of [
    ["tcp", "send"],
    ["websocket", "send"],
    ["grpc", "metadata"],
  ] as const) {
    const before = defaultDraft(type, 1);
    const value = field === "send" ? "s3cret" : { token: "s3cret" };
    const changed = { ...before, [type]: { ...before[type], [field]: value } } as MonitorDraft;
    const name = field === "send" ? field : "metadata.token";
    expect(differencesOf(before, changed)).toEqual([hidden(`${type}.${name}`)]);
  }
});

it("a header field has its name, whether it is added, removed or another one, and no value", () => {
  const headers = (fields: Readonly<Record<string, string>>): MonitorDraft => ({ ...http, request_headers: fields });
  const before = headers({ "X-Kept": "1", "X-Other": "1", "X-Gone": "1" });
  const found = differencesOf(before, headers({ "X-Other": "2", "X-Kept": "1", "X-New": "1" }));
  expect(found.map(({ field }) => field)).toEqual(
    ["X-Other", "X-New", "X-Gone"].map((name) => `request_headers.${name}`),
  );
  for (const one of found) expect(one).toMatchObject({ before: "changed", after: "changed" });
});

it("of a long value the beginning is shown, because an answer has thousands of them", () => {
  const before = defaultDraft("dns", 1);
  const values = Array.from({ length: 50 }, () => "x".repeat(4_096));
  const after: MonitorDraft = { ...before, dns: { type: "TXT", op: "contains", values, dnssec: "not_bogus" } };
  expect(differencesOf(before, after)).toContainEqual({
    field: "dns.values",
    before: [],
    after: expect.stringMatching(/^\["x{898}\.\.\. \(the beginning of 204951 characters of JSON\)$/),
  });
});
