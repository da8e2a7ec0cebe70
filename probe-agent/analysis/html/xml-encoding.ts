import { encodingOf } from "#probe-agent/analysis/text/encodings.ts";

/** Octets of a declaration that are read. */
const MOST = 1024;

/** The encoding that an XML declaration at the very start names; null without one (WHATWG HTML, getting an XML encoding). */
export function xmlEncoding(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, MOST)).toString("latin1");
  // Without a byte order mark, a declaration in UTF-16 shows by its zeros.
  if (start.startsWith("<\0?\0x\0")) return "utf-16le";
  if (start.startsWith("\0<\0?\0x")) return "utf-16be";
  const end = start.indexOf(">");
  if (!start.startsWith("<?xml") || end === -1) return null;
  const [, double, single] = /encoding\s*=\s*(?:"([^"]*)"|'([^']*)')/.exec(start.slice(0, end)) ?? [];
  const label = double ?? single ?? null;
  const encoding = label === null || /\s/.test(label) ? null : encodingOf(label);
  // What could be read as ASCII cannot be UTF-16.
  return encoding?.startsWith("utf-16") === true ? "utf-8" : encoding;
}
