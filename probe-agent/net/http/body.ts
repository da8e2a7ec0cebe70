import * as zlib from "node:zlib";
import { hash } from "node:crypto";
import type { HttpBody } from "#probe-agent/port/http.ts";
import type { Decoder } from "#probe-agent/net/http/decoder.ts";
import { createOctets } from "#probe-agent/net/octets.ts";
import { createGzipDecoder } from "#probe-agent/net/http/gzip.ts";

/** Collector that decodes the octets of a body and keeps up to a given number of them. */
export interface BodyCollector {
  /** Resolves when the octets are decoded, so that a reader never overtakes the decoders. */
  write(chunk: Buffer): Promise<void>;
  /** Reports whether the limit is reached or the coding is broken. More octets change nothing, so stop reading. */
  full(): boolean;
  /** Returns the body. `error` is the failure of the transfer; null if the body is complete. */
  finish(error: string | null): Promise<HttpBody>;
}

/** Maximum number of content codings of one body. */
const MAX_CODINGS = 4;
/** Decoded octets from which the ratio to transferred octets is limited, and its limit, above that of genuine pages. */
const RATIO_FROM_BYTES = 1 << 20;
const MAX_RATIO = 250;

/**
 * Creates a collector. `codings` is the list of Content-Encoding. Errors of the body: unknown_encoding and
 * too_many_encodings (octets are kept undecoded), bad_encoding, truncated_encoding, inflation_ratio (a decompression
 * bomb; truncated), or the error of the transfer. Without `keeps` octets are counted and dropped.
 */
export function createBodyCollector(codings: readonly string[], maxBytes: number, keeps = true): BodyCollector {
  const listed = codings.filter((coding) => coding !== "identity");
  const known = listed.map(codingOf).filter((coding) => coding !== null);
  let failure: string | null = null;
  if (known.length < listed.length) failure = "unknown_encoding";
  else if (known.length > MAX_CODINGS) failure = "too_many_encodings";
  const applied = failure === null ? known : [];

  const store = createStore();
  let transferred = 0;
  let decoded = 0;
  let truncated = false;

  const keep = (piece: Buffer): void => {
    if (truncated) return;
    const room = maxBytes - decoded;
    const take = Math.min(piece.length, room);
    if (keeps) store.add(take === piece.length ? piece : piece.subarray(0, take));
    decoded += take;
    truncated = piece.length > room;
    if (decoded > RATIO_FROM_BYTES && decoded > transferred * MAX_RATIO) {
      truncated = true;
      failure ??= "inflation_ratio";
    }
    if (truncated) stop();
  };

  // The coding applied last is listed last and removed first (RFC 9110 section 8.4).
  const decoders: Decoder[] = [];
  let sink = keep;
  for (const coding of applied) {
    const next = sink;
    const decoder = createDecoder(coding, next);
    let through = 0;
    decoders.unshift(decoder);
    sink = (piece) => {
      through += piece.length;
      if (through > maxBytes) {
        truncated = true;
        stop();
      } else void decoder.write(piece);
    };
  }
  const [first] = decoders;

  function stop(): void {
    for (const decoder of decoders) decoder.destroy();
  }
  const spoiled = () => decoders.some((decoder) => decoder.broken());

  return {
    async write(chunk) {
      if (truncated) return;
      transferred += chunk.length;
      if (first === undefined) {
        keep(chunk);
        return;
      }
      if (transferred > maxBytes) {
        truncated = true;
        stop();
        return;
      }
      await first.write(chunk);
    },
    full: () => truncated || spoiled(),
    async finish(error) {
      if (spoiled()) failure ??= "bad_encoding";
      for (const decoder of decoders) {
        const whole = truncated || (await decoder.end());
        if (!whole && !truncated && transferred > 0) failure ??= "truncated_encoding";
      }
      stop();
      const bytes = store.take();
      let digest: string | null = null;
      return {
        bytes,
        transferredBytes: transferred,
        decodedBytes: decoded,
        encoding: applied.length > 0 && transferred > 0 ? applied.join(", ") : null,
        truncated,
        // Few callers show it, and it costs more than the rest of a small body.
        get sha256() {
          return (digest ??= hash("sha256", bytes));
        },
        error: error ?? failure,
      };
    },
  };
}

/** Maximum number of pieces that are held as received. */
const MAX_PIECES = 64;

/**
 * Holds the octets of a body. Pieces are held as received and copied once, at the end: most pages arrive in a few, and a
 * buffer that grows with them takes twice their memory, which costs full garbage collections. From many pieces the
 * octets move to a growing buffer, so that a million pieces of one octet cost about two million octets.
 */
function createStore(): { add(piece: Buffer): void; take(): Buffer } {
  const octets = createOctets();
  let pieces: Buffer[] = [];
  return {
    add(piece) {
      pieces.push(piece);
      if (pieces.length < MAX_PIECES) return;
      for (const held of pieces) octets.append(held);
      pieces = [];
    },
    // Always a copy: a view keeps all of the memory around it.
    take: () => Buffer.concat([octets.view(), ...pieces]),
  };
}

type Inflation = zlib.Inflate | zlib.BrotliDecompress | zlib.ZstdDecompress;
type Coding = "gzip" | "deflate" | "br" | "zstd";

const ALIASES: Readonly<Record<string, Coding>> = {
  gzip: "gzip",
  "x-gzip": "gzip",
  deflate: "deflate",
  br: "br",
  zstd: "zstd",
};

/** Returns the coding of a Content-Encoding element; null if it is not supported. */
function codingOf(element: string): Coding | null {
  return ALIASES[element] ?? null;
}

/** Creates a decoder that passes its output to `sink`. It allocates nothing before the first octet. */
function createDecoder(coding: Coding, sink: (piece: Buffer) => void): Decoder {
  return coding === "gzip" ? createGzipDecoder(sink) : createStreamDecoder(coding, sink);
}

function createStreamDecoder(coding: Exclude<Coding, "gzip">, sink: (piece: Buffer) => void): Decoder {
  let stream: Inflation | null = null;
  let broken = false;
  let ended = false;
  let wake: () => void = () => {};
  const open = (piece: Buffer): Inflation => {
    const made = start(coding, piece);
    made.on("data", (out: Buffer) => sink(out));
    made.once("end", () => {
      ended = true;
      wake();
    });
    made.once("error", () => {
      broken = true;
      wake();
    });
    made.once("close", () => wake());
    return made;
  };
  const idle = () => broken || ended || stream === null || stream.destroyed;
  return {
    write(piece) {
      if (piece.length === 0) return Promise.resolve();
      stream ??= open(piece);
      if (idle()) return Promise.resolve(); // data after the end is ignored, as in browsers
      const target = stream;
      return new Promise((resolve) => {
        wake = resolve;
        target.write(piece, () => resolve());
      });
    },
    end() {
      if (idle()) return Promise.resolve(!broken);
      const target = stream;
      return new Promise((resolve) => {
        wake = () => resolve(ended && !broken);
        target?.end();
      });
    },
    broken: () => broken,
    destroy: () => void stream?.destroy(),
  };
}

function start(coding: Exclude<Coding, "gzip">, first: Buffer): Inflation {
  switch (coding) {
    case "br":
      return zlib.createBrotliDecompress();
    case "zstd":
      // 8 MiB: the window that RFC 9659 allows a server to require of a browser.
      return zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } });
    default:
      // RFC 9110 requires the zlib format, but some servers send bare deflate. A zlib header's low nibble is 8 (RFC
      // 1950). No bare stream starts with it, because it would be a stored block with set padding bits.
      return ((first[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw();
  }
}
