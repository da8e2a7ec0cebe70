import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { hasTag } from "#control-plane/http/operations/document.ts";

/** A file of a caller's own, which never changes, to be sent without an envelope. */
export class SentFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Hash of the content, for its entity tag. */
  readonly hash: string;

  constructor(type: string, bytes: Buffer, hash: string) {
    this.type = type;
    this.bytes = bytes;
    this.hash = hash;
  }
}

/** Larger files are written in pieces of this size: with TLS, Node copies the unsent rest of each write. */
const PIECE = 65_536;
/** A year, in seconds. */
const CACHE_SECONDS = 31_536_000;

/**
 * Sends a file; 304 if the client has it. It comes from strangers: browsers must not guess its type, nor run anything
 * that it contains. `cacheControl`: by default it is kept by the client alone, for a year.
 */
export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, bytes, hash }: SentFile,
  cacheControl = `private, max-age=${CACHE_SECONDS}, immutable`,
): FastifyReply {
  reply.headers({
    "cache-control": cacheControl,
    etag: `"${hash}"`,
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
  });
  if (hasTag(request.headers["if-none-match"], hash)) return reply.code(304).send();
  return reply
    .type(type)
    .header("content-length", bytes.length)
    .send(Readable.from(piecesOf(bytes)));
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}
