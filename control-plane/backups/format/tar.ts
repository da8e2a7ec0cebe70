import { TAR_BLOCK, tarChecksum, tarPadding } from "#shared/process/tar.ts";
import type { ByteReader } from "#control-plane/backups/format/byte-reader.ts";
import { damaged, notBackup, truncated } from "#control-plane/backups/problem.ts";

const [NAME, SIZE, CHECKSUM, TYPE, MAGIC] = [0, 124, 148, 156, 257];
const NAME_BYTES = 100;
const FIELD_BYTES = 12;

/** A regular file of an archive. */
interface TarFile {
  readonly name: string;
  readonly size: number;
}

/** Reads the header of the next file; null at the end of the archive. */
export async function readTarHeader(reader: ByteReader): Promise<TarFile | null> {
  const header = await reader.read(TAR_BLOCK);
  if (header.length < TAR_BLOCK) throw truncated();
  if (header.every((byte) => byte === 0)) return null;
  const magic = header.toString("latin1", MAGIC, MAGIC + 5);
  if (magic !== "ustar") throw notBackup("it is no archive of tar");
  const stored = Number.parseInt(header.toString("latin1", CHECKSUM, CHECKSUM + 6), 8);
  if (stored !== tarChecksum(header)) throw damaged("a header of its archive was changed");
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
