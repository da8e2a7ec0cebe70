import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { textToName } from "#probe-agent/dns-codec/names.ts";
import { parseRdata, readRdata } from "#probe-agent/dns-codec/rdata/codec.ts";
import { typeCode } from "#probe-agent/dns-codec/registry.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";

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
