import { readDkimPublicKey, type DkimPublicKey } from "#probe-agent/analysis/mail/dkim/public-key.ts";
import { parseTagList, shownText, tagValue, type TagList } from "#probe-agent/analysis/mail/tag-list.ts";

/** A DKIM key record (RFC 6376 section 3.6.1), defaults filled in. */
export interface DkimKey {
  /** The record, cut to what a result can show. */
  readonly record: string;
  /** Whether a verifier could use it: well formed, a key of a known kind, for mail, not too short, not revoked. */
  readonly valid: boolean;
  /** "DKIM1", also where the tag is left out; what stands there otherwise. */
  readonly v: string;
  readonly k: string;
  /** Hash algorithms allowed; null for all. */
  readonly h: readonly string[] | null;
  /** The key data without white space, cut; "" for a revoked key, null where the tag is missing. */
  readonly p: string | null;
  readonly t: readonly string[];
  readonly s: readonly string[];
  readonly n: string | null;
  /** Null where the data is no key. */
  readonly key: DkimPublicKey | null;
  readonly revoked: boolean;
  readonly testing: boolean;
  readonly strict_subdomain: boolean;
  /** An RSA key of less than 2048 bits; null without a key. */
  readonly weak: boolean | null;
  readonly issues: readonly string[];
}

const MAX_RECORD = 4_000;
const MAX_KEY = 3_000;
const MAX_NOTE = 500;
const MAX_WORDS = 20;
/** RFC 8301 section 3.2: verifiers must not take less, signers should use 2048. */
const MIN_BITS = 1024;
const GOOD_BITS = 2048;
const KNOWN = new Set(["v", "g", "h", "k", "n", "p", "s", "t"]);
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Whether a TXT text is meant as a DKIM key: it says so, or has the one tag a key needs. */
export function isDkimRecord(text: string): boolean {
  const list = parseTagList(text);
  return (tagValue(list, "v") ?? "").toUpperCase() === "DKIM1" || tagValue(list, "p") !== null;
}

/** Reads and judges a key record. `text` is its strings joined, one character per octet. */
export function parseDkimKey(text: string): DkimKey {
  const list = parseTagList(text);
  const issues: string[] = [];
  const fatal: string[] = [];
  checkShape(list, issues, fatal);
  const k = (tagValue(list, "k") ?? "rsa").toLowerCase();
  const h = words(tagValue(list, "h"));
  const s = words(tagValue(list, "s")) ?? ["*"];
  const t = words(tagValue(list, "t")) ?? [];
  const p = tagValue(list, "p")?.replaceAll(/[ \t\r\n]+/g, "") ?? null;
  const key = readKey(k, p, fatal);
  if (h !== null && !h.includes("sha256")) fatal.push("h leaves out sha256, the only hash verifiers still take");
  if (h?.includes("sha1") === true) issues.push("h names sha1, which RFC 8301 forbids");
  if (!s.includes("*") && !s.includes("email")) fatal.push("s does not name email: the key is not for mail");
  if (t.includes("y")) issues.push("t=y: testing, verifiers treat mail that fails as unsigned");
  if (key?.type === "rsa" && key.bits !== null && key.bits >= MIN_BITS && key.bits < GOOD_BITS) {
    issues.push(`an RSA key of ${key.bits} bits is short; 2048 are recommended (RFC 8301)`);
  }
  if (key?.encoding === "pkcs1") issues.push("the key is bare PKCS #1 as RFC 6376 has it; most verifiers expect SPKI");
  return {
    record: shownText(text, MAX_RECORD),
    valid: fatal.length === 0 && p !== "",
    v: shownText(tagValue(list, "v") ?? "DKIM1", 30),
    k: shownText(k, 30),
    h: h?.map((word) => shownText(word, 30)) ?? null,
    p: p === null ? null : shownText(p, MAX_KEY),
    t: t.map((word) => shownText(word, 30)),
    s: s.map((word) => shownText(word, 30)),
    n: readNote(tagValue(list, "n")),
    key,
    revoked: p === "",
    testing: t.includes("y"),
    strict_subdomain: t.includes("s"),
    weak: key === null ? null : key.type === "rsa" && (key.bits ?? 0) < GOOD_BITS,
    issues: [...fatal, ...issues],
  };
}

function checkShape(list: TagList, issues: string[], fatal: string[]): void {
  const version = tagValue(list, "v");
  if (version !== null && version !== "DKIM1") fatal.push(`v=${shownText(version, 30)}: the version must be DKIM1`);
  if (version !== null && list.tags[0]?.name !== "v") fatal.push("v must be the first tag");
  for (const name of list.repeated) fatal.push(`${shownText(name, 30)} stands more than once`);
  for (const fault of list.faults.slice(0, 5)) fatal.push(`not a tag: ${shownText(fault, 40)}`);
  if (tagValue(list, "g") !== null) issues.push("g was removed by RFC 6376");
  const others = list.tags.map(({ name }) => name).filter((name) => !KNOWN.has(name));
  for (const name of [...new Set(others)].slice(0, 5)) issues.push(`unknown tag: ${shownText(name, 30)}`);
}

function readKey(k: string, p: string | null, fatal: string[]): DkimPublicKey | null {
  if (p === null) fatal.push("p, the key itself, is missing");
  if (p === "") fatal.push("p is empty: the key is revoked");
  if (k !== "rsa" && k !== "ed25519") fatal.push(`k=${shownText(k, 30)}: no verifier knows this kind of key`);
  if (p === null || p === "" || (k !== "rsa" && k !== "ed25519")) return null;
  if (!BASE64.test(p)) {
    fatal.push(`p is no base64${misreading(p)}`);
    return null;
  }
  const key = readDkimPublicKey(k, Buffer.from(p, "base64"));
  if (typeof key === "string") {
    fatal.push(key);
    return null;
  }
  if (key.type === "rsa" && key.bits !== null && key.bits < MIN_BITS) {
    fatal.push(`an RSA key of ${key.bits} bits is not accepted; 1024 are the least, 2048 recommended (RFC 8301)`);
  }
  return key;
}

/** What usually happened to key data that is no base64. */
function misreading(p: string): string {
  if (p.includes('"')) return ": quotes stand in it, as of a text that was split by hand";
  if (p.includes("\\")) return ": a backslash stands in it";
  if (p.includes("-----")) return ": the lines before and after a PEM key do not belong here";
  return /^[A-Za-z0-9+/]{40,}={0,2}$/.test(p)
    ? ": its length is none that base64 has, so that it may be cut short"
    : "";
}

/** Words with colons between; null without the tag. */
function words(value: string | null): string[] | null {
  if (value === null) return null;
  const all = value.split(":", MAX_WORDS).map((word) => word.trim().toLowerCase());
  return all.filter((word) => word !== "");
}

/** Notes are quoted-printable (section 3.2), read only to be shown. */
function readNote(value: string | null): string | null {
  if (value === null) return null;
  const plain = value
    .slice(0, 3 * MAX_NOTE)
    .replaceAll(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return shownText(plain, MAX_NOTE);
}
