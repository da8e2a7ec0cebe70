import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { callService, field } from "#shared/client/call.ts";
import { readAdminToken } from "#shared/client/up/helper/admin-token.ts";
import type { Installation } from "#shared/client/up/helper/installation.ts";
import { IDENTITY_ENTRY, stateDirOf } from "#shared/settings/agent-state.ts";

/** Inputs for a local agent's join token. */
interface LocalAgent {
  /** The control plane's own listener. */
  readonly base: string;
  readonly adminToken: string;
  readonly region: string;
  /** The directory of the agent's identity. */
  readonly stateDir: string;
}

/** An agent enrols within seconds of its start, so a short-lived token is enough. */
const TTL_SECONDS = 600;

/** Creates the local agent's join token; only the agent's process gets it. */
export async function joinToken(installation: Installation): Promise<Readonly<Record<string, string>>> {
  const { settings, agentSettings, dataDirectory, directory, own: base } = installation;
  const { region, stateDir, joinToken: given, joinTokenFile } = agentSettings;
  const adminToken = readAdminToken(settings, dataDirectory);
  if (given !== null || joinTokenFile !== null || adminToken === null) return {};
  const folder = resolve(directory, stateDirOf({ stateDir, region, dataDir: dataDirectory }));
  const token = await makeJoinToken({ base, adminToken, region, stateDir: folder }).catch(() => null);
  return token === null ? {} : { VANTAGE_JOIN_TOKEN: token };
}

/**
 * Creates a one-time join token for an agent that is not enrolled with this control plane: it has no identity, or one of
 * another authority, for example after a change of database. null: the agent needs no token, or the control plane
 * issued none; the agent then reports the failure.
 */
async function makeJoinToken({ base, adminToken, region, stateDir }: LocalAgent): Promise<string | null> {
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

/** Returns the SHA-256 of an identity's authority certificate, in hex as in join tokens; null if it is unreadable. */
function authorityOf(stateDir: string): string | null {
  try {
    const { fingerprint256 } = new X509Certificate(readFileSync(join(stateDir, IDENTITY_ENTRY, "ca.pem")));
    return fingerprint256.replaceAll(":", "").toLowerCase();
  } catch {
    return null;
  }
}
