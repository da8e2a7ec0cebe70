import { readNetworkOwner, readPlace } from "#probe-agent/analysis/registry/geo.ts";
import type { Opened } from "#probe-agent/data/opened.ts";
import type { DataPort, DatabaseInfo } from "#probe-agent/toolkit/data.ts";
import { readFileSync, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { Reader, type Response } from "maxmind";

/** Lookups in the operator's databases of places and networks. */
type PlacesData = Pick<DataPort, "geo" | "asn">;

/** Opens the configured files. Lookups return null if a file is not configured. */
export function openPlaces(
  files: { readonly geoDb: string | null; readonly asnDb: string | null },
  warn: (line: string) => void,
): Opened<PlacesData> {
  const geo = files.geoDb === null ? null : openMmdb("VANTAGE_GEO_DB", files.geoDb, { warn });
  if (geo?.ok === false) return geo;
  const asn = files.asnDb === null ? null : openMmdb("VANTAGE_ASN_DB", files.asnDb, { warn });
  if (asn?.ok === false) return asn;
  return {
    ok: true,
    data: {
      geo: (ip) =>
        geo === null ? null : { database: geo.data.info(), place: readPlace(geo.data.find(ip)?.record ?? null) },
      asn(ip) {
        if (asn === null) return null;
        const found = asn.data.find(ip);
        const owner = readNetworkOwner(found?.record ?? null);
        return { database: asn.data.info(), owner, prefix: owner === null ? null : (found?.prefix ?? null) };
      },
    },
  };
}

/** An operator's .mmdb file, reloaded when it changes. */
export interface Mmdb {
  info(): DatabaseInfo;
  /** Returns the record of an address and the length of its prefix; null if the database has none. */
  find(ip: string): { readonly record: unknown; readonly prefix: number } | null;
  close(): void;
}

/** Options of openMmdb. */
interface MmdbOptions {
  /** Interval between two checks of the file, in milliseconds. Default: 10,000. */
  readonly everyMs?: number;
  /** Called once for each change of the file that cannot be used. */
  readonly warn?: (line: string) => void;
}

const CHECK_EVERY_MS = 10_000;
/** City databases have about 100 MB. */
const MAX_FILE_BYTES = 1024 ** 3;
/** Looked up before a file is accepted, to detect a broken tree. */
const PROBES = ["1.1.1.1", "8.8.8.8", "192.0.2.1", "255.255.255.255", "2001:4860:4860::8888", "ffff::"];

/**
 * Opens a database in MaxMind's DB format (version 2) and reads it again after the file has changed. A change that
 * cannot be used is reported by `warn`, and the previous database stays in use. The error line of a failed start begins
 * with `variable`.
 */
export function openMmdb(variable: string, path: string, options: MmdbOptions = {}): Opened<Mmdb> {
  const { everyMs = CHECK_EVERY_MS, warn = () => {} } = options;
  let seen: string;
  let current: Reader<Response>;
  try {
    const facts = statSync(path);
    seen = stampOf(facts);
    if (facts.size > MAX_FILE_BYTES) throw new Error("the file is larger than 1 GB");
    current = readDatabase(readFileSync(path));
  } catch (error) {
    return { ok: false, line: `${variable} ${path}: ${describeError(error)}` };
  }

  async function reloadIfChanged(): Promise<void> {
    const facts = await stat(path);
    const stamp = stampOf(facts);
    if (stamp === seen) return;
    // Also noted for a file that cannot be used, so that it is reported once. The next attempt follows the next change.
    seen = stamp;
    if (facts.size > MAX_FILE_BYTES) throw new Error("the file is larger than 1 GB");
    current = readDatabase(await readFile(path));
  }

  let gone = false;
  let reloading = false;
  const timer = setInterval(() => {
    if (reloading) return;
    reloading = true;
    reloadIfChanged()
      .then(() => (gone = false))
      .catch((error: NodeJS.ErrnoException) => {
        // A missing file is reported once; its return counts as a change.
        if (error.code === "ENOENT" && gone) return;
        gone = error.code === "ENOENT";
        warn(`${variable} ${path}: ${describeError(error)}; the previous database stays in use`);
      })
      .finally(() => (reloading = false));
  }, everyMs);
  timer.unref();

  return {
    ok: true,
    data: {
      info: () => infoOf(current),
      find: (ip) => find(current, ip),
      close: () => clearInterval(timer),
    },
  };
}

/** The format has its metadata after this marker, in the last 128 KiB of the file. */
const MARKER = Buffer.from("\u00ab\u00cd\u00efMaxMind.com", "latin1");
const TAIL_BYTES = 128 * 1024;

/** Parses a database. Throws if the file is not in this format. */
function readDatabase(bytes: Buffer): Reader<Response> {
  // Checked first because the library would search the whole file octet by octet.
  if (!bytes.subarray(-TAIL_BYTES).includes(MARKER)) throw new Error("is not a MaxMind DB file, or is incomplete");
  const reader = new Reader<Response>(bytes);
  const { binaryFormatMajorVersion: version, databaseType, buildEpoch, ipVersion, nodeCount } = reader.metadata;
  if (version !== 2) throw new Error(`format version ${String(version)} is not supported`);
  const complete = typeof databaseType === "string" && (ipVersion === 4 || ipVersion === 6) && nodeCount > 0;
  if (!complete || Number.isNaN(buildEpoch.getTime())) throw new Error("the description of the database is incomplete");
  for (const ip of PROBES) if (ipVersion === 6 || isIP(ip) === 4) reader.get(ip);
  return reader;
}

function find(reader: Reader<Response>, ip: string): ReturnType<Mmdb["find"]> {
  const version = isIP(ip);
  // The reader would reloadIfChanged up an IPv6 address in an IPv4 tree and find another address's record.
  if (version === 0 || (version === 6 && reader.metadata.ipVersion === 4)) return null;
  try {
    const [record, prefix] = reader.getWithPrefixLength(ip);
    return record === null ? null : { record, prefix };
  } catch {
    return null; // the record is beyond the end of the file
  }
}

function infoOf({ metadata }: Reader<Response>): DatabaseInfo {
  return {
    source: metadata.databaseType.slice(0, 100),
    build_epoch: Math.floor(metadata.buildEpoch.getTime() / 1000),
    licence: null,
  };
}

function describeError(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  // The library's message for a file that lacks the format's marker or is truncated.
  return /cannot parse|out of range|Unknown type|Unsupported record|undefined/i.test(words)
    ? "is not a MaxMind DB file, or is incomplete"
    : words.slice(0, 200);
}

/**
 * Returns a value that changes with the file. Editors replace a file by another one within one tick of a coarse clock,
 * so size and inode are part of it.
 */
function stampOf({ mtimeMs, size, ino }: { mtimeMs: number; size: number; ino: number }): string {
  return `${mtimeMs}/${size}/${ino}`;
}
