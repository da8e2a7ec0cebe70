import { describe, expect, it } from "vitest";
import { defaultDraft, DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { sealSecrets } from "#control-plane/outages/kinds/secrets.ts";
import type { StoredMonitor } from "#control-plane/monitors/store.ts";
import { exportMonitors } from "#control-plane/monitors/transfer/export.ts";
import { createEncryption } from "#control-plane/core/secrets/encryption.ts";
import { seeded } from "#test/support/seeded.ts";

const encryption = createEncryption(new Uint8Array(32), { bytes: (count) => new Uint8Array(count) });

const exportRows = (monitors: readonly StoredMonitor[], withSecrets = false) =>
  exportMonitors(encryption, monitors, withSecrets).rows;

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
    const [row = {}] = exportRows([monitor(1)]);
    expect(Object.keys(row).toSorted()).toEqual(Object.keys(defaultDraft("http", 1)).toSorted());
  });

  it("leaves secrets out and names them; header fields that are none stay", () => {
    const open = { Accept: "text/html", "accept-language": "de", "User-Agent": "probe", "Content-Type": "text/plain" };
    const request_headers = { Authorization: "Bearer s3cret", ...open, "X-Accept": "s3cret" };
    const secrets = sealSecrets(encryption, { request_headers, body: "s3cret" });
    const rows = exportRows([monitor(1, { secrets }), monitor(2)]);
    expect(rows[0]).toMatchObject({
      request_headers: open,
      body: null,
      secrets_missing: ["request_headers.Authorization", "request_headers.X-Accept", "body"],
    });
    expect(JSON.stringify(rows)).not.toContain("s3cret");
    expect(rows[1]).not.toHaveProperty("secrets_missing");
    const [whole] = exportRows([monitor(1, { secrets })], true);
    expect(whole).toMatchObject({ request_headers, body: "s3cret" });
    expect(whole).not.toHaveProperty("secrets_missing");
  });

  it("is active if only the plan paused the monitor", () => {
    const rows = exportRows([monitor(1, { isActive: false, pausedReason: "plan" }), monitor(2, { isActive: false })]);
    expect(rows.map((row) => row.is_active)).toEqual([true, false]);
  });

  it("names the row on which it depends", () => {
    const rows = exportRows([monitor(1), monitor(2, { dependsOn: 1 })]);
    expect(rows.map((row) => row.depends_on)).toEqual([null, "monitor 1"]);
  });

  it("keeps its name unless an older monitor has it", () => {
    const same = "a".repeat(200);
    const rows = exportRows([
      monitor(1, { name: same }),
      monitor(2, { name: same }),
      monitor(3, { name: "b", dependsOn: 1 }),
      monitor(4, { name: "b" }),
    ]);
    expect(rows.map((row) => row.name)).toEqual([same, `${"a".repeat(196)} (2)`, "b", "b (4)"]);
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
      const rows = exportRows(monitors);
      expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
      for (const [index, row] of rows.entries()) {
        if (row.depends_on === null) continue;
        const named = rows.flatMap(({ name }, at) => (name === row.depends_on ? [at + 1] : []));
        expect(named).toEqual([monitors[index]?.dependsOn]);
      }
    }
  });
});
