import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { startCluster } from "#shared/client/up/postgres/cluster.ts";
import { serverSettings, usableMemory } from "#shared/client/up/postgres/settings.ts";

const MB = 2 ** 20;

test.each([
  [256 * MB, { shared_buffers: "16MB", maintenance_work_mem: "16MB", work_mem: "1MB", effective_cache_size: "128MB" }],
  [
    1_024 * MB,
    { shared_buffers: "16MB", maintenance_work_mem: "16MB", work_mem: "4MB", effective_cache_size: "512MB" },
  ],
  [
    3_000 * MB,
    { shared_buffers: "46MB", maintenance_work_mem: "46MB", work_mem: "4MB", effective_cache_size: "1500MB" },
  ],
  [
    8_192 * MB,
    { shared_buffers: "128MB", maintenance_work_mem: "64MB", work_mem: "4MB", effective_cache_size: "4096MB" },
  ],
  [
    65_536 * MB,
    { shared_buffers: "128MB", maintenance_work_mem: "64MB", work_mem: "4MB", effective_cache_size: "4096MB" },
  ],
])("memory of %i octets", (memory, expected) => {
  expect(serverSettings(memory)).toMatchObject(expected);
});

test.each([
  [8_192 * MB, 256 * MB, 256 * MB],
  [8_192 * MB, 0, 8_192 * MB],
  [8_192 * MB, 2 ** 64, 8_192 * MB],
])("a machine of %i octets with a limit of %i", (total, limit, expected) => {
  expect(usableMemory(total, limit)).toBe(expected);
});

test("a server starts with the parameters of little memory, loses nothing of what it confirmed, and has no idle readers", async () => {
  const root = mkdtempSync(join(tmpdir(), "vantage-test-"));
  // Under root the server runs as nobody, which must be able to enter.
  chmodSync(root, 0o711);
  const started = await startCluster({
    root: join(root, "postgres"),
    settings: serverSettings(256 * MB),
    initdb: ["--no-sync"],
  });
  if (!started.ok) throw new Error(started.line);
  const sql = postgres(started.cluster.url("postgres"), { max: 1 });
  onTestFinished(async () => {
    await sql.end();
    await started.cluster.stop();
    rmSync(root, { recursive: true, force: true });
  });
  const rows = await sql<{ name: string; value: string }[]>`
    select name, current_setting(name) as value from pg_settings
    where name in ('shared_buffers', 'max_connections', 'fsync', 'full_page_writes', 'synchronous_commit')`;
  expect(Object.fromEntries(rows.map(({ name, value }) => [name, value]))).toEqual({
    shared_buffers: "16MB",
    max_connections: "60",
    fsync: "on",
    full_page_writes: "on",
    synchronous_commit: "on",
  });
  const processes = await sql<{ type: string }[]>`
    select backend_type as type from pg_stat_activity where backend_type <> 'client backend' order by 1`;
  expect(processes.map(({ type }) => type)).toEqual([
    "autovacuum launcher",
    "background writer",
    "checkpointer",
    "walwriter",
  ]);
});
