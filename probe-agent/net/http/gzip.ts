import * as zlib from "node:zlib";
import type { Decoder } from "#probe-agent/net/http/decoder.ts";
import { createOctets } from "#probe-agent/net/octets.ts";

/** Maximum number of members read from one body. Block-wise compressors create one per 64 KB. The rest is ignored. */
const MAX_MEMBERS = 1_000;
/** Maximum length of a member's header in octets. Genuine ones have ten and a name. */
const MAX_HEADER = 16_384;
const TRAILER = 8;
const NOTHING = Buffer.alloc(0);

// RFC 1952 section 2.3.1.
const FIXED = 10;
const FLAGS = { headerCrc: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 };

/**
 * Creates a decoder of gzip that reads member by member (RFC 1952). Octets after the last member are ignored, as in
 * browsers: caches and templates append comments to compressed pages. zlib's own gzip reader fails on them and loses
 * all output that it has not passed on yet.
 */
export function createGzipDecoder(sink: (piece: Buffer) => void): Decoder {
  let state: "header" | "data" | "trailer" | "over" = "header";
  let broken = false;
  let destroyed = false;
  let members = 0;
  let member: Member | null = null;
  /** Octets of an incomplete header or trailer. */
  let held = createOctets();
  let queue = Promise.resolve();
  const isDone = () => broken || destroyed || state === "over";

  async function work(piece: Buffer): Promise<void> {
    let rest = piece;
    while (rest.length > 0 && !isDone()) {
      if (state === "data" && member !== null) {
        rest = await member.write(rest);
        broken = member.failed();
        if (!member.ended()) continue;
        state = "trailer";
      }
      if (held.length > 0) held.append(rest);
      const octets = held.length > 0 ? held.view() : rest;
      rest = state === "trailer" ? endMember(octets) : beginMember(octets);
    }
  }

  /** Keeps octets until more arrive. Returns an empty rest. */
  function waitWith(octets: Buffer): Buffer {
    if (held.length === 0) held.append(octets);
    return NOTHING;
  }

  /** Reads a trailer once it is complete. Returns the octets after it. */
  function endMember(octets: Buffer): Buffer {
    if (octets.length < TRAILER || member === null) return waitWith(octets);
    broken = octets.readUInt32LE(0) !== member.crc() || octets.readUInt32LE(4) !== member.size();
    member.destroy();
    member = null;
    members += 1;
    state = members < MAX_MEMBERS ? "header" : "over";
    held = createOctets();
    return octets.subarray(TRAILER);
  }

  /** Reads a header once it is complete. Returns the octets after it. */
  function beginMember(octets: Buffer): Buffer {
    const length = headerLength(octets);
    if (length === "more" && octets.length <= MAX_HEADER) return waitWith(octets);
    if (typeof length === "string") {
      if (members === 0) broken = true;
      else state = "over";
      return NOTHING;
    }
    member = openMember(sink);
    state = "data";
    held = createOctets();
    return octets.subarray(length);
  }

  return {
    write(piece) {
      queue = queue.then(() => work(piece));
      return queue;
    },
    async end() {
      await queue;
      if (isDone()) return !broken;
      if (member !== null) {
        await member.finish();
        return false;
      }
      return members > 0 || held.length === 0;
    },
    broken: () => broken,
    destroy() {
      destroyed = true;
      member?.destroy();
    },
  };
}

/** Returns the length of a member's header in octets; "more" if octets are missing, "none" if it is not a header. */
function headerLength(octets: Buffer): number | "more" | "none" {
  const [first, second, method, flags = 0] = octets;
  const wrong = [first !== 0x1f, second !== undefined && second !== 0x8b, method !== undefined && method !== 8];
  if (wrong.some(Boolean) || (flags & FLAGS.reserved) !== 0) return "none";
  if (octets.length < FIXED) return "more";
  let length = FIXED;
  if ((flags & FLAGS.extra) !== 0) {
    if (octets.length < length + 2) return "more";
    length += 2 + octets.readUInt16LE(length);
  }
  for (const flag of [FLAGS.name, FLAGS.comment]) {
    if ((flags & flag) === 0) continue;
    const zero = octets.indexOf(0, length);
    if (zero === -1) return "more";
    length = zero + 1;
  }
  if ((flags & FLAGS.headerCrc) !== 0) length += 2;
  return octets.length < length ? "more" : length;
}

/** The deflated data of one member. */
interface Member {
  /** Resolves to the octets after the end of the data; empty before the end. */
  write(piece: Buffer): Promise<Buffer>;
  ended(): boolean;
  failed(): boolean;
  /** Passes on the remaining output of truncated data. */
  finish(): Promise<void>;
  /** Returns the CRC-32 of the output. */
  crc(): number;
  /** Returns the length of the output modulo 2^32. */
  size(): number;
  destroy(): void;
}

function openMember(sink: (piece: Buffer) => void): Member {
  const stream = zlib.createInflateRaw();
  let crc = 0;
  let size = 0;
  let ended = false;
  let failed = false;
  let wake: () => void = () => {};
  stream.on("data", (out: Buffer) => {
    crc = zlib.crc32(out, crc);
    size = (size + out.length) >>> 0;
    sink(out);
  });
  stream.once("end", () => {
    ended = true;
    wake();
  });
  stream.once("error", () => {
    failed = true;
    wake();
  });
  stream.once("close", () => wake());
  return {
    async write(piece) {
      const before = stream.bytesWritten;
      await new Promise<void>((resolve) => {
        wake = resolve;
        // If the data ends within the piece, zlib reads no more of it, and "end" follows.
        stream.write(piece, () => {
          if (stream.bytesWritten - before === piece.length) resolve();
        });
      });
      return ended ? piece.subarray(stream.bytesWritten - before) : NOTHING;
    },
    ended: () => ended,
    failed: () => failed,
    finish: () =>
      new Promise((resolve) => {
        if (stream.destroyed) return resolve();
        wake = resolve;
        stream.end();
      }),
    crc: () => crc,
    size: () => size,
    destroy: () => void stream.destroy(),
  };
}
