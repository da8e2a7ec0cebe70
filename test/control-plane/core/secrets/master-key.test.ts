import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect } from "#control-plane/core/database/connect.ts";
import { checkMasterKey, readMasterKey, WrongMasterKey } from "#control-plane/core/secrets/master-key.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { systemRandom } from "#test/support/clock.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "master-key-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

describe("the file of the master key", () => {
  it("is created once, readable only by its owner, and read from then on", () => {
    const data = join(folder, "data");
    const key = readMasterKey(null, data, systemRandom);
    const file = join(data, "master-key");
    expect(key).toHaveLength(32);
    expect(readFileSync(file, "utf8")).toBe(`${Buffer.from(key).toString("base64")}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readMasterKey(null, data, systemRandom)).toEqual(Buffer.from(key));
    expect(readdirSync(data)).toEqual(["master-key"]);
  });

  it("is not needed if the setting contains the key", () => {
    const key = Buffer.alloc(32, 3);
    expect(readMasterKey(key, folder, systemRandom)).toBe(key);
    expect(existsSync(join(folder, "master-key"))).toBe(false);
  });

  it("is never replaced, regardless of its content", () => {
    for (const damaged of ["", "short", Buffer.alloc(31).toString("base64"), Buffer.alloc(33).toString("base64")]) {
      writeFileSync(join(folder, "master-key"), damaged);
      expect(() => readMasterKey(null, folder, systemRandom)).toThrow(WrongMasterKey);
      expect(readFileSync(join(folder, "master-key"), "utf8")).toBe(damaged);
    }
  });
});

describe("the database", () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createTestDatabase();
  });

  afterEach(() => database.drop());

  it("accepts the first key, of several concurrent ones exactly one, and no other key later", async () => {
    const sql = connect(database.url, { name: "test", connections: 4, statementTimeoutMs: 10_000 });
    const keys = Array.from({ length: 4 }, (_, index) => Buffer.alloc(32, index));
    const came = await Promise.allSettled(keys.map((key) => checkMasterKey(sql, key)));
    expect(came.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const kept = keys[came.findIndex(({ status }) => status === "fulfilled")]!;
    await checkMasterKey(sql, kept);
    await expect(checkMasterKey(sql, Buffer.alloc(32, 9))).rejects.toThrow(WrongMasterKey);
    await sql.end();
  });

  it("prevents a control plane with another key from starting, which prints one line about it", async () => {
    const sql = connect(database.url, { name: "test", connections: 1, statementTimeoutMs: 10_000 });
    await checkMasterKey(sql, Buffer.alloc(32, 1));
    await sql.end();
    const started = spawn(process.execPath, [join(ROOT, "control-plane/main.ts")], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        DATABASE_URL: database.url,
        VANTAGE_MASTER_KEY: Buffer.alloc(32, 2).toString("base64"),
      },
      stdio: ["ignore", "ignore", "pipe"],
      timeout: 240_000,
    });
    const [words, [code]] = await Promise.all([text(started.stderr), once(started, "exit") as Promise<[number]>]);
    expect(code).toBe(1);
    expect(words).toMatch(/^vantage control-plane: VANTAGE_MASTER_KEY [^\n]+\n$/);
  });
});
