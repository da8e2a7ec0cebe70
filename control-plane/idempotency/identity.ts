import { createHash } from "node:crypto";

/** A write as far as its identity goes. */
export interface WriteRequest {
  readonly keyId: number;
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  /** The octets of the body; empty without one. */
  readonly body: Uint8Array;
}

/** What tells a repeated write from another one. Both are SHA-256, 32 octets. */
export interface WriteIdentity {
  /** Which answer may be replayed: key, method, path with its query in any order, X-Idempotency-Key. */
  readonly scope: Buffer;
  /** Whether it is an answer to this very request: method, path, query, body. */
  readonly fingerprint: Buffer;
}

/** 1 to 255 octets of RFC 5234's VCHAR. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** Whether a client's X-Idempotency-Key can be used. */
export function isIdempotencyKey(key: string): boolean {
  return KEY.test(key);
}

/** The identity of a write under a client's key. */
export function identify({ keyId, method, target, body }: WriteRequest, key: string): WriteIdentity {
  const place = [method, ...sortQuery(target)];
  return {
    scope: digest([String(keyId), ...place, key]),
    fingerprint: digest([...place, createHash("sha256").update(body).digest("hex")]),
  };
}

/** The number of a scope's advisory lock: its first 64 bits, as PostgreSQL's signed bigint. */
export function lockNumber(scope: Buffer): string {
  return scope.readBigInt64BE().toString();
}

/** Path, then the query's parameters by name; those of one name stay in their order, which may mean something. */
function sortQuery(target: string): string[] {
  const [path = "", query = ""] = target.split("?", 2);
  const params = new URLSearchParams(query);
  params.sort();
  return [path, params.toString()];
}

/** Written as JSON, no two lists of parts run into each other. */
function digest(parts: readonly string[]): Buffer {
  return createHash("sha256").update(JSON.stringify(parts)).digest();
}
