import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { IDENTITY_ENTRY } from "#shared/agent-state.ts";
import { callService, field } from "#shared/client/call.ts";

/** What a token for the local agent takes. */
export interface LocalAgent {
  /** The control plane's own listener. */
  readonly base: string;
  readonly adminToken: string;
  readonly region: string;
  /** Where the agent keeps its identity. */
  readonly stateDir: string;
}

/** An agent enrols within seconds of its start; the token need not outlive that. */
const TTL_SECONDS = 600;

/**
 * A one-off join token for an agent that is not enrolled with this control plane: it has no identity, or one of another
 * authority, as where the database was changed. null: it needs none, or none is to be had and the agent will say so.
 */
export async function makeJoinToken({ base, adminToken, region, stateDir }: LocalAgent): Promise<string | null> {
  const json = { region, ttl_seconds: TTL_SECONDS };
  const made = await callService(`${base}/api/admin/probe-tokens`, {
    method: "POST",
    token: adminToken,
    json,
    own: true,
  });
  const token = field(field(made.body, "data"), "token");
  if (made.status !== 201 || typeof token !== "string") return null;
  return token.endsWith(`_${authorityOf(stateDir)}`) ? null : token;
}

/** SHA-256 of the authority's certificate that an identity is of, hex as join tokens carry it; null where unreadable. */
function authorityOf(stateDir: string): string | null {
  try {
    const { fingerprint256 } = new X509Certificate(readFileSync(join(stateDir, IDENTITY_ENTRY, "ca.pem")));
    return fingerprint256.replaceAll(":", "").toLowerCase();
  } catch {
    return null;
  }
}
