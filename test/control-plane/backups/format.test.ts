import { buffer } from "node:stream/consumers";
import { Decrypter, Encrypter } from "age-encryption";
import { describe, expect, it } from "vitest";
import { decrypt, encrypt, isAge } from "#control-plane/backups/format/age.ts";
import { createByteReader } from "#control-plane/backups/format/byte-reader.ts";
import { readTarHeader, tarHeader } from "#control-plane/backups/format/tar.ts";
import { systemRandom } from "#test/support/clock.ts";

const PASSPHRASE = "correct horse battery staple";

/** Yields bytes in pieces of a size that divides no chunk. */
// oxlint-disable-next-line require-await -- a source of bytes is asynchronous
async function* inPieces(bytes: Uint8Array, size = 1_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function bytesOf(length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, index) => (index * 7) % 251));
}

describe("a file of age", () => {
  // Around the end of a chunk, whose last one can be full.
  it.each([0, 1, 65_535, 65_536, 65_537, 131_072, 200_000])(
    "of %d bytes is that of the age project",
    async (length) => {
      const plain = bytesOf(length);
      const ours = await buffer(encrypt(inPieces(plain), PASSPHRASE, systemRandom));
      expect(isAge(ours)).toBe(true);
      const decrypter = new Decrypter();
      decrypter.addPassphrase(PASSPHRASE);
      expect(Buffer.from(await decrypter.decrypt(ours)).equals(plain)).toBe(true);

      const encrypter = new Encrypter();
      encrypter.setPassphrase(PASSPHRASE);
      encrypter.setScryptWorkFactor(12);
      const theirs = await encrypter.encrypt(plain);
      const opened = await buffer(decrypt(createByteReader(inPieces(theirs)), PASSPHRASE));
      expect(opened.equals(plain)).toBe(true);
    },
  );

  it("with a work factor that needs gigabytes is refused before it is tried", async () => {
    const encrypter = new Encrypter();
    encrypter.setPassphrase(PASSPHRASE);
    encrypter.setScryptWorkFactor(12);
    const text = Buffer.from(await encrypter.encrypt(bytesOf(10))).toString("latin1");
    const bytes = Buffer.from(text.replace(" 12\n", " 30\n"), "latin1");
    await expect(buffer(decrypt(createByteReader(inPieces(bytes)), PASSPHRASE))).rejects.toThrow(/work factor is 30/);
  });
});

it.each([0, 1, 8 ** 11 - 1, 8 ** 11, 2 ** 45])("an archive has a file of %d bytes", async (size) => {
  const header = tarHeader({ name: "tables/checks.copy", size }, new Date());
  expect(await readTarHeader(createByteReader(inPieces(header)))).toEqual({ name: "tables/checks.copy", size });
});
