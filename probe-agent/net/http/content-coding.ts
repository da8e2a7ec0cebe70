import * as zlib from "node:zlib";
import type { Decoder } from "#probe-agent/net/http/decoder.ts";
import { createGzipDecoder } from "#probe-agent/net/http/gzip.ts";

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
export function codingOf(element: string): Coding | null {
  return ALIASES[element] ?? null;
}

/** Creates a decoder that passes its output to `sink`. It allocates nothing before the first octet. */
export function createDecoder(coding: Coding, sink: (piece: Buffer) => void): Decoder {
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
