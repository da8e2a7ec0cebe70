import { createHash } from "node:crypto";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import { insertToken } from "#control-plane/checks/probes/store.ts";

// Prefix, 32 random bytes in base64url, SHA-256 of the authority's certificate (DER) in hex.
const FORM = /^vjt_([A-Za-z0-9_-]{43})_([0-9a-f]{64})$/;

/** A parsed join token. */
interface JoinToken {
  /** SHA-256 of the secret's text; the only part of it that is stored. */
  readonly digest: Uint8Array;
  /** Fingerprint of the authority of the control plane that the token is for. */
  readonly fingerprint: string;
}

/** Parses a token that an agent presents. Returns null if it has another form. */
export function parseToken(presented: string): JoinToken | null {
  const [, secret, fingerprint] = (presented.length > 200 ? null : FORM.exec(presented)) ?? [];
  if (secret === undefined || fingerprint === undefined) return null;
  return { digest: createHash("sha256").update(secret).digest(), fingerprint };
}

/** Properties of a new token. */
export interface TokenRequest {
  readonly region: string;
  /** Account that its agents belong to; null for shared agents. */
  readonly accountId: number | null;
  readonly ttlSeconds: number;
  /** Whether any number of agents can join with it; otherwise only one. */
  readonly reusable: boolean;
}

/** A new token, in plain text for the only time. */
export interface CreatedToken {
  readonly token: string;
  readonly expiresAt: Date;
}

/** Creates a token for the authority with this fingerprint. Returns null if the account does not exist. */
export async function createToken(
  sql: Queryable,
  request: TokenRequest,
  { fingerprint, clock, random }: { fingerprint: string; clock: Clock; random: Random },
): Promise<CreatedToken | null> {
  const token = `vjt_${Buffer.from(random.bytes(32)).toString("base64url")}_${fingerprint}`;
  const read = parseToken(token);
  if (read === null) throw new Error("a created token cannot be parsed");
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + request.ttlSeconds * 1_000);
  const { region, accountId, reusable } = request;
  const kept = await insertToken(sql, { digest: read.digest, region, accountId, reusable, expiresAt }, now);
  return kept ? { token, expiresAt } : null;
}
