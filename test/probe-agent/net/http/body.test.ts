import { createHash } from "node:crypto";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createBodyCollector } from "#probe-agent/net/http/body.ts";

const TEXT = Buffer.from(Array.from({ length: 3000 }, (_, index) => `line ${index * 7919}\n`).join(""));
/** Fed octet by octet, each of which is a turn of a decoder's thread. */
const SHORT = TEXT.subarray(0, 5000);
const CAP = 1 << 20;

async function collect(bytes: Buffer, codings: readonly string[], options: { cap?: number; piece?: number } = {}) {
  const collector = createBodyCollector(codings, options.cap ?? CAP);
  const size = options.piece ?? 1400;
  for (let at = 0; at < bytes.length && !collector.full(); at += size) {
    await collector.write(bytes.subarray(at, at + size));
  }
  return await collector.finish(null);
}

describe("createBodyCollector", () => {
  it.each<[string, readonly string[], (text: Buffer) => Buffer]>([
    ["nothing", [], (text) => text],
    ["identity", ["identity"], (text) => text],
    ["gzip", ["gzip"], (text) => gzipSync(text)],
    ["x-gzip", ["x-gzip"], (text) => gzipSync(text)],
    [
      "two gzip members",
      ["gzip"],
      (text) => Buffer.concat([gzipSync(text.subarray(0, 500)), gzipSync(text.subarray(500))]),
    ],
    ["br", ["br"], (text) => brotliCompressSync(text)],
    ["zstd", ["zstd"], (text) => zstdCompressSync(text)],
    ["deflate with zlib header", ["deflate"], (text) => deflateSync(text)],
    ["bare deflate", ["deflate"], (text) => deflateRawSync(text)],
    ["gzip then br", ["gzip", "br"], (text) => brotliCompressSync(gzipSync(text))],
    [
      "four codings",
      ["gzip", "br", "zstd", "deflate"],
      (text) => deflateRawSync(zstdCompressSync(brotliCompressSync(gzipSync(text)))),
    ],
  ])("undoes %s", async (_name, codings, encode) => {
    for (const [text, piece] of [
      [SHORT, 1],
      [TEXT, 1400],
      [TEXT, 1 << 20],
    ] as const) {
      const bytes = encode(text);
      const body = await collect(bytes, codings, { piece });
      expect(Buffer.from(body.bytes).equals(text)).toBe(true);
      expect(body).toMatchObject({ transferredBytes: bytes.length, decodedBytes: text.length, truncated: false });
      expect(body).toMatchObject({ error: null, sha256: createHash("sha256").update(text).digest("hex") });
    }
  });

  it.each([
    ["gzip", gzipSync(TEXT)],
    ["deflate", deflateSync(TEXT)],
    ["br", brotliCompressSync(TEXT)],
    ["zstd", zstdCompressSync(TEXT)],
  ] as const)("says that %s data ended early and keeps what came out", async (coding, bytes) => {
    const body = await collect(bytes.subarray(0, bytes.length - 20), [coding], { piece: 1 << 20 });
    expect(body).toMatchObject({ error: "truncated_encoding", truncated: false, encoding: coding });
    expect(TEXT.subarray(0, body.bytes.length).equals(body.bytes)).toBe(true);
  });

  it.each(["gzip", "deflate", "br", "zstd"])("reports that plain text is not %s", async (coding) => {
    const body = await collect(TEXT, [coding]);
    expect(body.decodedBytes).toBe(0);
    // Brotli has no magic number: text can look like the start of longer data.
    expect(body.error).toBe(coding === "br" ? "truncated_encoding" : "bad_encoding");
  });

  it("keeps octets of an unknown coding, or of too many codings, undecoded", async () => {
    const unknown = await collect(TEXT, ["gzip", "compress"]);
    expect(unknown).toMatchObject({ error: "unknown_encoding", encoding: null, decodedBytes: TEXT.length });
    const many = await collect(
      TEXT,
      Array.from({ length: 5 }, () => "gzip"),
    );
    expect(many).toMatchObject({ error: "too_many_encodings", encoding: null, decodedBytes: TEXT.length });
  });

  it("reports no error for an empty body of any coding", async () => {
    expect(await collect(Buffer.alloc(0), ["gzip", "br"])).toMatchObject({
      error: null,
      encoding: null,
      decodedBytes: 0,
    });
  });

  it("ignores what follows the end of the coded data", async () => {
    const body = await collect(Buffer.concat([deflateSync(TEXT), Buffer.alloc(5000, "z")]), ["deflate"]);
    expect(body).toMatchObject({ error: null, decodedBytes: TEXT.length });
  });

  it("truncates exactly at the limit and reports it", async () => {
    for (const [codings, bytes] of [
      [[], TEXT],
      [["gzip"], gzipSync(TEXT)],
    ] as const) {
      const body = await collect(bytes, codings, { cap: 1000 });
      expect(body.bytes.length).toBe(codings.length === 0 ? 1000 : Math.min(1000, body.bytes.length));
      expect(body).toMatchObject({ truncated: true, error: null });
    }
    expect(await collect(TEXT, [], { cap: TEXT.length })).toMatchObject({
      truncated: false,
      decodedBytes: TEXT.length,
    });
  });

  it.each([
    ["gzip", gzipSync(Buffer.alloc(200 << 20))],
    ["zstd", zstdCompressSync(Buffer.alloc(200 << 20))],
    ["br", brotliCompressSync(Buffer.alloc(20 << 20))],
  ] as const)("stops a %s bomb soon after it looks like one", async (coding, bytes) => {
    const body = await collect(bytes, [coding], { cap: 50 << 20, piece: 512 });
    expect(body).toMatchObject({ truncated: true, error: "inflation_ratio" });
    expect(body.decodedBytes).toBeLessThan(3 << 20);
  });

  it("limits a bomb within a bomb whose inner layer decodes to nothing", async () => {
    const layer = gzipSync(Buffer.alloc(4 << 20, gzipSync(Buffer.alloc(0))));
    const body = await collect(layer, ["gzip", "gzip"]);
    expect(body).toMatchObject({ truncated: true, decodedBytes: 0 });
  });

  it("stops reading endless coded data that decodes to nothing", async () => {
    const nothing = Buffer.alloc(4 << 20, gzipSync(Buffer.alloc(0)));
    const body = await collect(nothing, ["gzip"]);
    expect(body.truncated).toBe(true);
    expect(body.transferredBytes).toBeLessThan(CAP + 2000);
  });
});
