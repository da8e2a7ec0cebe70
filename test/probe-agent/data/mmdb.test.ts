import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "#probe-agent/config.ts";
import { openMmdb, type Mmdb } from "#probe-agent/data/places.ts";
import { openData } from "#probe-agent/data/open.ts";
import { writeMmdb, type MmdbContent } from "#test/support/mmdb.ts";

let folder: string;
const open: Mmdb[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "vantage-mmdb-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

afterEach(() => {
  for (const database of open.splice(0)) database.close();
});

function place(name: string, content: MmdbContent | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, Buffer.isBuffer(content) ? content : writeMmdb(content));
  return path;
}

function openAt(path: string, warn: (line: string) => void = () => {}): Mmdb {
  const opened = openMmdb("VANTAGE_GEO_DB", path, { everyMs: 20, warn });
  if (!opened.ok) throw new Error(opened.line);
  open.push(opened.data);
  return opened.data;
}

/**
 * Waits until files have been checked several times. Databases are checked at the same interval, each time one after the
 * other, so that changes that a younger one notices show how often an older one was checked.
 */
async function checkedAgain(): Promise<void> {
  const name = "beside.mmdb";
  const beside = openAt(place(name, { records: { "192.0.2.0/24": { change: 0 } } }));
  for (let change = 1; change <= 3; change += 1) {
    place(name, { records: { "192.0.2.0/24": { change, text: "x".repeat(change) } } });
    await expect.poll(() => beside.find("192.0.2.1")?.record).toMatchObject({ change });
  }
}

const RECORDS = {
  "192.0.2.0/24": { city: "documentation" },
  "198.51.100.7/32": { city: "one address", number: 7, share: -1.5, list: ["a", true, false] },
  "2001:db8::/32": { city: "v6", long: "x".repeat(1000) },
};

describe("an operator's database", () => {
  it.each([24, 28, 32] as const)("with records of %d bits finds the block that holds an address", (recordSize) => {
    const database = openAt(place(`size-${recordSize}.mmdb`, { records: RECORDS, recordSize }));
    expect(database.find("192.0.2.1")).toEqual({ record: RECORDS["192.0.2.0/24"], prefix: 24 });
    expect(database.find("198.51.100.7")).toEqual({ record: RECORDS["198.51.100.7/32"], prefix: 32 });
    expect(database.find("2001:db8:1::1")).toEqual({ record: RECORDS["2001:db8::/32"], prefix: 32 });
    expect([database.find("198.51.100.8"), database.find("2001:db9::1"), database.find("x")]).toEqual([
      null,
      null,
      null,
    ]);
  });

  it("with only IPv4 records finds no IPv6 address, even if its first octets match a record", () => {
    const database = openAt(place("v4.mmdb", { records: { "32.1.0.0/16": { city: "wrong" } }, ipVersion: 4 }));
    expect(database.find("32.1.2.3")).toEqual({ record: { city: "wrong" }, prefix: 16 });
    expect(database.find("2001:db8::1")).toBeNull();
  });

  it("returns its type and build time", () => {
    const database = openAt(place("info.mmdb", { records: RECORDS, type: "Test-City", buildEpoch: 1_732_183_200 }));
    expect(database.info()).toEqual({ source: "Test-City", build_epoch: 1_732_183_200, licence: null });
  });

  it("is reloaded when the file is replaced or rewritten", async () => {
    const path = place("changing.mmdb", { records: { "192.0.2.0/24": { city: "first" } } });
    const database = openAt(path);
    renameSync(
      place("next.mmdb", { records: { "192.0.2.0/24": { city: "second" } }, buildEpoch: 1_732_183_200 }),
      path,
    );
    await expect.poll(() => database.find("192.0.2.1")?.record).toEqual({ city: "second" });
    expect(database.info().build_epoch).toBe(1_732_183_200);
    place("changing.mmdb", { records: { "192.0.2.0/24": { city: "the third" } } });
    await expect.poll(() => database.find("192.0.2.1")?.record).toEqual({ city: "the third" });
  });

  it.each<[string, Buffer]>([
    ["empty", Buffer.alloc(0)],
    ["cut short", writeMmdb({ records: RECORDS }).subarray(0, 700)],
    ["something else", Buffer.from("<html>not a database</html>")],
    [
      "a marker with nothing behind",
      Buffer.concat([Buffer.alloc(64), Buffer.from("\u00ab\u00cd\u00efMaxMind.com", "latin1")]),
    ],
    ["octets", Buffer.from(Uint8Array.from({ length: 10_000 }, (_, n) => (n * 7919) % 256))],
  ])("stays in use after a broken change, which is reported once: %s", async (name, broken) => {
    const lines: string[] = [];
    const path = place(`broken-${name.replaceAll(" ", "-")}.mmdb`, { records: RECORDS });
    const database = openAt(path, (line) => lines.push(line));
    writeFileSync(path, broken);
    await expect.poll(() => lines.length).toBe(1);
    expect(lines[0]).toMatch(/^VANTAGE_GEO_DB .*stays in use$/);
    await checkedAgain();
    expect(lines).toHaveLength(1);
    expect(database.find("192.0.2.1")?.record).toEqual(RECORDS["192.0.2.0/24"]);
    writeFileSync(path, writeMmdb({ records: { "192.0.2.0/24": { city: "whole again" } } }));
    await expect.poll(() => database.find("192.0.2.1")?.record).toEqual({ city: "whole again" });
  });

  it("stays in use after its file was removed, which is reported once", async () => {
    const lines: string[] = [];
    const path = place("away.mmdb", { records: RECORDS });
    const database = openAt(path, (line) => lines.push(line));
    rmSync(path);
    await expect.poll(() => lines.length).toBe(1);
    await checkedAgain();
    expect(lines).toHaveLength(1);
    expect(database.find("192.0.2.1")).not.toBeNull();
  });
});

describe("the start of the agent", () => {
  it.each(["VANTAGE_GEO_DB", "VANTAGE_ASN_DB"])(
    "stops with one line that names %s if its file is not a database",
    (name) => {
      for (const path of [join(folder, "absent.mmdb"), place("text.mmdb", Buffer.from("text"))]) {
        const read = readConfig({ [name]: path });
        if (!read.ok) throw new Error(read.line);
        const opened = openData(read.config);
        expect(opened.ok ? "" : opened.line).toMatch(new RegExp(`^${name} .*\\.mmdb`));
        expect(opened.ok ? "" : opened.line).not.toContain("\n");
      }
    },
  );

  it("distinguishes a database that is not configured from an address that is not found", () => {
    const read = readConfig({
      VANTAGE_GEO_DB: place("geo.mmdb", { records: { "192.0.2.0/24": { city: { names: { en: "X" } } } } }),
    });
    if (!read.ok) throw new Error(read.line);
    const opened = openData(read.config);
    if (!opened.ok) throw new Error(opened.line);
    expect(opened.data.asn("192.0.2.1")).toBeNull();
    expect(opened.data.geo("192.0.2.1")?.place?.city).toBe("X");
    expect(opened.data.geo("192.0.3.1")).toMatchObject({ place: null, database: { source: "Test-City" } });
  });
});
