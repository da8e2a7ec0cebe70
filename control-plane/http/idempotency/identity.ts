import { createHash } from "node:crypto";

/** Values by name; those of one name keep their order, which can have a meaning. */
type Parameters = Readonly<Record<string, string | readonly string[]>>;

/** The parts of a write that identify it. */
export interface WriteRequest {
  readonly keyId: number;
  readonly method: string;
  /** The route's own path, such as /api/v4/monitors: one for every spelling of a path that leads to it. */
  readonly route: string;
  /** Parameters of the path and of the query, decoded. */
  readonly params: Parameters;
  readonly query: Parameters;
  /** Bytes of the body; empty if there is none. */
  readonly body: Uint8Array;
}

/** Hashes that distinguish a repeated write from a different one. Both are SHA-256, 32 bytes. */
export interface WriteIdentity {
  /** Selects the stored answer: API key, method, route, parameters in any order, X-Idempotency-Key. */
  readonly scope: Buffer;
  /** Confirms that the stored answer belongs to the same request: method, route, parameters, body. */
  readonly fingerprint: Buffer;
}

/** 1 to 255 characters of RFC 5234's VCHAR. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** Reports whether an X-Idempotency-Key is valid. */
export function isIdempotencyKey(key: string): boolean {
  return IDEMPOTENCY_KEY.test(key);
}

/** Returns the identity of a write with the client's X-Idempotency-Key. */
export function identifyWrite({ keyId, method, route, params, query, body }: WriteRequest, key: string): WriteIdentity {
  const place = [method, route, sorted(params), sorted(query)];
  return {
    scope: digest([String(keyId), ...place, key]),
    fingerprint: digest([...place, createHash("sha256").update(body).digest("hex")]),
  };
}

/** Returns the number of a scope's advisory lock: its first 64 bits as a signed bigint of PostgreSQL. */
export function lockNumber(scope: Buffer): string {
  return scope.readBigInt64BE().toString();
}

/** Returns parameters as one text, by name. */
function sorted(parameters: Parameters): string {
  return JSON.stringify(Object.entries(parameters).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Hashes the parts as JSON, in which two different lists never have the same text. */
function digest(parts: readonly string[]): Buffer {
  return createHash("sha256").update(JSON.stringify(parts)).digest();
}
