import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  scrypt,
  timingSafeEqual,
  type ScryptOptions,
} from "node:crypto";
import { promisify } from "node:util";
import type { Random } from "#shared/time/clock.ts";
import type { ByteReader } from "#control-plane/backups/format/byte-reader.ts";
import { BackupProblem, damaged, truncated } from "#control-plane/backups/problem.ts";

// Files of age (age-encryption.org/v1, C2SP) with one recipient, a passphrase. Node.js has all of its primitives: the packages
// that implement age bring their own in JavaScript, which take ten times as long for the bytes of a database.

const VERSION_LINE = "age-encryption.org/v1";
const CIPHER = "chacha20-poly1305";
const KEY_BYTES = 32;
const FILE_KEY_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Plain bytes of each chunk but the last. */
const CHUNK_BYTES = 65_536;
/** scrypt with 2^17 rounds needs 128 MB and half a second: the cost that OWASP recommends. */
const WORK_FACTOR = 17;
/** A file with a higher one is refused: it would need more than 1 GB. */
const MOST_WORK = 20;
/** The header of one passphrase has 150 bytes. */
const MOST_HEADER_BYTES = 512;
const HEADER =
  /^age-encryption\.org\/v1\n-> scrypt ([A-Za-z0-9+/]{22}) ([1-9][0-9]?)\n([A-Za-z0-9+/]{43})\n--- ([A-Za-z0-9+/]{43})\n/;

/** Reports whether bytes begin a file of age. */
export function isAge(start: Uint8Array): boolean {
  return Buffer.from(start).toString("latin1").startsWith(`${VERSION_LINE}\n`);
}

/** Number of bytes that isAge needs. */
export const AGE_START_BYTES = VERSION_LINE.length + 1;

/** Encrypts bytes with a passphrase. */
export async function* encrypt(
  plain: AsyncIterable<Uint8Array>,
  passphrase: string,
  random: Random,
): AsyncGenerator<Uint8Array> {
  const fileKey = random.bytes(FILE_KEY_BYTES);
  const salt = random.bytes(16);
  const wrapped = seal(await deriveWrapKey(passphrase, salt, WORK_FACTOR), Buffer.alloc(NONCE_BYTES), fileKey);
  const header = `${VERSION_LINE}\n-> scrypt ${encode(salt)} ${WORK_FACTOR}\n${encode(wrapped)}\n---`;
  yield Buffer.from(`${header} ${encode(macOf(fileKey, header))}\n`);
  const nonce = random.bytes(16);
  yield nonce;
  const key = deriveKey(fileKey, nonce, "payload");
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let filled = 0;
  let number = 0;
  for await (const piece of plain) {
    for (let at = 0; at < piece.length;) {
      // A full chunk is kept until more follows: the last one is sealed as the last.
      if (filled === CHUNK_BYTES) {
        yield seal(key, nonceOf(number, false), chunk);
        number += 1;
        filled = 0;
      }
      const part = piece.subarray(at, at + CHUNK_BYTES - filled);
      chunk.set(part, filled);
      filled += part.length;
      at += part.length;
    }
  }
  yield seal(key, nonceOf(number, true), chunk.subarray(0, filled));
}

/** Decrypts a file. Throws a BackupProblem if the passphrase is wrong, and if the file was changed or cut off. */
export async function* decrypt(file: ByteReader, passphrase: string): AsyncGenerator<Buffer> {
  const fileKey = await readHeader(file, passphrase);
  const nonce = await file.read(16);
  if (nonce.length < 16) throw truncated();
  const key = deriveKey(fileKey, nonce, "payload");
  for (let number = 0; ; number += 1) {
    const sealed = await file.read(CHUNK_BYTES + TAG_BYTES);
    const isLast = (await file.peek(1)).length === 0;
    const chunk = open(key, nonceOf(number, isLast), sealed);
    if (chunk !== null) yield chunk;
    else throw isLast ? truncated() : damaged(`its part ${number + 1} of 64 kB was changed`);
    if (isLast) return;
  }
}

async function readHeader(file: ByteReader, passphrase: string): Promise<Uint8Array> {
  const start = (await file.peek(MOST_HEADER_BYTES)).toString("latin1");
  const [header, salt, work, wrapped, mac] = HEADER.exec(start) ?? [];
  if (header === undefined || salt === undefined || wrapped === undefined || mac === undefined) {
    if (start.length < 150) throw truncated();
    if (start.startsWith(`${VERSION_LINE}\n-> scrypt `)) throw damaged("its header was changed");
    throw new BackupProblem("the file is encrypted for a key of age, not with a passphrase", 2);
  }
  if (Number(work) > MOST_WORK) throw damaged(`its work factor is ${work}, and at most ${MOST_WORK} is accepted`);
  await file.read(header.length);
  const wrapKey = await deriveWrapKey(passphrase, Buffer.from(salt, "base64"), Number(work));
  const fileKey = open(wrapKey, Buffer.alloc(NONCE_BYTES), Buffer.from(wrapped, "base64"));
  if (fileKey === null) throw new BackupProblem("the passphrase is not that of the backup", 4);
  const signed = header.slice(0, header.lastIndexOf("---") + 3);
  if (!timingSafeEqual(macOf(fileKey, signed), Buffer.from(mac, "base64"))) throw damaged("its header was changed");
  return fileKey;
}

/** Runs off the main thread. */
const runScrypt = promisify<string, Uint8Array, number, ScryptOptions, Buffer>(scrypt);

function deriveWrapKey(passphrase: string, salt: Uint8Array, work: number): Promise<Buffer> {
  const labelled = Buffer.concat([Buffer.from(`${VERSION_LINE}/scrypt`), salt]);
  const cost = 2 ** work;
  return runScrypt(passphrase, labelled, KEY_BYTES, { cost, blockSize: 8, maxmem: 2_048 * cost });
}

function deriveKey(fileKey: Uint8Array, salt: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", fileKey, salt, purpose, KEY_BYTES));
}

function macOf(fileKey: Uint8Array, header: string): Buffer {
  return createHmac("sha256", deriveKey(fileKey, Buffer.alloc(0), "header"))
    .update(header)
    .digest();
}

/** The nonce of a chunk: 11 bytes of its number, and whether it is the last. */
function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUIntBE(number, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

function seal(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Buffer | null {
  if (sealed.length < TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const plain = decipher.update(sealed.subarray(0, -TAG_BYTES));
  try {
    decipher.final();
    return plain;
  } catch {
    return null; // final() throws only if the tag does not match
  }
}

/** Base64 without padding. */
function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "");
}
