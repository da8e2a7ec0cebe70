import { crc32, deflateRawSync, gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createGzipDecoder } from "#probe-agent/net/http/gzip.ts";

const TEXT = Buffer.from(Array.from({ length: 2_000 }, (_, index) => `line ${index * 7919}\n`).join(""));
const SHORT = Buffer.from("a page");

/** Decodes octets in pieces of this size. Returns the output, and whether the data was complete and valid. */
async function decode(bytes: Buffer, piece = 1 << 20) {
  const out: Buffer[] = [];
  const decoder = createGzipDecoder((part) => out.push(Buffer.from(part)));
  for (let at = 0; at < bytes.length; at += piece) await decoder.write(bytes.subarray(at, at + piece));
  const whole = await decoder.end();
  decoder.destroy();
  return { text: Buffer.concat(out), whole, broken: decoder.broken() };
}

/** Returns a member with a custom header. */
function member(flags: number, fields: readonly Buffer[], text = SHORT): Buffer {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(text), 0);
  trailer.writeUInt32LE(text.length, 4);
  const head = Buffer.from([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3]);
  return Buffer.concat([head, ...fields, deflateRawSync(text), trailer]);
}

describe("gzip", () => {
  it.each<[string, Buffer]>([
    ["a comment", Buffer.from("\n<!-- cached -->")],
    ["zeros", Buffer.alloc(600)],
    ["one octet that a member might begin with", Buffer.from([0x1f])],
    ["the beginning of a header", Buffer.from([0x1f, 0x8b])],
    ["a header of no known method", Buffer.from([0x1f, 0x8b, 9, 0, 0, 0, 0, 0, 0, 0])],
  ])("ignores %s after the end", async (_, tail) => {
    for (const text of [SHORT, TEXT]) {
      const bytes = Buffer.concat([gzipSync(text), tail]);
      for (const piece of [1, 7, 1_000, 1 << 20]) {
        expect(await decode(bytes, piece)).toEqual({ text, whole: true, broken: false });
      }
    }
  });

  it("reads every field of a header, for any split of the octets", async () => {
    const extra = Buffer.from([3, 0, 1, 2, 3]);
    const [name, comment, crc] = [Buffer.from("page.html\0"), Buffer.from("ours\0"), Buffer.from([0, 0])];
    for (const bytes of [
      member(0, []),
      member(1, []),
      member(4, [extra]),
      member(8, [name]),
      member(16, [comment]),
      member(2, [crc]),
      member(30, [extra, name, comment, crc]),
    ]) {
      for (let cut = 1; cut < bytes.length; cut += 1) {
        expect(await decode(bytes, cut)).toEqual({ text: SHORT, whole: true, broken: false });
      }
    }
  });

  it("reads several members, also empty ones", async () => {
    const parts = [SHORT, Buffer.alloc(0), TEXT, SHORT];
    const bytes = Buffer.concat(parts.map((part) => gzipSync(part)));
    for (const piece of [1, 13, 1 << 20]) {
      expect(await decode(bytes, piece)).toEqual({ text: gunzipSync(bytes), whole: true, broken: false });
    }
  });

  it("distinguishes truncated from complete data, and keeps the output", async () => {
    const bytes = gzipSync(SHORT);
    for (let length = 1; length < bytes.length; length += 1) {
      const { text, whole, broken } = await decode(bytes.subarray(0, length));
      expect([whole, broken]).toEqual([false, false]);
      expect(SHORT.subarray(0, text.length)).toEqual(text);
    }
    expect(await decode(Buffer.alloc(0))).toEqual({ text: Buffer.alloc(0), whole: true, broken: false });
  });

  it("is broken if a check fails, and keeps the output", async () => {
    for (const place of [1, 5]) {
      const bytes = gzipSync(TEXT);
      bytes.writeUInt8(bytes.readUInt8(bytes.length - place) ^ 1, bytes.length - place);
      expect(await decode(bytes, 500)).toEqual({ text: TEXT, whole: false, broken: true });
    }
  });

  it("is broken if the data is not gzip", async () => {
    for (const bytes of [TEXT, Buffer.from([0x1f]).fill(0x1f, 0), Buffer.from([0x1f, 0x8b, 8, 0xe0])]) {
      const { text, whole } = await decode(bytes);
      expect([text.length, whole]).toEqual([0, false]);
    }
    const garbled = gzipSync(TEXT);
    garbled.fill(0xff, 300, 400);
    expect((await decode(garbled)).broken).toBe(true);
  });

  it("is bounded for any number of members and any length of a name", async () => {
    const many = Buffer.concat(Array.from({ length: 3_000 }, () => gzipSync(Buffer.from("x"))));
    expect((await decode(many)).text).toHaveLength(1_000);
    const named = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]), Buffer.alloc(200_000, "n")]);
    expect((await decode(named, 1_000)).broken).toBe(true);
  });

  it("accepts pieces while earlier ones are processed", async () => {
    const bytes = Buffer.concat([gzipSync(TEXT), Buffer.from("tail")]);
    const out: Buffer[] = [];
    const decoder = createGzipDecoder((part) => out.push(Buffer.from(part)));
    for (let at = 0; at < bytes.length; at += 100) void decoder.write(bytes.subarray(at, at + 100));
    expect(await decoder.end()).toBe(true);
    expect(Buffer.concat(out)).toEqual(TEXT);
  });

  it("can be destroyed in the middle", async () => {
    const bytes = gzipSync(TEXT);
    const decoder = createGzipDecoder(() => decoder.destroy());
    await decoder.write(bytes);
    await decoder.write(bytes);
    expect(await decoder.end()).toBe(true);
  });
});
