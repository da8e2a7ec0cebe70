import { randomBytes } from "node:crypto";
import {
  aki,
  basicConstraints,
  dns,
  eku,
  keyUsage,
  PURPOSE,
  san,
  ski,
  USAGE,
} from "#test/servers/chains/extensions.ts";
import {
  commonName,
  ecdsaSigner,
  keyId,
  makeKeys,
  versionField,
  writeCertificate,
  type Extension,
  type Fields,
  type Keys,
  type Signer,
} from "#test/servers/chains/writer.ts";

/** The name the chains are good for. */
export const CHAIN_HOST = "www.chains.test";

/** How one certificate differs from a good one. */
export interface Change extends Partial<Omit<Fields, "extensions" | "signer">> {
  /** Extensions that replace the one of the same OID, or are added. */
  readonly set?: readonly Extension[];
  /** OIDs of extensions left out. */
  readonly drop?: readonly string[];
  /** The certificate's own keys; its issuer's keys are those of the certificate above. */
  readonly keys?: Keys;
  /** How the certificate is signed, of its issuer's keys. */
  readonly signed?: (issuer: Keys) => Signer;
}

/** A chain of three, each part changed or good; or, without intermediate, of two. */
export interface ChainChange {
  readonly root?: Change;
  /** Null leaves it out. */
  readonly intermediate?: Change | null;
  readonly leaf?: Change;
}

/** DER of the parts. */
export interface Chain {
  readonly leaf: Uint8Array;
  readonly intermediates: readonly Uint8Array[];
  readonly root: Uint8Array;
}

const DAY_MS = 86_400_000;
/** One pair of keys for each part: making them is what costs time. */
const KEYS = { root: makeKeys(), intermediate: makeKeys(), leaf: makeKeys() };

/** Writes the chain; valid around `now`. */
export function buildChain(change: ChainChange, now: Date): Chain {
  const root = part("root", change.root ?? {}, null, now);
  const middle = change.intermediate === null ? null : part("intermediate", change.intermediate ?? {}, root, now);
  const leaf = part("leaf", change.leaf ?? {}, middle ?? root, now);
  return { leaf: leaf.der, intermediates: middle === null ? [] : [middle.der], root: root.der };
}

interface Part {
  readonly subject: Uint8Array;
  readonly keys: Keys;
  readonly der: Uint8Array;
}

function part(role: keyof typeof KEYS, change: Change, issuer: Part | null, now: Date): Part {
  const { set = [], drop = [], keys = KEYS[role], signed = ecdsaSigner, ...fields } = change;
  const subject = fields.subject ?? commonName(role === "leaf" ? CHAIN_HOST : `Chains ${role}`);
  const signers = issuer?.keys ?? keys;
  const usual = extensionsOf(role, keys, issuer?.keys ?? null);
  const replaced = new Set([...drop, ...set.map(({ oid }) => oid)]);
  const reach = role === "leaf" ? 30 : 3650;
  const der = writeCertificate({
    version: versionField(2),
    serial: Buffer.concat([Uint8Array.of(0x4d), randomBytes(15)]),
    issuer: issuer?.subject ?? subject,
    notBefore: whole(now, -reach),
    notAfter: whole(now, reach),
    spki: keys.spki,
    ...fields,
    subject,
    extensions: [...usual.filter(({ oid }) => !replaced.has(oid)), ...set],
    signer: signed(signers),
  });
  return { subject, keys, der };
}

function extensionsOf(role: keyof typeof KEYS, keys: Keys, issuer: Keys | null): Extension[] {
  const identifiers = [ski(keyId(keys)), ...(issuer === null ? [] : [aki(keyId(issuer))])];
  if (role === "leaf") {
    const purposes = [keyUsage(USAGE.digitalSignature), eku(PURPOSE.server), san([dns(CHAIN_HOST)])];
    return [basicConstraints(false), ...purposes, ...identifiers];
  }
  const limits = basicConstraints(true, role === "intermediate" ? 0 : undefined);
  return [limits, keyUsage(USAGE.keyCertSign | USAGE.cRLSign), ...identifiers];
}

/** Certificates know whole seconds. */
function whole(now: Date, days: number): Date {
  return new Date(Math.floor(now.getTime() / 1000) * 1000 + days * DAY_MS);
}

/** The good parts' keys, for rows that build on them. */
export function keysOfPart(role: keyof typeof KEYS): Keys {
  return KEYS[role];
}
