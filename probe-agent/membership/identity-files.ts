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
import type { Random } from "#shared/time/clock.ts";
import { findFault, type Identity } from "#probe-agent/membership/identity.ts";

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
