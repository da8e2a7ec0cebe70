import { Decrypter, Encrypter } from "age-encryption";
import type { ByteReader } from "#control-plane/backups/format/byte-reader.ts";
import { BackupProblem, damaged, truncated } from "#control-plane/backups/problem.ts";

// Files of age (age-encryption.org/v1, https://c2sp.org/age) for one passphrase.

const VERSION_LINE = "age-encryption.org/v1";
/** scrypt with 2^17 rounds needs 128 MB: the cost that OWASP recommends. */
const WORK_FACTOR = 17;
/** The header of one passphrase has 150 bytes. */
const HEADER_BYTES = 150;

/** Reports whether bytes begin a file of age. */
export function isAge(start: Uint8Array): boolean {
  return Buffer.from(start).toString("latin1").startsWith(`${VERSION_LINE}\n`);
}

/** Number of bytes that isAge needs. */
export const AGE_START_BYTES = VERSION_LINE.length + 1;

/** Encrypts bytes with a passphrase. */
export async function* encrypt(plain: AsyncIterable<Uint8Array>, passphrase: string): AsyncGenerator<Uint8Array> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(WORK_FACTOR);
  yield* await encrypter.encrypt(ReadableStream.from(plain));
}

/** Decrypts a file. Throws a BackupProblem if the passphrase is wrong, and if the file was changed or cut off. */
export async function* decrypt(file: ByteReader, passphrase: string): AsyncGenerator<Uint8Array> {
  const header = (await file.peek(HEADER_BYTES)).toString("latin1");
  if (header.length < HEADER_BYTES) throw truncated();
  if (!header.includes("\n-> scrypt ")) {
    throw new BackupProblem("the file is encrypted for a key of age, not with a passphrase", 2);
  }
  let hasEnded = false;
  async function* readAll(): AsyncGenerator<Uint8Array> {
    yield* file.pieces(Number.MAX_SAFE_INTEGER);
    hasEnded = true;
  }
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  const plain = await decrypter.decrypt(ReadableStream.from(readAll())).catch((error: unknown) => {
    throw explainHeader(error);
  });
  const chunks = plain[Symbol.asyncIterator]();
  for (;;) {
    const next = await chunks.next().catch((error: unknown) => {
      if (error instanceof BackupProblem) throw error;
      // The package has one message for a chunk that was changed and for one that is not whole.
      throw hasEnded ? truncated() : damaged("a part of it was changed");
    });
    if (next.done === true) return;
    yield next.value;
  }
}

function explainHeader(error: unknown): BackupProblem {
  const message = error instanceof Error ? error.message : "";
  if (message.startsWith("no identity matched"))
    return new BackupProblem("the passphrase is not that of the backup", 4);
  // 2^20 rounds need 1 GB: the package refuses more before it tries.
  return damaged(message.includes("work factor") ? "its work factor is too high" : "its header was changed");
}
