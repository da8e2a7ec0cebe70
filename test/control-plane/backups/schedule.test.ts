import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, describe, expect, it } from "vitest";
import { createRunner } from "#control-plane/backups/schedule/runner.ts";
import { openSchedule } from "#control-plane/backups/schedule/schedule.ts";
import {
  backupDirectory,
  COMMAND_ENTRY,
  commandEnvironment,
  runCommand,
  storeSmallService,
} from "#test/support/backups.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { liveTimers } from "#test/support/timers.ts";

const root = backupDirectory();
const database = await stopAfterAll(openDatabase({ connections: 4 }));
const { sql } = database;
await storeSmallService(sql);
const START = new Date("2026-03-01T12:30:00Z");
const HOUR_MS = 3_600_000;
const INSTALLATION = "AAAAAAAAAAAA";

const opened: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const schedule of opened.splice(0)) await schedule.stop();
  await sql`delete from backups`;
});

/** Opens the schedule of a replica that backs up every hour into a new directory. */
function open(name: string, { clock = createManualClock(START), keep = 7 } = {}) {
  const directory = join(root, name);
  mkdirSync(directory, { recursive: true });
  const registry = new Registry();
  const schedule = openSchedule({
    sql,
    clock,
    timers: liveTimers,
    log: pino({ level: "silent" }),
    registry,
    installation: INSTALLATION,
    backups: { directory, schedule: "0 * * * *", keep, passphraseFile: null },
    runBackup: createRunner(COMMAND_ENTRY, [], commandEnvironment(database.url)),
  });
  opened.push(schedule);
  const list = () => readdirSync(directory).toSorted();
  const trouble = () => schedule.findTrouble(sql, clock.now());
  return { ...schedule, clock, directory, registry, list, trouble };
}

describe("backups by schedule", () => {
  it("begin at once, and then whenever one is due, one by all replicas", async () => {
    const one = open("times");
    const other = open("times", { clock: one.clock });
    await Promise.all([one.refresh(), other.refresh()]);
    expect(one.list()).toEqual([`vantage-${INSTALLATION}-20260301T123000Z.tar`]);
    one.clock.advance(HOUR_MS / 2 - 1_000);
    await one.refresh();
    expect(one.list()).toHaveLength(1);
    one.clock.advance(1_000);
    await Promise.all([other.refresh(), one.refresh()]);
    expect(one.list().slice(1)).toEqual([`vantage-${INSTALLATION}-20260301T130000Z.tar`]);
    expect(await one.trouble()).toBeNull();
    const file = join(one.directory, one.list()[1] ?? "");
    expect(await runCommand(database.url, ["restore", file, "--dry-run"])).toMatchObject({ status: 0 });
  });

  it("are made up for once after a time without any replica", async () => {
    const { refresh, clock, list } = open("late");
    await refresh();
    clock.advance(9 * HOUR_MS);
    await refresh();
    await refresh();
    expect(list()).toHaveLength(2);
  });

  it("are kept in their number, and files of others stay", async () => {
    const { refresh, clock, list, directory } = open("kept", { keep: 2 });
    const others = ["vantage-BBBBBBBBBBBB-20200101T000000Z.tar", "notes.tar", `vantage-${INSTALLATION}-2020.tar`];
    for (const name of others) writeFileSync(join(directory, name), "");
    writeFileSync(join(directory, `vantage-${INSTALLATION}-20200101T000000Z.tar.0123456789ab.partial`), "");
    for (let count = 0; count < 4; count += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await refresh();
      clock.advance(HOUR_MS);
    }
    const kept = ["143000", "153000"].map((time) => `vantage-${INSTALLATION}-20260301T${time}Z.tar`);
    expect(list()).toEqual([...others, ...kept].toSorted());
  });

  it("that fail say why, and are old after two periods; the age is that of the newest good one", async () => {
    const { refresh, clock, trouble, registry } = open("failing");
    await refresh();
    clock.advance(HOUR_MS);
    expect(await registry.metrics()).toContain("vantage_backup_age_seconds 3600");
    const nowhere = open("gone", { clock });
    rmSync(nowhere.directory, { recursive: true });
    await nowhere.refresh();
    expect(await trouble()).toMatch(
      /^The last backup failed: .* cannot be written \(ENOENT\)\. The newest one is of 2026-03-01T12:30/,
    );
    await sql`delete from backups where error is not null`;
    expect(await trouble()).toBeNull();
    clock.advance(HOUR_MS);
    expect(await trouble()).toMatch(/^No backup is younger than two periods/);
  });
});

it("a service makes backups in a process of its own, and warns of one that failed", async () => {
  const directory = join(root, "service");
  mkdirSync(directory);
  const settings = { VANTAGE_BACKUP_DIR: directory, VANTAGE_BACKUP_SCHEDULE: "0 0 1 1 *" };
  const service = await startControlPlaneProcess(database.url, { settings });
  try {
    await expect
      .poll(() => readdirSync(directory))
      .toEqual([expect.stringMatching(/^vantage-A{12}-\d{8}T\d{6}Z\.tar$/)]);
    await expect
      .poll(() => sql`select bytes, error from backups`)
      .toEqual([{ bytes: expect.any(Number), error: null }]);
    await sql`update backups set error = 'the disk is full'`;
    await expect
      .poll(async () => (await service.operate("GET", "/api/admin/warnings")).body.data)
      .toContainEqual(
        expect.objectContaining({ code: "backup_old", message: expect.stringContaining("the disk is full") }),
      );
  } finally {
    await service.end("SIGTERM");
  }
});
