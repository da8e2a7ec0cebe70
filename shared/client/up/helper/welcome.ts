import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { stateDirOf, IDENTITY_ENTRY } from "#shared/settings/agent-state.ts";
import { readRawSocketFacts, findRawSocketProblem, type RawSocketFacts } from "#shared/client/raw-sockets.ts";
import { adminTokenFile, readAdminToken } from "#shared/client/up/helper/admin-token.ts";
import { searchPathOf } from "#shared/process/chromium.ts";
import { linkedUrl } from "#shared/settings/address.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import type { Started } from "#shared/client/up/helper.ts";
import type { Installation } from "#shared/client/up/helper/installation.ts";
import { callService, field } from "#shared/client/call.ts";

/** The first key has the highest plan: the operator may use every function. */
const FIRST_KEY = { plan: "captain", name: "first key" };

/** Contents of the text after a start. */
interface Greeting {
  readonly baseUrl: string;
  /** The path of the operator token; null: VANTAGE_ADMIN_TOKEN is set. */
  readonly adminTokenFile: string | null;
  /** Set only with the operator's own database: without this file the secrets in it are lost. */
  readonly masterKeyFile: string | null;
  /** Set only on the first start. */
  readonly firstKey: string | null;
  /** Where the first user signs in, or how; null if there are users. */
  readonly signIn: string | null;
  readonly logFiles: readonly string[];
  readonly notes: readonly string[];
}

/** The local agent, and the control plane to ask for its capabilities. */
interface LocalAgentAddress {
  /** The control plane's own listener. */
  readonly base: string;
  readonly adminToken: string;
  /** The directory of the agent's identity. */
  readonly stateDir: string;
}

/** Creates the first key if there is none and returns how to use the service. */
export async function welcome(installation: Installation, started: Started): Promise<string> {
  const { settings, agentSettings, directory, environment, dataDirectory, own } = installation;
  const { degraded, logs, isTerminal } = started;
  const tokenFile = adminTokenFile(dataDirectory);
  const masterKeyFile = join(dataDirectory, "master-key");
  const token = readAdminToken(settings, dataDirectory);
  const firstKey = token === null ? null : await makeFirstKey(own, token).catch(() => null);
  const signIn = token === null ? null : await makeFirstSignIn(isTerminal, own, token).catch(() => null);
  const stateDir = resolve(directory, stateDirOf({ ...agentSettings, dataDir: dataDirectory }));
  const can = token === null ? null : await readCapabilities({ base: own, adminToken: token, stateDir });
  const notes = [...started.notes];
  if (degraded.includes("agents")) notes.push(`No agent has attached yet: see ${logs["agent"]}.`);
  if (can !== null)
    notes.push(...describeIcmp(can, readRawSocketFacts(searchPathOf(environment["PATH"])), logs["agent"] ?? ""));
  if (settings.allowTargets !== null)
    notes.push(`Every user of this service can reach ${settings.allowTargets.join(", ")} (VANTAGE_ALLOW_TARGETS).`);
  return greet({
    baseUrl: settings.baseUrl ?? linkedUrl(settings.httpAddr, settings.tlsCert !== null),
    adminTokenFile: settings.adminToken === null ? tokenFile : null,
    masterKeyFile: settings.databaseUrl !== null && existsSync(masterKeyFile) ? masterKeyFile : null,
    firstKey,
    signIn,
    logFiles: Object.values(logs),
    notes,
  });
}

/**
 * Creates the first API key if none exists. null if there are keys already, or the service did not list them.
 * `base`: the control plane's own listener.
 */
async function makeFirstKey(base: string, token: string): Promise<string | null> {
  const keys = await callService(`${base}/api/admin/keys`, { token, own: true });
  if (keys.status !== 200 || countRows(field(keys.body, "data")) !== 0) return null;
  const made = await callService(`${base}/api/admin/keys`, { method: "POST", token, json: FIRST_KEY, own: true });
  const key = field(field(made.body, "data"), "key");
  return made.status === 201 && typeof key === "string" ? key : null;
}

/**
 * Creates the link by which the first user signs in, while there is none, and describes it. An output that is no terminal
 * can be a log, which is kept: there the link is left out. null if there are users, or the service did not create one.
 */
async function makeFirstSignIn(isTerminal: boolean, base: string, token: string): Promise<string | null> {
  const url = `${base}/api/admin/sign-in-links`;
  const made = await callService(url, { method: "POST", token, json: { if_no_users: true }, own: true });
  const link = field(field(made.body, "data"), "url");
  if (made.status !== 201 || typeof link !== "string") return null;
  return isTerminal ? `${link} (works once, for 15 minutes)` : `by the link that ${LAUNCHER} sign-in-link prints`;
}

function countRows(data: unknown): number | null {
  if (Array.isArray(data)) return data.length;
  const keys = field(data, "keys");
  return Array.isArray(keys) ? keys.length : null;
}

/** Formats the text after a start. */
function greet(greeting: Greeting): string {
  const { baseUrl, adminTokenFile: tokenFile, masterKeyFile, firstKey, signIn, logFiles, notes } = greeting;
  const rows: [string, string][] = [["URL", baseUrl]];
  if (signIn !== null) rows.push(["Sign in", signIn]);
  rows.push(["Operator token", tokenFile === null ? "the value of VANTAGE_ADMIN_TOKEN" : `in ${tokenFile}`]);
  if (masterKeyFile !== null) rows.push(["Master key", `in ${masterKeyFile} (keep a copy: the database needs it)`]);
  if (firstKey !== null) rows.push(["First API key", `${firstKey} (plan captain; not shown again)`]);
  rows.push(["Logs", logFiles.join(", ")]);
  const width = Math.max(...rows.map(([label]) => label.length)) + 2;
  const header = `-H 'X-API-Key: ${firstKey ?? "YOUR_KEY"}'`;
  return [
    "",
    "Vantage is ready.",
    "",
    ...rows.map(([label, value]) => `  ${label.padEnd(width)}${value}`),
    "",
    "Try it (the first command works without internet access):",
    `  curl ${header} ${baseUrl}/api/v4/tools`,
    `  curl ${header} '${baseUrl}/api/v4/check?url=https://example.com'`,
    "",
    ...notes,
    "Ctrl-C stops everything.",
    "",
  ].join("\n");
}

/**
 * Reads the capabilities that the local agent reported to the control plane ("icmp4", "traceroute" ...); null if they
 * are not available.
 */
async function readCapabilities(agent: LocalAgentAddress): Promise<readonly string[] | null> {
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
