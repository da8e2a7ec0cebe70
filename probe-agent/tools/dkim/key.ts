import type { FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { parseTagList, toPrintableAscii, tagValue, type TagList } from "#probe-agent/analysis/mail/tag-list.ts";
import { createPublicKey } from "node:crypto";

/** Public key of a DKIM record. */
interface DkimPublicKey {
  readonly type: "rsa" | "ed25519";
  /** Size of the RSA modulus in bits; 256 for Ed25519. */
  readonly bits: number | null;
  /** SubjectPublicKeyInfo, the common form; bare PKCS #1, the form of RFC 6376; or 32 raw octets (RFC 8463). */
  readonly encoding: "spki" | "pkcs1" | "raw";
}

/** Reason why octets are not a key. */
type KeyFault = FindingDraft<"key-cut-short" | "key-unreadable" | "key-type-mismatch">;

const ED25519_OCTETS = 32;
/** Maximum number of octets of a key. An RSA key of 16384 bits is shorter. */
const MAX_OCTETS = 4096;

/** Parses key data. Returns the fault if the data is not a key. */
function readDkimPublicKey(kind: "rsa" | "ed25519", octets: Uint8Array): DkimPublicKey | KeyFault {
  if (kind === "ed25519") {
    if (octets.length === ED25519_OCTETS) return { type: "ed25519", bits: 256, encoding: "raw" };
    return {
      id: "key-unreadable",
      message: `The key data p has ${octets.length} octets; an Ed25519 key has ${ED25519_OCTETS} octets.`,
    };
  }
  if (octets.length > MAX_OCTETS) {
    return { id: "key-unreadable", message: `The key data p has ${octets.length} octets, longer than any RSA key.` };
  }
  return readRsa(octets, "spki") ?? readRsa(octets, "pkcs1") ?? explainFault(octets);
}

/**
 * Returns the reason why octets are not an RSA key. The DER header has the length, so a cut key is recognized; some
 * control panels keep only the first 255 characters of a record.
 */
function explainFault(octets: Uint8Array): KeyFault {
  const [tag, first = 0, second = 0, third = 0] = octets;
  const [head, body] = first === 0x82 ? [4, second * 256 + third] : first === 0x81 ? [3, second] : [2, first];
  const isCut = tag === 0x30 && first <= 0x82 && head + body > octets.length;
  return isCut
    ? { id: "key-cut-short", message: `The key is cut short: ${octets.length} of ${head + body} bytes are published.` }
    : { id: "key-unreadable", message: `The key data p (${octets.length} octets) is not an RSA public key.` };
}

function readRsa(octets: Uint8Array, type: "spki" | "pkcs1"): DkimPublicKey | KeyFault | null {
  try {
    const key = createPublicKey({ key: Buffer.from(octets), format: "der", type });
    if (key.asymmetricKeyType !== "rsa") {
      const kind = key.asymmetricKeyType ?? "unknown";
      return { id: "key-type-mismatch", message: `The record says k=rsa, but the key type is ${kind}.` };
    }
    return { type: "rsa", bits: key.asymmetricKeyDetails?.modulusLength ?? null, encoding: type };
  } catch {
    return null;
  }
}

/** A parsed DKIM key record (RFC 6376 section 3.6.1) with defaults for absent tags. */
export interface DkimKey {
  /** The record, cut to 4,000 characters. */
  readonly record: string;
  /** Whether a verifier can use it: well formed, a key of a known type, for mail, not too short, not revoked. */
  readonly valid: boolean;
  /** Version. "DKIM1" if the tag is absent. */
  readonly v: string;
  /** Key type. "rsa" if the tag is absent. */
  readonly k: string;
  /** Allowed hash algorithms; null for all. */
  readonly h: readonly string[] | null;
  /** Key data without white space, cut to 3,000 characters. "" for a revoked key; null if the tag is missing. */
  readonly p: string | null;
  /** Flags. */
  readonly t: readonly string[];
  /** Services that the key is for; "*" for all. */
  readonly s: readonly string[];
  /** Note of the domain's owner; null if absent. */
  readonly n: string | null;
  /** The public key; null if the data is not a key. */
  readonly key: DkimPublicKey | null;
  readonly revoked: boolean;
  readonly testing: boolean;
  readonly strict_subdomain: boolean;
  /** Whether the key is an RSA key of less than 2048 bits; null without a key. */
  readonly weak: boolean | null;
  /** Findings on the record. Those that make the key unusable come first. */
  readonly issues: readonly KeyDraft[];
}

/** Kinds of findings on a key record. */
export type KeyFindingId =
  | "version-unknown"
  | "version-not-first"
  | "tag-repeated"
  | "tag-malformed"
  | "sha256-not-allowed"
  | "not-for-mail"
  | "key-missing"
  | "key-revoked"
  | "key-type-unknown"
  | "key-type-mismatch"
  | "key-not-base64"
  | "key-cut-short"
  | "key-unreadable"
  | "key-too-short"
  | "key-weak"
  | "key-pkcs1"
  | "sha1-allowed"
  | "testing-mode"
  | "tag-obsolete"
  | "tag-unknown";
/** One finding on a key record. */
type KeyDraft = FindingDraft<KeyFindingId>;

const MAX_RECORD = 4_000;
const MAX_KEY = 3_000;
const MAX_NOTE = 500;
const MAX_WORDS = 20;
/** Minimum RSA key size that verifiers accept, in bits. Signers should use 2048 (RFC 8301 section 3.2). */
const MIN_BITS = 1024;
const GOOD_BITS = 2048;
const KNOWN = new Set(["v", "g", "h", "k", "n", "p", "s", "t"]);
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Reports whether a TXT text is meant as a DKIM key: its version is DKIM1, or it has the tag p. */
export function isDkimRecord(text: string): boolean {
  const list = parseTagList(text);
  return (tagValue(list, "v") ?? "").toUpperCase() === "DKIM1" || tagValue(list, "p") !== null;
}

/** Parses and checks a key record. `text` has the record's strings joined, one character for each octet. */
export function parseDkimKey(text: string): DkimKey {
  const list = parseTagList(text);
  const issues: KeyDraft[] = [];
  const fatal: KeyDraft[] = [];
  checkShape(list, issues, fatal);
  const k = (tagValue(list, "k") ?? "rsa").toLowerCase();
  const h = splitWords(tagValue(list, "h"));
  const s = splitWords(tagValue(list, "s")) ?? ["*"];
  const t = splitWords(tagValue(list, "t")) ?? [];
  const p = tagValue(list, "p")?.replaceAll(/[ \t\r\n]+/g, "") ?? null;
  const key = readKey(k, p, fatal);
  if (h !== null && !h.includes("sha256")) {
    add(
      fatal,
      "sha256-not-allowed",
      `h=${toPrintableAscii(h.join(":"), 60)} leaves out sha256, the only hash that verifiers still accept.`,
    );
  }
  if (h?.includes("sha1") === true)
    add(issues, "sha1-allowed", "The tag h allows sha1, which verifiers must not accept.");
  if (!s.includes("*") && !s.includes("email")) {
    add(
      fatal,
      "not-for-mail",
      `s=${toPrintableAscii(s.join(":"), 60)} does not include email, so the key is not for mail.`,
    );
  }
  if (t.includes("y")) {
    add(
      issues,
      "testing-mode",
      "t=y declares a test of DKIM: verifiers treat mail with an invalid signature as unsigned.",
    );
  }
  if (key?.type === "rsa" && key.bits !== null && key.bits >= MIN_BITS && key.bits < GOOD_BITS) {
    add(issues, "key-weak", `The RSA key of ${key.bits} bits is short; ${GOOD_BITS} bits are recommended.`);
  }
  if (key?.encoding === "pkcs1") {
    add(issues, "key-pkcs1", "The key is encoded as bare PKCS #1; most verifiers expect SubjectPublicKeyInfo.");
  }
  return {
    record: toPrintableAscii(text, MAX_RECORD),
    valid: fatal.length === 0 && p !== "",
    v: toPrintableAscii(tagValue(list, "v") ?? "DKIM1", 30),
    k: toPrintableAscii(k, 30),
    h: h?.map((word) => toPrintableAscii(word, 30)) ?? null,
    p: p === null ? null : toPrintableAscii(p, MAX_KEY),
    t: t.map((word) => toPrintableAscii(word, 30)),
    s: s.map((word) => toPrintableAscii(word, 30)),
    n: decodeNote(tagValue(list, "n")),
    key,
    revoked: p === "",
    testing: t.includes("y"),
    strict_subdomain: t.includes("s"),
    weak: key === null ? null : key.type === "rsa" && (key.bits ?? 0) < GOOD_BITS,
    issues: [...fatal, ...issues],
  };
}

function add(list: KeyDraft[], id: KeyFindingId, message: string): void {
  list.push({ id, message });
}

function checkShape(list: TagList, issues: KeyDraft[], fatal: KeyDraft[]): void {
  const version = tagValue(list, "v");
  if (version !== null && version !== "DKIM1") {
    add(fatal, "version-unknown", `v=${toPrintableAscii(version, 30)}: the version must be DKIM1.`);
  }
  if (version !== null && list.tags[0]?.name !== "v") {
    add(
      fatal,
      "version-not-first",
      `v must be the first tag; the first tag is ${toPrintableAscii(list.tags[0]?.name ?? "", 30)}.`,
    );
  }
  for (const name of list.repeated.slice(0, 5)) {
    add(fatal, "tag-repeated", `The tag ${toPrintableAscii(name, 30)} is given more than once.`);
  }
  for (const fault of list.faults.slice(0, 5)) {
    add(fatal, "tag-malformed", `"${toPrintableAscii(fault, 40)}" is not a tag of the form name=value.`);
  }
  if (tagValue(list, "g") !== null) add(issues, "tag-obsolete", "The tag g was removed by RFC 6376.");
  const others = list.tags.map(({ name }) => name).filter((name) => !KNOWN.has(name));
  for (const name of [...new Set(others)].slice(0, 5)) {
    add(issues, "tag-unknown", `The tag ${toPrintableAscii(name, 30)} is unknown; verifiers ignore it.`);
  }
}

function readKey(k: string, p: string | null, fatal: KeyDraft[]): DkimPublicKey | null {
  if (p === null) add(fatal, "key-missing", "The tag p with the public key is missing.");
  if (p === "") add(fatal, "key-revoked", "The tag p is empty: the key is revoked.");
  if (k !== "rsa" && k !== "ed25519") {
    add(
      fatal,
      "key-type-unknown",
      `k=${toPrintableAscii(k, 30)} is not supported: verifiers support only rsa and ed25519.`,
    );
  }
  if (p === null || p === "" || (k !== "rsa" && k !== "ed25519")) return null;
  if (!BASE64.test(p)) {
    add(fatal, "key-not-base64", `The key data p is not valid base64${base64Hint(p)}.`);
    return null;
  }
  const key = readDkimPublicKey(k, Buffer.from(p, "base64"));
  if ("id" in key) {
    fatal.push(key);
    return null;
  }
  if (key.type === "rsa" && key.bits !== null && key.bits < MIN_BITS) {
    add(
      fatal,
      "key-too-short",
      `The RSA key of ${key.bits} bits is not accepted; ${MIN_BITS} bits are the minimum, ${GOOD_BITS} are recommended.`,
    );
  }
  return key;
}

/** Returns the likely cause why key data is not base64, as the continuation of a sentence; "" if none is known. */
function base64Hint(p: string): string {
  if (p.includes('"')) return ": it contains quotation marks, which remain when a record is split manually";
  if (p.includes("\\")) return ": it contains a backslash";
  if (p.includes("-----")) return ": it contains the BEGIN and END lines of a PEM key";
  return /^[A-Za-z0-9+/]{40,}={0,2}$/.test(p)
    ? `: base64 cannot have ${p.length} characters, so the key may be cut short`
    : "";
}

/** Splits a value at colons into words in lower case. Returns null if the tag is absent. */
function splitWords(value: string | null): string[] | null {
  if (value === null) return null;
  const all = value.split(":", MAX_WORDS).map((word) => word.trim().toLowerCase());
  return all.filter((word) => word !== "");
}

/** Decodes the quoted-printable text of a note (section 3.2) for display. Returns null if the tag is absent. */
function decodeNote(value: string | null): string | null {
  if (value === null) return null;
  const plain = value
    .slice(0, 3 * MAX_NOTE)
    .replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return toPrintableAscii(plain, MAX_NOTE);
}
