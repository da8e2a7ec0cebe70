import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { connectListener } from "#control-plane/core/database/connect.ts";
import {
  COMMAND_ENTRY,
  commandEnvironment,
  backupDirectory,
  digestTables,
  runCommand,
  startCommand,
  storeSmallService,
  writeBackup,
} from "#test/support/backups.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const directory = backupDirectory();
const source = await stopAfterAll(openDatabase({ connections: 1 }));
await storeSmallService(source.sql);
await source.sql`
  insert into observations (ip, host, account_id, first_seen, last_seen)
  select '192.0.2.' || n % 250, 'host-' || n, 0, now(), now() from generate_series(1, 5000) as n`;
const target = await stopAfterAll(openDatabase({ connections: 1 }));
await storeSmallService(target.sql);
await target.sql`update accounts set email = 'kept@example.com'`;
const kept = await digestTables(target.sql);

const passphraseFile = store("passphrase", "correct horse\n");
const plain = join(directory, "plain.tar");
const encrypted = join(directory, "encrypted.tar.age");
await writeBackup(source.url, plain);
await writeBackup(source.url, encrypted, passphraseFile);
const plainBytes = readFileSync(plain);
const encryptedBytes = readFileSync(encrypted);

afterEach(async () => {
  // oxlint-disable-next-line no-standalone-expect -- every refusal leaves the data as they are
  expect(await digestTables(target.sql)).toEqual(kept);
});

/** Stores a file in the directory of this test file. */
function store(name: string, content: string | Uint8Array): string {
  const file = join(directory, name);
  writeFileSync(file, content);
  return file;
}

/** Returns the bytes with one of them changed. */
function changed(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** Restores a file into the database that has data. */
function restore(file: string, ...words: readonly string[]) {
  return runCommand(target.url, ["restore", file, ...words], { passphraseFile });
}

describe("the file", () => {
  it.each([
    ["that is missing", null, /missing cannot be read \(ENOENT\)/],
    ["that is empty", "", /is not a backup/],
    ["of text", "text\n".repeat(1_000), /is not a backup/],
    ["of a program", readFileSync(process.execPath).subarray(0, 10_000), /is not a backup/],
  ])("%s is no backup", async (_what, content, line) => {
    const file = content === null ? join(directory, "missing") : store("foreign", content);
    expect(await restore(file, "--yes")).toEqual({ status: 2, line: expect.stringMatching(line) });
  });

  it("that is an archive of something else is no backup", async () => {
    const file = join(directory, "other.tar");
    execFileSync("tar", ["-cf", file, "-C", directory, "passphrase"]);
    expect(await restore(file, "--yes")).toEqual({ status: 2, line: expect.stringContaining("is not manifest.json") });
  });

  it.each([0.2, 0.5, 0.99])("that is cut off after %d of its length is truncated", async (part) => {
    for (const bytes of [plainBytes, encryptedBytes]) {
      const file = store("truncated", bytes.subarray(0, Math.floor(bytes.length * part)));
      // oxlint-disable-next-line no-await-in-loop -- one database
      expect(await restore(file, "--yes")).toEqual({ status: 5, line: expect.stringContaining("truncated") });
    }
  });

  it("that lacks its last bytes, or its last chunk of age, is truncated", async () => {
    const withoutEnd = store("truncated", plainBytes.subarray(0, -512));
    expect(await restore(withoutEnd, "--yes")).toEqual({ status: 5, line: expect.stringContaining("truncated") });
    const header = encryptedBytes.indexOf("\n", encryptedBytes.indexOf("---")) + 1 + 16;
    const chunks = store("truncated", encryptedBytes.subarray(0, header + 3 * (65_536 + 16)));
    expect(await restore(chunks, "--yes")).toEqual({ status: 5, line: expect.stringContaining("truncated") });
  });

  it("that was changed is damaged, wherever that is", async () => {
    const row = changed(plainBytes, plainBytes.indexOf("host-2500"));
    const header = changed(plainBytes, plainBytes.indexOf("tables/observations.copy", plainBytes.indexOf("}\n")));
    const chunk = changed(encryptedBytes, Math.floor(encryptedBytes.length / 2));
    const mac = changed(encryptedBytes, encryptedBytes.indexOf("---") + 10);
    for (const bytes of [row, header, chunk, mac, Buffer.concat([plainBytes, Buffer.from("x")])]) {
      // oxlint-disable-next-line no-await-in-loop -- one database
      const { status, line } = await restore(store("damaged", bytes), "--yes");
      expect([status, line]).toEqual([5, expect.stringContaining("the backup is damaged")]);
    }
  });

  it("of a newer release, or of another format, needs that release", async () => {
    const newer = plainBytes.toString("latin1").replace(/"migration": \d\d,/, '"migration": 99,');
    expect(await restore(store("newer", Buffer.from(newer, "latin1")), "--yes")).toEqual({
      status: 5,
      line: expect.stringContaining("newer release (0.1.0, migration 99)"),
    });
    const format = plainBytes.toString("latin1").replace('"format": 1', '"format": 2');
    expect(await restore(store("newer", Buffer.from(format, "latin1")), "--yes")).toEqual({
      status: 5,
      line: expect.stringContaining("format 2"),
    });
  });

  it("names no table that this release does not know", async () => {
    const other = plainBytes.toString("latin1").replace('"name": "observations"', '"name": "observation!"');
    expect(await restore(store("other", Buffer.from(other, "latin1")), "--yes")).toMatchObject({ status: 2 });
  });

  it("needs its passphrase and its master key", async () => {
    const wrong = store("wrong", "incorrect horse\n");
    const words = ["restore", encrypted, "--yes"] as const;
    expect(await runCommand(target.url, words, { passphraseFile: wrong })).toMatchObject({ status: 4 });
    expect(await runCommand(target.url, words)).toEqual({ status: 4, line: expect.stringContaining("is encrypted") });
    const masterKey = Buffer.alloc(32, 7);
    const withKey = await runCommand(target.url, words, { passphraseFile, masterKey });
    expect(withKey).toEqual({ status: 4, line: expect.stringContaining("the master key is not that of the backup") });
  });
});

describe("the database", () => {
  it("with data is replaced only with --yes", async () => {
    expect(await restore(plain)).toEqual({ status: 2, line: expect.stringContaining("--yes") });
  });

  it("is not changed by a rehearsal, which reads the whole file", async () => {
    expect(await restore(encrypted, "--dry-run")).toEqual({ status: 0, line: expect.stringContaining("5005 rows") });
    const row = changed(plainBytes, plainBytes.indexOf("host-2500"));
    expect(await restore(store("damaged", row), "--dry-run")).toMatchObject({ status: 5 });
  });

  it("of a service that runs is not touched, nor that of one that rests, which has only connections", async () => {
    const plane = await startControlPlane({ databaseUrl: target.url });
    expect(await restore(plain, "--yes")).toEqual({ status: 5, line: expect.stringContaining("vantage gate") });
    await plane.stop();
    const resting = connectListener(target.url, "vantage listener");
    await resting`select 1`;
    expect(await restore(plain, "--yes")).toEqual({
      status: 5,
      line: expect.stringContaining("in use by a running service (connections: vantage listener)"),
    });
    await resting.end();
    await target.sql.unsafe("drop schema pgboss cascade; delete from authority; delete from service_liveness");
  });

  it.each(["SIGKILL", "SIGTERM"] as const)("keeps its data if the restore ends by %s in the middle", async (signal) => {
    const pipe = join(directory, signal);
    execFileSync("mkfifo", [pipe]);
    const restoring = startCommand(target.url, ["restore", pipe, "--yes"]);
    const writing = createWriteStream(pipe);
    // The rest of the file never comes.
    await new Promise((resolve) => {
      writing.write(plainBytes.subarray(0, plainBytes.indexOf("host-2500")), resolve);
    });
    await expect
      .poll(() => target.sql`select 1 from pg_stat_progress_copy where datname = current_database()`)
      .toHaveLength(1);
    restoring.kill(signal);
    await once(restoring, "exit");
    writing.destroy();
    await expect
      .poll(() => target.sql`select 1 from pg_stat_activity where application_name = 'vantage restore'`)
      .toEqual([]);
  });
});

it.runIf(process.getuid?.() === 0)("a backup onto a full disk leaves nothing, and says so", () => {
  const disk = join(directory, "disk");
  mkdirSync(disk);
  const program = `"${process.execPath}" "${COMMAND_ENTRY}" backup "${disk}/x.tar" 2>&1; echo "status $?"; ls -A "${disk}"`;
  const script = `mount -t tmpfs -o size=128k none "${disk}" && { ${program}; }`;
  const env = commandEnvironment(source.url);
  const output = execFileSync("unshare", ["--mount", "sh", "-c", script], { env, encoding: "utf8" });
  expect(output).toBe(`vantage backup: the disk of ${disk}/x.tar is full\nstatus 5\n`);
});

it("a backup that cannot be written leaves nothing", async () => {
  const before = readdirSync(directory);
  const nowhere = await runCommand(source.url, ["backup", join(directory, "none", "x.tar")]);
  expect(nowhere).toEqual({ status: 5, line: expect.stringContaining("cannot be written (ENOENT)") });
  expect(await runCommand(source.url, ["backup", directory])).toMatchObject({ status: 5 });
  expect(await runCommand(source.url, ["backup"])).toMatchObject({ status: 2 });
  expect(readdirSync(directory)).toEqual(before);
});
