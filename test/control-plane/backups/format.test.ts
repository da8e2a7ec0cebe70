import { buffer } from "node:stream/consumers";
import { Encrypter } from "age-encryption";
import { describe, expect, it } from "vitest";
import { decrypt, encrypt, isAge } from "#control-plane/backups/format/age.ts";
import { createByteReader } from "#control-plane/backups/format/byte-reader.ts";
import { readTarHeader } from "#control-plane/backups/format/tar.ts";
import { tarHeader } from "#shared/process/tar.ts";

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
  it("has the bytes that were encrypted, in pieces of any size", async () => {
    const plain = bytesOf(200_000);
    const encrypted = await buffer(encrypt(inPieces(plain), PASSPHRASE));
    expect(isAge(encrypted)).toBe(true);
    const opened = await buffer(decrypt(createByteReader(inPieces(encrypted)), PASSPHRASE));
    expect(opened.equals(plain)).toBe(true);
  });

  it("with a work factor that needs gigabytes is refused before it is tried", async () => {
    const encrypter = new Encrypter();
    encrypter.setPassphrase(PASSPHRASE);
    encrypter.setScryptWorkFactor(12);
    const text = Buffer.from(await encrypter.encrypt(bytesOf(10))).toString("latin1");
    const bytes = Buffer.from(text.replace(" 12\n", " 30\n"), "latin1");
    await expect(buffer(decrypt(createByteReader(inPieces(bytes)), PASSPHRASE))).rejects.toThrow(
      /work factor is too high/,
    );
  });
});

it.each([0, 1, 8 ** 11 - 1, 8 ** 11, 2 ** 45])("an archive has a file of %d bytes", async (size) => {
  const header = tarHeader({ path: "tables/checks.copy", type: "file", mode: 0o600, size, time: 0, target: "" });
  expect(await readTarHeader(createByteReader(inPieces(header)))).toEqual({ name: "tables/checks.copy", size });
});
