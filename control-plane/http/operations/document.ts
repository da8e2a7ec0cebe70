import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { chooseCoding, type Coding } from "#control-plane/http/accept-encoding.ts";
import { codeText, joinCoded } from "#control-plane/http/coded-text.ts";

/** A body that is the same for everybody: one buffer for each coding serves all connections. */
export interface Document {
  readonly type: string;
  readonly cacheControl: string;
  /** Of the content; each coding has a tag of its own made from it. */
  readonly hash: string;
  coded(coding: Coding): Promise<Buffer>;
}

/** What is said of a document besides its content. */
export interface DocumentOptions {
  /** Content-Type. */
  readonly type: string;
  /** Cache-Control; by default caches may keep the document and ask each time whether it is still the same. */
  readonly cacheControl?: string;
}

/** Below this a coding saves less than its header fields cost. */
const LEAST_CODED = 1_024;
/** Larger bodies are written in pieces: of one write Node copies what the client has not taken, where it encrypts. */
const PIECE = 65_536;

/** A document of this content. */
export function createDocument(content: string | Buffer, { type, cacheControl }: DocumentOptions): Document {
  const raw = typeof content === "string" ? Buffer.from(content) : content;
  const text = codeText(raw);
  const bodies = new Map<Coding, Promise<Buffer>>([["identity", Promise.resolve(raw)]]);
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
  };
}

/** 128 bits of a content's SHA-256, for its entity tags. */
export function hashOf(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("base64url").slice(0, 22);
}

/** Describes the answer and returns what to send as its body: nothing (304) where the client has it already. */
export async function prepareDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  document: Document,
): Promise<Buffer | Readable | null> {
  const asked = chooseCoding(request.headers["accept-encoding"]);
  const body = await document.coded(asked);
  const coding = body === (await document.coded("identity")) ? "identity" : asked;
  const tag = coding === "identity" ? document.hash : `${document.hash}.${coding}`;
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

/** The answer that sends a document. */
export async function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  document: Document,
): Promise<FastifyReply> {
  return reply.send(await prepareDocument(request, reply, document));
}

/** Whether If-None-Match names a tag (RFC 9110, section 13.1.2); weak and strong tags compare alike. */
export function hasTag(field: string | undefined, tag: string): boolean {
  if (field === undefined) return false;
  if (field.trim() === "*") return true;
  return Array.from(field.matchAll(/"([^"]*)"/g)).some(([, opaque]) => opaque === tag);
}

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += PIECE) yield body.subarray(at, at + PIECE);
}
