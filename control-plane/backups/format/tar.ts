import type { ByteReader } from "#control-plane/backups/format/byte-reader.ts";
import { damaged, notBackup, truncated } from "#control-plane/backups/problem.ts";

// Archives of regular files in the ustar format (POSIX.1-1988, pax(1)). Sizes from 8 GiB on are binary, as GNU tar, bsdtar and
// Python write and read them.

const BLOCK = 512;
/** Sizes in octal have 11 digits. */
const MOST_OCTAL = 8 ** 11 - 1;
const [NAME, MODE, UID, GID, SIZE, TIME, CHECKSUM, TYPE, MAGIC] = [0, 100, 108, 116, 124, 136, 148, 156, 257];
const NAME_BYTES = 100;
const FIELD_BYTES = 12;

/** A file of an archive. */
interface TarEntry {
  /** At most 100 characters of ASCII. */
  readonly name: string;
  readonly size: number;
}

/** Returns the header of a file, which its content follows. */
export function tarHeader({ name, size }: TarEntry, modifiedAt: Date): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(name, NAME, NAME_BYTES, "latin1");
  header.write("0000600\0", MODE);
  header.write("0000000\0", UID);
  header.write("0000000\0", GID);
  if (size <= MOST_OCTAL) header.write(`${octal(size, 11)}\0`, SIZE);
  else {
    header[SIZE] = 0x80;
    header.writeBigUInt64BE(BigInt(size), SIZE + 4);
  }
  header.write(`${octal(Math.floor(modifiedAt.getTime() / 1_000), 11)}\0`, TIME);
  header.write("0", TYPE);
  header.write("ustar\x0000", MAGIC);
  header.write(`${octal(checksumOf(header), 6)}\0 `, CHECKSUM);
  return header;
}

/** Returns the zeros between the content of a file and the next header. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** Returns the end of an archive. */
export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK);
}

/** Reads the header of the next file; null at the end of the archive. */
export async function readTarHeader(reader: ByteReader): Promise<TarEntry | null> {
  const header = await reader.read(BLOCK);
  if (header.length < BLOCK) throw truncated();
  if (header.every((byte) => byte === 0)) return null;
  const magic = header.toString("latin1", MAGIC, MAGIC + 5);
  if (magic !== "ustar") throw notBackup("it is no archive of tar");
  const stored = Number.parseInt(header.toString("latin1", CHECKSUM, CHECKSUM + 6), 8);
  if (stored !== checksumOf(header)) throw damaged("a header of its archive was changed");
  const name = header.toString("latin1", NAME, NAME + NAME_BYTES).split("\0", 1)[0] ?? "";
  if (header[TYPE] !== 0x30) throw notBackup(`${JSON.stringify(name)} in it is no regular file`);
  return { name, size: readSize(header) };
}

/** Reads over the zeros after the content of a file. */
export async function skipPadding(reader: ByteReader, size: number): Promise<void> {
  const { length } = tarPadding(size);
  if ((await reader.read(length)).length < length) throw truncated();
}

function readSize(header: Buffer): number {
  if (header[SIZE] === 0x80) return Number(header.readBigUInt64BE(SIZE + 4));
  return Number.parseInt(header.toString("latin1", SIZE, SIZE + FIELD_BYTES - 1), 8);
}

/** The sum of the bytes of a header, with blanks in place of the sum itself. */
function checksumOf(header: Buffer): number {
  let sum = 8 * 0x20;
  for (const [at, byte] of header.entries()) if (at < CHECKSUM || at >= CHECKSUM + 8) sum += byte;
  return sum;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}
