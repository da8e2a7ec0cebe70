// Archives in the ustar format (POSIX.1-2008, pax). Sizes from 8 GiB on are binary, as GNU tar, bsdtar and Python write and
// read them.

/** Bytes of a block. */
export const TAR_BLOCK = 512;
/** Longest name of a header, and the longest folder before it, in bytes. */
const LONGEST = { name: 100, prefix: 155 };
/** Sizes in octal have 11 digits. */
const MOST_OCTAL = 8 ** 11 - 1;

type Type = "file" | "folder" | "link";
const FLAGS: Readonly<Record<Type, string>> = { file: "0", link: "2", folder: "5" };

/** A file, folder or symbolic link of an archive. */
interface TarEntry {
  /** That of a folder ends with a slash. */
  readonly path: string;
  readonly type: Type;
  readonly mode: number;
  /** Bytes of a file; else 0. */
  readonly size: number;
  /** When it was changed, Unix seconds. */
  readonly time: number;
  /** Where a symbolic link leads; else empty. */
  readonly target: string;
}

/** Returns the header of an entry, which is root's. A file's content follows it. Throws RangeError if a path is too long. */
export function tarHeader({ path, type, mode, size, time, target }: TarEntry): Buffer {
  const header = Buffer.alloc(TAR_BLOCK);
  const [prefix, name] = split(path);
  if (Buffer.byteLength(target) > LONGEST.name) throw new RangeError(`${path} leads to a path that is too long`);
  const octal = (value: number, at: number, length: number): void => {
    header.write(value.toString(8).padStart(length - 1, "0"), at, "latin1");
  };
  header.write(name, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  if (size <= MOST_OCTAL) octal(size, 124, 12);
  else {
    header[124] = 0x80;
    header.writeBigUInt64BE(BigInt(size), 128);
  }
  octal(time, 136, 12);
  header.write(FLAGS[type], 156);
  header.write(target, 157);
  header.write("ustar\u000000", 257);
  header.write(prefix, 345);
  octal(tarChecksum(header), 148, 7);
  header[155] = 0x20;
  return header;
}

/** Returns the zeros between the content of a file and the next header. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);
}

/** Returns the end of an archive. */
export function tarEnd(): Buffer {
  return Buffer.alloc(2 * TAR_BLOCK);
}

/** Returns the sum of the bytes of a header, with spaces in place of the sum itself. */
export function tarChecksum(header: Uint8Array): number {
  return header.reduce((sum, octet, at) => sum + (at >= 148 && at < 156 ? 0x20 : octet), 0);
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
