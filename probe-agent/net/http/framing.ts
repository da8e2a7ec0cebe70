import { headerElements, headerValues } from "#probe-agent/analysis/http/header-list.ts";
import type { ResponseHead } from "#probe-agent/net/http/response-head.ts";

/** How an HTTP/1 body is delimited (RFC 9112 section 6.3). */
type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "close" };

/** The framing, and the fault in the fields that declare it; null if there is none. */
export interface DeclaredFraming {
  readonly framing: Framing;
  readonly fault: "bad_content_length" | "unsupported_transfer_coding" | null;
}

/** Reports whether a response has a body, in any version (RFC 9110 section 6.4.1). */
export function hasBody(method: string, code: number): boolean {
  return method !== "HEAD" && code >= 200 && code !== 204 && code !== 304;
}

/** Decides the framing. Transfer-Encoding overrides Content-Length. An invalid length counts as absent. */
export function bodyFraming(method: string, head: ResponseHead): DeclaredFraming {
  if (!hasBody(method, head.code)) return { framing: { kind: "none" }, fault: null };
  const codings = headerElements(head.headers, "transfer-encoding");
  if (codings.length > 0) {
    const fault = codings.length > 1 || codings[0] !== "chunked" ? "unsupported_transfer_coding" : null;
    return { framing: { kind: codings.at(-1) === "chunked" ? "chunked" : "close" }, fault };
  }
  const lengths = new Set(
    headerValues(head.headers, "content-length").flatMap((value) => value.split(",").map(trimmed)),
  );
  if (lengths.size === 0) return { framing: { kind: "close" }, fault: null };
  const [only = ""] = lengths;
  if (lengths.size > 1 || !/^\d{1,15}$/.test(only)) {
    return { framing: { kind: "close" }, fault: "bad_content_length" };
  }
  return { framing: { kind: "length", bytes: Number(only) }, fault: null };
}

function trimmed(text: string): string {
  return text.trim();
}

/** Maximum octets of chunk extensions and trailers in one body. */
const MAX_CHUNK_OVERHEAD = 16_384;
const SIZE_LINE = /^([0-9a-fA-F]{1,12})[ \t]*(;|$)/;

/** Result of decoding one piece of a chunked body. */
interface ChunkedPiece {
  readonly data: readonly Buffer[];
  /** Whether the last chunk and the trailers have been read. */
  readonly done: boolean;
  readonly error: "bad_chunk" | "chunk_overhead" | null;
}

/** Creates a decoder of the chunked transfer coding (RFC 9112 section 7.1). Trailers are read and dropped. */
export function createChunkedDecoder(): (chunk: Buffer) => ChunkedPiece {
  let state: "size" | "data" | "after" | "trailers" | "done" = "size";
  let left = 0;
  let line = "";
  let overhead = 0;
  return (chunk) => {
    const data: Buffer[] = [];
    let at = 0;
    while (at < chunk.length && state !== "done") {
      if (state === "data") {
        const piece = chunk.subarray(at, at + left);
        data.push(piece);
        at += piece.length;
        left -= piece.length;
        if (left === 0) state = "after";
        continue;
      }
      const feed = chunk.indexOf(10, at);
      const end = feed === -1 ? chunk.length : feed;
      overhead += state === "after" ? 0 : end - at;
      if (overhead > MAX_CHUNK_OVERHEAD) return { data, done: false, error: "chunk_overhead" };
      line += chunk.toString("latin1", at, end);
      at = end + 1;
      if (feed === -1) {
        if (state === "after" && line !== "" && line !== "\r") return { data, done: false, error: "bad_chunk" };
        continue;
      }
      const text = line.endsWith("\r") ? line.slice(0, -1) : line;
      line = "";
      if (state === "after") {
        if (text !== "") return { data, done: false, error: "bad_chunk" };
        state = "size";
      } else if (state === "size") {
        const size = SIZE_LINE.exec(text)?.[1];
        if (size === undefined) return { data, done: false, error: "bad_chunk" };
        overhead -= size.length + 1;
        left = Number.parseInt(size, 16);
        state = left === 0 ? "trailers" : "data";
      } else if (text === "") state = "done";
    }
    return { data, done: state === "done", error: null };
  };
}
