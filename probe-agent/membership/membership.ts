import type { Logger } from "pino";
import type { Random } from "#shared/time/clock.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import { fingerprintOfAuthority, type Identity, findFault } from "#probe-agent/membership/identity.ts";
import { findToken, type JoinToken } from "#probe-agent/membership/join-token.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { backoffDelayMs } from "#shared/time/backoff.ts";
import { makeCertificateRequest } from "#probe-agent/membership/certificate-request.ts";
import { enroll } from "#probe-agent/membership/enroll.ts";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { IDENTITY_ENTRY } from "#shared/settings/agent-state.ts";

/** The agent's identity while its process runs. */
export interface Membership {
  identity(): Identity;
  /** Stores a renewed identity. */
  replace(identity: Identity): void;
  /**
   * Called when the control plane no longer accepts this identity. With an unused join token the agent enrols again and
   * the result is null. Otherwise the result is the line to exit with, and the stored identity stays unchanged.
   */
  onRejected(message: string): Promise<string | null>;
  /**
   * Called when the server at the control plane's address has another authority than this identity. The agent enrols
   * there if it has an unused join token for that authority.
   */
  onForeignAuthority(): Promise<void>;
}

/** A membership, or an error line for the operator. */
type OpenedMembership =
  | { readonly ok: true; readonly membership: Membership }
  | { readonly ok: false; readonly line: string };

/** Options of a membership. */
interface MembershipOptions {
  readonly stateDir: string;
  readonly region: string;
  readonly joinToken: string | null;
  readonly joinTokenFile: string | null;
  readonly addresses: readonly string[];
  readonly random: Random;
  readonly log: Logger;
}

/** OpenSSL's messages about a chain that does not lead to the authority, as grpc-js passes them on. */
const UNTRUSTED = /certificate|self.signed/i;

/** The first retry waits 0.5 to 1 s, later ones at most 15 s. */
const BACKOFF = { firstMs: 1_000, longestMs: 15_000 };

/** An identity, or an error line for the operator. */
type Joined = { readonly ok: true; readonly identity: Identity } | { readonly ok: false; readonly line: string };

/** Options for joining. */
interface JoinOptions {
  /** VANTAGE_CONTROL_PLANE. Tried in turn. */
  readonly addresses: readonly string[];
  readonly token: JoinToken;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Reports whether a dial failed because the agent's authority did not issue the server's certificate. `detail` is
 * grpc-js's message.
 */
export function isUntrusted(detail: string): boolean {
  return UNTRUSTED.test(detail);
}

/** Reads the stored identity. At the first start, exchanges the join token for one. */
export async function openMembership(options: MembershipOptions): Promise<OpenedMembership> {
  const { stateDir, region, addresses, random, log } = options;
  const how = `${LAUNCHER} probes token --region ${region}`;
  const kept = readIdentity(stateDir);
  const found = findToken(options.joinToken, options.joinTokenFile);
  if (kept.kind === "kept") {
    // An identity takes precedence over a token, even a malformed one: the file of a used token may be empty.
    return { ok: true, membership: hold(kept.identity, found.ok ? found.token : null) };
  }
  const broken = kept.kind === "broken" ? `the identity in ${stateDir} is broken (${kept.fault}) and ` : "";
  if (!found.ok) return found;
  if (found.token === null) {
    const line = `${broken}VANTAGE_JOIN_TOKEN is not set: \`${how}\` on the control plane prints one for an agent that is not enrolled yet`;
    return { ok: false, line };
  }
  if (broken !== "")
    log.warn({ fault: kept.kind === "broken" ? kept.fault : null }, "the stored identity is damaged: enrolling again");
  const joined = await enrolWith(found.token);
  if (joined.ok) return { ok: true, membership: hold(joined.identity, found.token) };
  return { ok: false, line: `${joined.line} (\`${how}\` creates a new token)` };

  async function enrolWith(token: JoinToken) {
    const enrolled = await joinControlPlane({ addresses, token, random, log });
    if (enrolled.ok) writeIdentity(stateDir, enrolled.identity, random);
    return enrolled;
  }

  function hold(first: Identity, token: JoinToken | null): Membership {
    let identity = first;
    let joining: Promise<string | null> | null = null;

    async function joinAnew(unused: JoinToken, message: string): Promise<string | null> {
      log.warn({ agent: identity.agentId, detail: message }, "enrolling again with the join token");
      const enrolled = await enrolWith(unused);
      if (!enrolled.ok) return `${message}; ${enrolled.line}`;
      identity = enrolled.identity;
      return null;
    }

    const unused = () => (token === null || token.digest === identity.tokenDigest ? null : token);
    return {
      identity: () => identity,
      replace(renewed) {
        writeIdentity(stateDir, renewed, random);
        identity = renewed;
      },
      onRejected(message) {
        const spare = unused();
        if (joining === null && spare === null) {
          return Promise.resolve(`${message} (to enrol it again, set a new VANTAGE_JOIN_TOKEN: \`${how}\`)`);
        }
        if (spare !== null) joining ??= joinAnew(spare, message).finally(() => (joining = null));
        return joining ?? Promise.resolve(null);
      },
      async onForeignAuthority() {
        const spare = unused();
        if (spare === null || spare.fingerprint === fingerprintOfAuthority(identity)) return;
        joining ??= joinAnew(spare, "another control plane answers at the address").finally(() => (joining = null));
        await joining;
      },
    };
  }
}

/**
 * Enrols with the token and retries until a control plane is reachable. Ends without an identity once every address has
 * given an answer that a retry does not change.
 */
async function joinControlPlane({ addresses, token, random, log }: JoinOptions): Promise<Joined> {
  // The same key for all attempts: after a lost response the next attempt gets the same agent's certificate.
  const request = makeCertificateRequest();
  for (let failures = 1; ; failures += 1) {
    const refusals: string[] = [];
    for (const address of addresses) {
      const enrolment = await enroll(address, token, request);
      if (enrolment.ok) {
        log.info({ agent: enrolment.identity.agentId, controlPlane: address }, "enrolled");
        return enrolment;
      }
      const { retry, detail } = enrolment;
      if (!retry) refusals.push(`${address}: ${detail}`);
      log.warn({ controlPlane: address, detail, retry }, "not enrolled");
    }
    if (refusals.length === addresses.length) {
      return { ok: false, line: `the join token was refused. ${refusals.join("; ")}` };
    }
    await sleep(backoffDelayMs(BACKOFF, failures, random));
  }
}

/** Symbolic link to the folder of the newest files, so that all of them change atomically. */
const LINK = IDENTITY_ENTRY;
const FOLDER = /^identity\.[0-9a-f]{16}$/;

/** Result of reading the identity: complete, missing, or broken with the fault. */
type KeptIdentity =
  | { readonly kind: "kept"; readonly identity: Identity }
  | { readonly kind: "none" }
  | { readonly kind: "broken"; readonly fault: string };

/** Reads the identity of a state folder. */
export function readIdentity(stateDir: string): KeptIdentity {
  const read = (name: string) => readFileSync(join(stateDir, LINK, name), "utf8");
  let identity: Identity;
  try {
    identity = {
      key: read("key.pem"),
      certificate: read("certificate.pem"),
      ca: read("ca.pem"),
      agentId: read("agent-id").trim(),
      receivedAtMs: Number(read("received-at").trim() || Number.NaN),
      tokenDigest: read("token-digest").trim(),
    };
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (missing && !linkExists(stateDir)) return { kind: "none" };
    return { kind: "broken", fault: missing ? "a file is missing" : "a file cannot be read" };
  }
  const fault = findFault(identity);
  return fault === null ? { kind: "kept", identity } : { kind: "broken", fault };
}

/** Replaces the stored identity atomically: after a crash either the old or the new one is complete. */
export function writeIdentity(stateDir: string, identity: Identity, random: Random): void {
  const name = `${LINK}.${Buffer.from(random.bytes(8)).toString("hex")}`;
  const folder = join(stateDir, name);
  mkdirSync(folder, { mode: 0o700 });
  writeDurably(join(folder, "key.pem"), identity.key);
  writeDurably(join(folder, "certificate.pem"), identity.certificate);
  writeDurably(join(folder, "ca.pem"), identity.ca);
  writeDurably(join(folder, "agent-id"), `${identity.agentId}\n`);
  writeDurably(join(folder, "received-at"), `${identity.receivedAtMs}\n`);
  writeDurably(join(folder, "token-digest"), `${identity.tokenDigest}\n`);
  syncFolder(folder);
  const link = join(stateDir, `${name}.link`);
  symlinkSync(name, link);
  renameSync(link, join(stateDir, LINK));
  syncFolder(stateDir);
  removeOthers(stateDir, name);
}

/** Removes the files of earlier identities and of interrupted writes. */
function removeOthers(stateDir: string, current: string): void {
  for (const name of readdirSync(stateDir)) {
    const ours = FOLDER.test(name.replace(/\.link$/, ""));
    if (ours && name !== current) rmSync(join(stateDir, name), { recursive: true, force: true });
  }
}

function writeDurably(file: string, text: string): void {
  const handle = openSync(file, "wx", 0o600);
  try {
    writeFileSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  fsyncSync(handle);
  closeSync(handle);
}

function linkExists(stateDir: string): boolean {
  try {
    readlinkSync(join(stateDir, LINK));
    return true;
  } catch {
    return false;
  }
}
