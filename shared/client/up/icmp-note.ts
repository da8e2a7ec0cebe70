import { readFileSync } from "node:fs";
import { join } from "node:path";
import { IDENTITY_ENTRY } from "#shared/agent-state.ts";
import { callService, field } from "#shared/client/call.ts";
import { findRawSocketProblem, type RawSocketFacts } from "#shared/client/raw-sockets.ts";

/** The local agent, and the control plane to ask for its capabilities. */
interface LocalAgentAddress {
  /** The control plane's own listener. */
  readonly base: string;
  readonly adminToken: string;
  /** The directory of the agent's identity. */
  readonly stateDir: string;
}

/**
 * Reads the capabilities that the local agent reported to the control plane ("icmp4", "traceroute" ...); null if they
 * are not available.
 */
export async function readCapabilities(agent: LocalAgentAddress): Promise<readonly string[] | null> {
  const { base, adminToken, stateDir } = agent;
  try {
    const id = readFileSync(join(stateDir, IDENTITY_ENTRY, "agent-id"), "utf8").trim();
    const url = `${base}/api/admin/probes?id=${encodeURIComponent(id)}`;
    const capabilities = field(
      field((await callService(url, { token: adminToken, own: true })).body, "data"),
      "capabilities",
    );
    return Array.isArray(capabilities) ? capabilities.map(String) : null;
  } catch {
    return null;
  }
}

/** Formats lines for the terminal if the agent has no ICMP; returns none if it has. */
export function describeIcmp(
  capabilities: readonly string[],
  facts: RawSocketFacts,
  agentLog: string,
): readonly string[] {
  if (capabilities.includes("icmp4") || capabilities.includes("icmp6")) return [];
  const { why, todo } = findRawSocketProblem(facts) ?? {
    why: "the agent cannot open raw sockets",
    todo: `see "icmp" in ${agentLog} for the reason`,
  };
  return [`ICMP and traceroute are off: ${why}. Ping uses TCP.`, `  To turn them on: ${todo}.`];
}
