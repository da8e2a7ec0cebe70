import { promisify } from "node:util";
import { brotliCompress, constants, crc32, deflateRaw } from "node:zlib";
import type { Coding } from "#control-plane/http/accept-encoding.ts";

/**
 * Octets that do not change, compressed once for each coding, when it is first asked for, in Node's thread pool. The
 * compressed octets can be inserted into a response that differs by request, and nothing is compressed again.
 */
export interface CodedText {
  readonly raw: Buffer;
  /** Deflate blocks (RFC 1951) up to a flush, none of them the last. */
  deflated(): Promise<Buffer>;
  /** Brotli metablocks (RFC 7932) from a stream's begin up to a flush, none of them the last. */
  brotli(): Promise<Buffer>;
}

const deflate = promisify(deflateRaw);
const brotli = promisify(brotliCompress);

/** Measured on 400 KB of JSON: 11 ms, and 14 % more octets than quality 11 has in 1,600 ms. */
const BROTLI_QUALITY = 6;
const DEFLATE_LEVEL = 9;

/** Makes one of a text that will be sent again and again. */
export function codeText(raw: Buffer): CodedText {
  let deflated: Promise<Buffer> | undefined;
  let compressed: Promise<Buffer> | undefined;
  return {
    raw,
    deflated: () => (deflated ??= deflate(raw, { level: DEFLATE_LEVEL, finishFlush: constants.Z_SYNC_FLUSH })),
    brotli: () =>
      (compressed ??= brotli(raw, {
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
        params: {
          [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: raw.length,
        },
      })),
  };
}

/** Octets of one request around a text that is the same for all. */
export interface Around {
  /** Brotli has no place for it: its references to the built-in dictionary depend on what came before. */
  readonly before?: Buffer;
  readonly after?: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** `before`, the text and `after` in a coding, as one body. What is of one request is stored in it, not compressed. */
export async function joinCoded(coding: Coding, text: CodedText, around: Around = {}): Promise<Buffer> {
  const { before = NOTHING, after = NOTHING } = around;
  switch (coding) {
    case "identity":
      return Buffer.concat([before, text.raw, after]);
    case "gzip": {
      const blocks = [GZIP_HEAD, ...storeDeflate(before), await text.deflated(), ...storeDeflate(after)];
      return Buffer.concat([...blocks, LAST_DEFLATE_BLOCK, gzipTail([before, text.raw, after])]);
    }
    case "br":
      if (before.length > 0) throw new Error("nothing can stand before a brotli stream");
      return Buffer.concat([await text.brotli(), ...storeBrotli(after), LAST_BROTLI_BLOCK]);
  }
}

/** RFC 1952, section 2.3: deflate, no name, no time, best compression, unknown system. */
const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff]);
/** RFC 1951, section 3.2.4: stored, the last, empty. */
const LAST_DEFLATE_BLOCK = Buffer.from([1, 0, 0, 0xff, 0xff]);
/** RFC 7932, section 9.2: the last, empty. */
const LAST_BROTLI_BLOCK = Buffer.from([3]);
/** Octets of one stored block, in both. */
const MOST_STORED = 65_535;

/** RFC 1952, section 2.3.1: CRC-32 and length of what is compressed. */
function gzipTail(parts: readonly Buffer[]): Buffer {
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(parts.reduce((crc, part) => crc32(part, crc), 0));
  tail.writeUInt32LE(parts.reduce((length, part) => length + part.length, 0) >>> 0, 4);
  return tail;
}

/** RFC 1951, section 3.2.4: a block's type, its length and the complement of that, then its octets. */
function storeDeflate(octets: Buffer): Buffer[] {
  return chunksOf(octets).flatMap((chunk) => {
    const head = Buffer.alloc(5);
    head.writeUInt16LE(chunk.length, 1);
    head.writeUInt16LE(chunk.length ^ 0xffff, 3);
    return [head, chunk];
  });
}

/** RFC 7932, section 9.2: not the last, length less one in 16 bits, uncompressed, padded to whole octets. */
function storeBrotli(octets: Buffer): Buffer[] {
  return chunksOf(octets).flatMap((chunk) => {
    const head = Buffer.alloc(3);
    head.writeUIntLE(((chunk.length - 1) << 3) | (1 << 19), 0, 3);
    return [head, chunk];
  });
}

function chunksOf(octets: Buffer): Buffer[] {
  return Array.from({ length: Math.ceil(octets.length / MOST_STORED) }, (_, index) =>
    octets.subarray(index * MOST_STORED, (index + 1) * MOST_STORED),
  );
}
