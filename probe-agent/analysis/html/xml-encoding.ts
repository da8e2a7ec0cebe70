import { encodingOf } from "#probe-agent/analysis/text/encodings.ts";

/** Maximum number of bytes of a declaration that are read. */
const MAX_BYTES = 1024;

/**
 * Returns the encoding of an XML declaration at the very start of a page, or null if there is none (WHATWG HTML,
 * getting an XML encoding).
 */
export function xmlEncoding(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, MAX_BYTES)).toString("latin1");
  // Without a byte order mark, the zero bytes of a declaration reveal UTF-16.
  if (start.startsWith("<\0?\0x\0")) return "utf-16le";
  if (start.startsWith("\0<\0?\0x")) return "utf-16be";
  const end = start.indexOf(">");
  if (!start.startsWith("<?xml") || end === -1) return null;
  const [, double, single] = /encoding\s*=\s*(?:"([^"]*)"|'([^']*)')/.exec(start.slice(0, end)) ?? [];
  const label = double ?? single ?? null;
  const encoding = label === null || /\s/.test(label) ? null : encodingOf(label);
  // A declaration that is readable as ASCII cannot be in UTF-16.
  return encoding?.startsWith("utf-16") === true ? "utf-8" : encoding;
}
