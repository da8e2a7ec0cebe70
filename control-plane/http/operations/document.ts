import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { placePaths } from "#control-plane/http/base-path.ts";
import { chooseCoding, type Coding } from "#control-plane/http/accept-encoding.ts";
import { codeText, joinCoded } from "#control-plane/http/coded-text.ts";

/** A body that is the same for every client: all connections share one buffer for each coding. */
export interface Document {
  readonly type: string;
  readonly cacheControl: string;
  /** Hash of the content; the entity tag of each coding is derived from it. */
  readonly hash: string;
  coded(coding: Coding): Promise<Buffer>;
  /** Returns the document below a base path: a page with other paths. */
  below(basePath: string): Pick<Document, "hash" | "coded">;
}

/** Header fields of a document. */
interface DocumentOptions {
  /** Content-Type. */
  readonly type: string;
  /** Cache-Control; by default caches can store the document and must revalidate it before each use. */
  readonly cacheControl?: string;
}

/** Minimum size to compress, octets: below it a coding saves less than its header fields cost. */
const LEAST_CODED = 1_024;
/** Larger bodies are written in pieces of this size: with TLS, Node copies the unsent rest of each write. */
const PIECE = 65_536;

/** Creates a document. */
export function createDocument(content: string | Buffer, { type, cacheControl }: DocumentOptions): Document {
  const raw = typeof content === "string" ? Buffer.from(content) : content;
  const text = codeText(raw);
  const bodies = new Map<Coding, Promise<Buffer>>([["identity", Promise.resolve(raw)]]);
  let placed: readonly [basePath: string, document: Document] | undefined;
  return {
    type,
    cacheControl: cacheControl ?? "public, no-cache",
    hash: hashOf(raw),
    coded(asked) {
      const coding = raw.length < LEAST_CODED ? "identity" : asked;
      const body = bodies.get(coding) ?? joinCoded(coding, text);
      bodies.set(coding, body);
      return body;
    },
    below(basePath) {
      if (basePath === "" || typeof content !== "string" || !type.startsWith("text/html")) return this;
      // A document is that of one service, which has one base path.
      if (placed?.[0] !== basePath) placed = [basePath, createDocument(placePaths(content, basePath), { type })];
      return placed[1];
    },
  };
}

/** Returns 128 bits of the SHA-256 of a content, for its entity tags. */
export function hashOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("base64url").slice(0, 22);
}

/** Sets status and headers of the answer and returns its body; null (304) if the client has the current document. */
async function prepareDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  document: Document,
): Promise<Buffer | Readable | null> {
  const asked = chooseCoding(request.headers["accept-encoding"]);
  const placed = document.below(request.basePath);
  const body = await placed.coded(asked);
  const coding = body === (await placed.coded("identity")) ? "identity" : asked;
  const tag = coding === "identity" ? placed.hash : `${placed.hash}.${coding}`;
  reply.headers({ "cache-control": document.cacheControl, vary: "accept-encoding", etag: `"${tag}"` });
  if (hasTag(request.headers["if-none-match"], tag)) {
    reply.code(304).removeHeader("content-type");
    return null;
  }
  reply.type(document.type);
  if (coding !== "identity") reply.header("content-encoding", coding);
  if (body.length <= PIECE) return body;
  reply.header("content-length", body.length);
  return Readable.from(piecesOf(body));
}

/** Sends a document. */
export async function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  document: Document,
): Promise<FastifyReply> {
  const body = await prepareDocument(request, reply, document);
  // null would be sent as JSON: with a type and a length that are not those of the document.
  return body === null ? reply.send() : reply.send(body);
}

/** Reports whether If-None-Match contains a tag (RFC 9110, section 13.1.2, weak comparison). */
export function hasTag(field: string | undefined, tag: string): boolean {
  if (field === undefined) return false;
  if (field.trim() === "*") return true;
  return Array.from(field.matchAll(/"([^"]*)"/g)).some(([, opaque]) => opaque === tag);
}

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += PIECE) yield body.subarray(at, at + PIECE);
}
