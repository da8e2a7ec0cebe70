import { parseRdata, readRdata } from "#probe-agent/dns-codec/rdata/codec.ts";
import type { TrustAnchor, DnsRecord } from "#probe-agent/port/dns.ts";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { textToName } from "#probe-agent/dns-codec/names.ts";
import { typeCode } from "#shared/internet/dns-registry.ts";

// Keys KSK-2017 and KSK-2024 from IANA, "Root Zone Trust Anchors", root-anchors.xml (RFC 7958).
const ROOT_DS = [
  "20326 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D",
  "38696 8 2 683D2D0ACB8C9B712A1948B27F741219298D0A450D612C483AF444A4C0FB2B16",
];

/** The root zone's keys as published by IANA. */
export const IANA_ANCHORS: readonly TrustAnchor[] = ROOT_DS.map((data) => ({
  zone: ".",
  type: "DS",
  raw: parseRdata("DS", data),
}));

/** The operator's trust anchors, or one line that says what is wrong with the file, without the file's name. */
export type ReadAnchors =
  | { readonly ok: true; readonly anchors: readonly TrustAnchor[] }
  | { readonly ok: false; readonly fault: string };

/**
 * Reads DS and DNSKEY records in zone-file form. They replace the built-in trust anchors, so a file that should also
 * trust the root must list the root's keys.
 */
export function parseAnchors(text: string): ReadAnchors {
  const read = parseZoneText(text);
  if (!read.ok) return { ok: false, fault: `line ${read.line}: ${read.message}` };
  const anchors: TrustAnchor[] = [];
  for (const { name, type, raw } of read.records) {
    if (type !== "DS" && type !== "DNSKEY") {
      return { ok: false, fault: `${name} ${type}: only DS and DNSKEY records are trust anchors` };
    }
    // The first four octets are fields, the rest is the digest or key.
    if (raw.length < 5) return { ok: false, fault: `${name} ${type}: the digest or key is missing` };
    anchors.push({ zone: name, type, raw });
  }
  if (anchors.length === 0) return { ok: false, fault: "no DS or DNSKEY record in it" };
  return { ok: true, anchors };
}

const CLASS_IN = 1;

/** The parsed records, or the first faulty line and what is wrong with it. */
type ZoneText =
  | { readonly ok: true; readonly records: readonly DnsRecord[] }
  | { readonly ok: false; readonly line: number; readonly message: string };

/**
 * Parses records in zone-file form (RFC 1035 section 5.1): owner, TTL and class in any order or absent (class IN),
 * type, data. Comments and parentheses are supported. Every name is absolute, with or without a final dot. Rejects $
 * directives, @ and omitted owners.
 */
export function parseZoneText(text: string): ZoneText {
  const records: DnsRecord[] = [];
  const { found, unclosed } = entries(text);
  for (const { line, words } of found) {
    try {
      if (line === unclosed) throw new DecodeError("a parenthesis is not closed");
      records.push(parseEntry(words));
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      return { ok: false, line, message: error.message };
    }
  }
  return { ok: true, records };
}

interface Entry {
  readonly line: number;
  readonly words: string;
}

/**
 * Splits the text into logical lines: removes comments and joins lines within parentheses. Comment and parenthesis
 * characters within quotes have no effect.
 */
function entries(text: string): { readonly found: readonly Entry[]; readonly unclosed: number | null } {
  const found: { line: number; words: string }[] = [];
  let open: { line: number; words: string } | null = null;
  let depth = 0;
  for (const [index, whole] of text.split(/\r?\n/).entries()) {
    open ??= { line: index + 1, words: "" };
    let quoted = false;
    for (let at = 0; at < whole.length; at += 1) {
      const character = whole.charAt(at);
      if (character === "\\") open.words += character + whole.charAt((at += 1));
      else if (!quoted && character === ";") break;
      else if (!quoted && (character === "(" || character === ")")) {
        depth += character === "(" ? 1 : -1;
        open.words += " ";
      } else {
        if (character === '"') quoted = !quoted;
        open.words += character;
      }
    }
    open.words += " ";
    if (depth > 0) continue;
    if (open.words.trim() !== "") found.push(open);
    open = null;
    depth = 0;
  }
  if (open !== null) found.push(open);
  return { found, unclosed: open?.line ?? null };
}

function parseEntry(words: string): DnsRecord {
  const read = /^(\S+)\s+((?:(?:\d+|IN)\s+){0,2})([A-Z][A-Z0-9-]*)\s+(\S.*)$/is.exec(words.trimEnd());
  if (read === null) throw new DecodeError("a record has the form: owner, optional TTL and IN, type, data");
  const [, name = "", before = "", type = "", data = ""] = read;
  const upper = type.toUpperCase();
  if (textToName(name) === null || name.startsWith("$") || name === "@") {
    throw new DecodeError(`${name.slice(0, 80)} is not an absolute domain name`);
  }
  if (typeCode(upper) === null) throw new DecodeError(`${type.slice(0, 20)} is not a known record type`);
  const raw = parseRdata(upper, data.trim());
  const ttl = Number(/\d+/.exec(before)?.[0] ?? 0);
  const owner = name === "." ? name : name.replace(/\.$/, "");
  return { name: owner, type: upper, class: CLASS_IN, ttl, ...readRdata(upper, raw, 0, raw.length) };
}
