import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, lstatSync, readlinkSync, type Stats } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

/** What an archive is made of. Its bytes depend on nothing else but the files' contents and whether they are programs. */
export interface Archive {
  /** Folder that contains everything in the archive. */
  readonly name: string;
  /** Time of all files, Unix seconds. */
  readonly time: number;
  /** Paths of files and symbolic links below that folder, sorted. */
  readonly files: readonly string[];
  /** Returns where the file of a path is. */
  readonly sourceOf: (path: string) => string;
}

/** Tar reads and writes blocks of this size. */
const BLOCK = 512;
/** Longest name of a header, and the longest folder before it (POSIX.1-2008, pax, ustar). */
const LONGEST = { name: 100, prefix: 155 };

type Type = "file" | "folder" | "link";
const FLAGS: Readonly<Record<Type, string>> = { file: "0", link: "2", folder: "5" };

/** Writes a .tar.gz: owned by root, with one time for all. Level 9 takes twice as long for 0.4 %. */
export async function writeArchive(archive: Archive, path: string): Promise<void> {
  await pipeline(blocksOf(archive), createGzip({ level: 6 }), createWriteStream(path));
}

/** Returns the SHA-256 of a file, in hexadecimal. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

async function* blocksOf({ name, time, files, sourceOf }: Archive): AsyncGenerator<Buffer> {
  const folders = new Set<string>();
  for (const file of files) {
    const path = `${name}/${file}`;
    for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) {
      const folder = path.slice(0, end + 1);
      if (!folders.has(folder))
        yield headerOf({ path: folder, type: "folder", mode: 0o755, size: 0, time, target: "" });
      folders.add(folder);
    }
    const source = sourceOf(file);
    const stats = lstatSync(source);
    if (stats.isSymbolicLink()) {
      yield headerOf({ path, type: "link", mode: 0o777, size: 0, time, target: readlinkSync(source) });
      continue;
    }
    yield headerOf({ path, type: "file", mode: modeOf(stats), size: stats.size, time, target: "" });
    let size = 0;
    for await (const chunk of createReadStream(source)) {
      size += (chunk as Buffer).length;
      yield chunk as Buffer;
    }
    if (size !== stats.size) throw new Error(`${source} has changed while it was read`);
    yield Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
  }
  yield Buffer.alloc(2 * BLOCK);
}

/** A clone and an installation can have other modes: they follow the umask of who made it. */
function modeOf({ mode }: Stats): number {
  return (mode & 0o100) === 0 ? 0o644 : 0o755;
}

interface Header {
  readonly path: string;
  readonly type: Type;
  readonly mode: number;
  readonly size: number;
  readonly time: number;
  readonly target: string;
}

function headerOf({ path, type, mode, size, time, target }: Header): Buffer {
  const header = Buffer.alloc(BLOCK);
  const [prefix, name] = split(path);
  if (Buffer.byteLength(target) > LONGEST.name) throw new RangeError(`${path} leads to a path that is too long`);
  const octal = (value: number, at: number, length: number): void => {
    header.write(value.toString(8).padStart(length - 1, "0"), at, "latin1");
  };
  header.write(name, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(time, 136, 12);
  // The sum counts itself as spaces.
  header.fill(" ", 148, 156);
  header.write(FLAGS[type], 156);
  header.write(target, 157);
  header.write("ustar\u000000", 257);
  header.write(prefix, 345);
  octal(
    header.reduce((sum, octet) => sum + octet, 0),
    148,
    7,
  );
  header[154] = 0;
  return header;
}

/** Divides a path at a slash so that both parts fit into a header. */
function split(path: string): readonly [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= LONGEST.name) return ["", path];
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) {
    const [prefix, name] = [path.slice(0, end), path.slice(end + 1)];
    if (Buffer.byteLength(prefix) > LONGEST.prefix) break;
    if (name !== "" && Buffer.byteLength(name) <= LONGEST.name) return [prefix, name];
  }
  throw new RangeError(`${path} is too long for an archive`);
}
