import { once } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectListener } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { createEncryption } from "#control-plane/core/secrets/encryption.ts";
import { checkMasterKey, makeKeyFile, openEncryption, readKeyFile } from "#control-plane/core/secrets/master-key.ts";
import { backupDirectory, runCommand, startCommand, storeSmallService } from "#test/support/backups.ts";
import { systemRandom } from "#test/support/clock.ts";
import { untilLockIsAwaited } from "#test/support/database-locks.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";
import { openDatabase, type OpenDatabase } from "#test/support/postgres.ts";

/** Sealed values, so that a batch ends before them and after them. */
const VALUES = 250;
const ROTATE = ["rotate", "master-key", "--yes"] as const;
const root = backupDirectory();
let database: OpenDatabase;
let dataDir = "";
let place = (name: string): string => name;

beforeEach(async () => {
  database = await openDatabase({ connections: 2 });
  dataDir = join(root, database.url.slice(database.url.lastIndexOf("/") + 1));
  place = (name) => join(dataDir, name);
  mkdirSync(dataDir);
  writeFileSync(place("master-key"), `${MASTER_KEY.toString("base64")}\n`, { mode: 0o600 });
  await storeSmallService(database.sql);
  await storeValues(VALUES);
});
afterEach(() => database.close());

/** Stores sealed texts, of which each has its number. */
async function storeValues(count: number): Promise<void> {
  const encryption = createEncryption(MASTER_KEY, systemRandom);
  const sealed = Array.from({ length: count }, (_, index) =>
    Buffer.from(encryption.seal(Buffer.from(String(index)), "requested_mails.sealed")).toString("hex"),
  );
  await database.sql`
    insert into requested_mails (purpose, recipient, sealed, requested_at, due_at)
    select 'reset', sha256('a'), decode(value, 'hex'), now(), now() from unnest(${sealed}::text[]) as value`;
}

/** Opens all of them with a key. Rejects if the key is not that of the database. */
async function readValues(key: Uint8Array | null): Promise<readonly (string | undefined)[]> {
  const encryption = await openEncryption(database.sql, key ?? new Uint8Array(), systemRandom);
  const rows = await database.sql<{ sealed: Uint8Array }[]>`select sealed from requested_mails order by id`;
  return rows.map(({ sealed }) => encryption.open(sealed, "requested_mails.sealed")?.toString());
}

const rotate = (...words: readonly string[]) =>
  runCommand(database.url, [...ROTATE, ...words], { masterKey: null, dataDir });
const all = Array.from({ length: VALUES }, (_, index) => String(index));

describe("the master key of a data directory", () => {
  it("is replaced, and the old one is kept beside it", async () => {
    expect(await rotate()).toEqual({
      status: 0,
      line:
        `Sealed ${VALUES} values again. The new key is in ${place("master-key")}. Backups of before need the old key, ` +
        `${place("master-key.old")}: keep it with them.`,
    });
    expect(readdirSync(dataDir).toSorted()).toEqual(["master-key", "master-key.old"]);
    expect(readKeyFile(place("master-key.old"))).toEqual(MASTER_KEY);
    expect(statSync(place("master-key")).mode & 0o777).toBe(0o600);
    expect(await readValues(readKeyFile(place("master-key")))).toEqual(all);
    await expect(checkMasterKey(database.sql, MASTER_KEY)).rejects.toThrow("is not the key of this database");
    expect(await rotate()).toEqual({ status: 5, line: expect.stringContaining("move it to a safe place") });
  });

  it("is replaced again and again, and its links go on until they are ended", async () => {
    const links = async () =>
      (await openEncryption(database.sql, readKeyFile(place("master-key"))!, systemRandom)).digest("1", "link");
    const first = await links();
    for (const words of [[], [], ["--end-links"]]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await rotate(...words)).toMatchObject({ status: 0 });
      rmSync(place("master-key.old"));
      // oxlint-disable-next-line no-await-in-loop -- as above
      expect(Buffer.from(await links()).equals(first)).toBe(words.length === 0);
    }
    expect(await readValues(readKeyFile(place("master-key")))).toEqual(all);
  });

  it("stays where a value was damaged, which stays too", async () => {
    await database.sql`update requested_mails set sealed = '\\x01' where id = (select min(id) from requested_mails)`;
    const { status, line } = await rotate();
    expect([status, line]).toEqual([
      0,
      expect.stringContaining(`${VALUES - 1} values again (damaged before, and left as they were: 1)`),
    ]);
    expect(await readValues(readKeyFile(place("master-key")))).toEqual([undefined, ...all.slice(1)]);
  });

  it("is that of before if the rotation is killed in its transaction, and run again it uses the same next key", async () => {
    const held = Promise.withResolvers<void>();
    const isHeld = Promise.withResolvers<void>();
    const holding = transact(database.sql, async (tx) => {
      await tx`select from requested_mails order by id desc limit 1 for update`;
      isHeld.resolve();
      await held.promise;
    });
    await isHeld.promise;
    const rotating = startCommand(database.url, ROTATE, { VANTAGE_MASTER_KEY: undefined, VANTAGE_DATA_DIR: dataDir });
    await untilLockIsAwaited(database.sql);
    // A control plane that starts now has to wait for the end.
    await expect(checkMasterKey(database.sql, MASTER_KEY)).rejects.toThrow("is being rotated");
    rotating.kill("SIGKILL");
    await once(rotating, "exit");
    held.resolve();
    await holding;
    await expect
      .poll(() => database.sql`select 1 from pg_stat_activity where application_name = 'vantage rotate'`)
      .toEqual([]);
    expect(await readValues(MASTER_KEY)).toEqual(all);
    const next = readFileSync(place("master-key.next"), "utf8");
    expect(await rotate()).toMatchObject({ status: 0 });
    expect(readFileSync(place("master-key"), "utf8")).toBe(next);
    expect(await readValues(readKeyFile(place("master-key")))).toEqual(all);
  });

  it.each(["before the old key was kept", "before the new key was in its place"])(
    "is replaced by the next run if the first was killed after its transaction, %s",
    async (moment) => {
      expect(await rotate()).toMatchObject({ status: 0 });
      renameSync(place("master-key"), place("master-key.next"));
      copyFileSync(place("master-key.old"), place("master-key"));
      if (moment.includes("kept")) rmSync(place("master-key.old"));
      await expect(readValues(readKeyFile(place("master-key")))).rejects.toThrow("`deploy/vantage rotate master-key`");
      const { status, line } = await rotate();
      expect([status, line]).toEqual([0, expect.stringContaining("has the new master key already")]);
      expect(readdirSync(dataDir).toSorted()).toEqual(["master-key", "master-key.old"]);
      expect(readKeyFile(place("master-key.old"))).toEqual(MASTER_KEY);
      expect(await readValues(readKeyFile(place("master-key")))).toEqual(all);
    },
  );

  it("stays where nobody has confirmed, a service uses the database, or the key is another one", async () => {
    const given = { masterKey: null, dataDir };
    const refused = await runCommand(database.url, ["rotate", "master-key"], given);
    expect(refused).toEqual({ status: 2, line: expect.stringContaining("--yes") });
    expect(await rotate("--new-key-file=x")).toMatchObject({ status: 2 });
    expect(await runCommand(database.url, ["rotate", "probe-key", "--yes"], given)).toMatchObject({ status: 2 });
    const resting = connectListener(database.url, "vantage listener");
    await resting`select 1`;
    expect(await rotate()).toEqual({ status: 5, line: expect.stringContaining("connections: vantage listener") });
    await resting.end();
    await database.sql`update schema_migrations set number = 9000 where number = 1`;
    expect(await rotate()).toEqual({ status: 5, line: expect.stringContaining("update Vantage") });
    await database.sql`update schema_migrations set number = 1 where number = 9000`;
    rmSync(place("master-key"));
    expect(await rotate()).toMatchObject({ status: 4 });
    makeKeyFile(place("master-key"), systemRandom);
    expect(await rotate()).toMatchObject({ status: 4 });
    expect(await readValues(MASTER_KEY)).toEqual(all);
  });
});

it("a master key of the environment gets a successor in a file, and either of them may run it again", async () => {
  const file = place("new-key");
  const words = [...ROTATE, `--new-key-file=${file}`] as const;
  expect(await runCommand(database.url, ROTATE)).toEqual({
    status: 2,
    line: expect.stringContaining("--new-key-file"),
  });
  expect(await runCommand(database.url, words)).toEqual({
    status: 0,
    line: expect.stringContaining(`Set VANTAGE_MASTER_KEY to the key in ${file} on every replica`),
  });
  const key = readKeyFile(file);
  expect(await readValues(key)).toEqual(all);
  for (const masterKey of [MASTER_KEY, key]) {
    // oxlint-disable-next-line no-await-in-loop -- one database
    const { status, line } = await runCommand(database.url, words, { masterKey });
    expect([status, line]).toEqual([0, expect.stringContaining("has the new master key already")]);
  }
});
