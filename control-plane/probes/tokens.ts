import { createHash } from "node:crypto";
import type { Clock, Random } from "#shared/clock.ts";
import type { Queryable } from "#control-plane/database/connect.ts";
import { insertToken } from "#control-plane/probes/store.ts";

// Prefix, 32 random bytes in base64url, SHA-256 of the authority's certificate (DER) in hex.
const FORM = /^vjt_([A-Za-z0-9_-]{43})_([0-9a-f]{64})$/;

/** A join token read by its form. */
interface JoinToken {
  /** SHA-256 of the secret as written; all that is kept of it. */
  readonly digest: Uint8Array;
  /** Of the authority whose control plane the token is for. */
  readonly fingerprint: string;
}

/** Reads a token as an agent presents it; null where it is none. */
export function readToken(presented: string): JoinToken | null {
  const [, secret, fingerprint] = (presented.length > 200 ? null : FORM.exec(presented)) ?? [];
  if (secret === undefined || fingerprint === undefined) return null;
  return { digest: createHash("sha256").update(secret).digest(), fingerprint };
}

/** What a new token lets in. */
export interface TokenRequest {
  readonly region: string;
  /** Set: private agents of this account. */
  readonly accountId: number | null;
  readonly ttlSeconds: number;
  /** false: one agent only. */
  readonly reusable: boolean;
}

/** A token just made, in clear for the only time. */
export interface MadeToken {
  readonly token: string;
  readonly expiresAt: Date;
}

/** Makes a token for the authority with this fingerprint; null where the account does not exist. */
export async function makeToken(
  sql: Queryable,
  request: TokenRequest,
  { fingerprint, clock, random }: { fingerprint: string; clock: Clock; random: Random },
): Promise<MadeToken | null> {
  const token = `vjt_${Buffer.from(random.bytes(32)).toString("base64url")}_${fingerprint}`;
  const read = readToken(token);
  if (read === null) throw new Error("a token of ours does not read");
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + request.ttlSeconds * 1_000);
  const { region, accountId, reusable } = request;
  const kept = await insertToken(sql, { digest: read.digest, region, accountId, reusable, expiresAt }, now);
  return kept ? { token, expiresAt } : null;
}
