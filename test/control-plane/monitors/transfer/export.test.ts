import { describe, expect, it } from "vitest";
import { defaultDraft, DEFAULT_SETTINGS } from "#control-plane/monitors/settings/defaults.ts";
import { sealSecrets } from "#control-plane/monitors/settings/secrets.ts";
import type { StoredMonitor } from "#control-plane/monitors/store.ts";
import { exportMonitors } from "#control-plane/monitors/transfer/export.ts";
import { createEncryption } from "#control-plane/secrets/encryption.ts";
import { seeded } from "#test/support/seeded.ts";

const encryption = createEncryption(new Uint8Array(32), { bytes: (count) => new Uint8Array(count) });

function monitor(id: number, over: Partial<StoredMonitor> = {}): StoredMonitor {
  return {
    id,
    accountId: 1,
    name: `monitor ${id}`,
    url: "https://example.com",
    checkType: "http",
    intervalMinutes: 5,
    isActive: true,
    pausedReason: null,
    tags: [],
    dependsOn: null,
    settings: DEFAULT_SETTINGS,
    secrets: null,
    version: 1,
    createdAt: new Date(0),
    updatedAt: new Date(0),
    ...over,
  };
}

describe("an exported row", () => {
  it("has every writable field and nothing else", () => {
    const [row = {}] = exportMonitors(encryption, [monitor(1)]);
    expect(Object.keys(row).toSorted()).toEqual(Object.keys(defaultDraft("http", 1)).toSorted());
  });

  it("shows masks in place of secrets", () => {
    const secrets = sealSecrets(encryption, { request_headers: { Authorization: "Bearer s3cret" }, body: "s3cret" });
    const rows = exportMonitors(encryption, [monitor(1, { secrets })]);
    expect(rows[0]).toMatchObject({ request_headers: { Authorization: "****" }, body: "****" });
    expect(JSON.stringify(rows)).not.toContain("s3cret");
  });

  it("is active if only the plan paused the monitor", () => {
    const rows = exportMonitors(encryption, [
      monitor(1, { isActive: false, pausedReason: "plan" }),
      monitor(2, { isActive: false }),
    ]);
    expect(rows.map((row) => row.is_active)).toEqual([true, false]);
  });

  it("names the row on which it depends", () => {
    const rows = exportMonitors(encryption, [monitor(1), monitor(2, { dependsOn: 1 })]);
    expect(rows.map((row) => row.depends_on)).toEqual([null, "monitor 1"]);
  });

  it("keeps its name unless others depend on it and the name is not unique", () => {
    const same = "a".repeat(200);
    const rows = exportMonitors(encryption, [
      monitor(1, { name: same }),
      monitor(2, { name: same }),
      monitor(3, { name: "b", dependsOn: 1 }),
      monitor(4, { name: "b" }),
    ]);
    expect(rows.map((row) => row.name)).toEqual([`${"a".repeat(196)} (1)`, same, "b", "b"]);
    expect(rows[2]?.depends_on).toBe(rows[0]?.name);
  });

  it("always names exactly one row, whatever the names are", () => {
    const next = seeded(3);
    const names = ["a", "a (1)", "a (2)", "a (2)'", "b"];
    for (let round = 0; round < 500; round += 1) {
      const monitors = Array.from({ length: 8 }, (_, index) =>
        monitor(index + 1, {
          name: names[next() % names.length] ?? "",
          dependsOn: index > 0 && next() % 2 === 0 ? 1 + (next() % index) : null,
        }),
      );
      const rows = exportMonitors(encryption, monitors);
      for (const [index, row] of rows.entries()) {
        if (row.depends_on === null) continue;
        const named = rows.flatMap(({ name }, at) => (name === row.depends_on ? [at + 1] : []));
        expect(named).toEqual([monitors[index]?.dependsOn]);
      }
    }
  });
});
