import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { parseInteger } from "#probe-agent/dns-codec/rdata/field.ts";
import { parseHex, toHex } from "#probe-agent/dns-codec/rdata/octets.ts";
import { RdataNameError, RdataReader } from "#probe-agent/dns-codec/rdata/reader.ts";
import { LAYOUTS, type Layout } from "#probe-agent/dns-codec/rdata/table.ts";
import { Tokens } from "#probe-agent/dns-codec/rdata/tokens.ts";
import { ByteWriter } from "#probe-agent/dns-codec/writer.ts";

/** Parsed RDATA: presentation form, octets with expanded names, and fields by RFC name. */
interface Rdata {
  readonly data: string;
  readonly raw: Uint8Array;
  readonly typed: Readonly<Record<string, unknown>>;
}

type Values = Readonly<Record<string, unknown>>;

function layoutOf(type: string): Layout | undefined {
  return Object.hasOwn(LAYOUTS, type) ? LAYOUTS[type] : undefined;
}

/**
 * Reads the RDATA between two offsets of a message. RDATA that is not valid for its type affects only that record: it
 * is returned as the octets of RFC 3597 (`\# 3 0A0000`) without typed fields. Throws DecodeError for a name that cannot
 * be read.
 */
export function readRdata(type: string, message: Uint8Array, start: number, end: number): Rdata {
  const layout = layoutOf(type);
  if (layout !== undefined) {
    try {
      const { values, raw } = readFields(layout, new RdataReader(message, start, end));
      return { data: formatFields(layout, values), raw, typed: { ...values, ...layout.derive?.(values, raw) } };
    } catch (error) {
      if (!(error instanceof DecodeError) || error instanceof RdataNameError) throw error;
    }
  }
  const raw = message.slice(start, end);
  return { data: formatOpaque(raw), raw, typed: {} };
}

function readFields(layout: Layout, reader: RdataReader): { values: Values; raw: Uint8Array } {
  const values: Record<string, unknown> = {};
  for (const [name, field] of layout.fields) values[name] = field.read(reader);
  if (reader.left > 0) throw new DecodeError("RDATA is longer than its fields");
  return { values, raw: reader.expanded() };
}

function inTextOrder(layout: Layout): Layout["fields"] {
  const { textOrder } = layout;
  if (textOrder === undefined) return layout.fields;
  return layout.fields.toSorted(([one], [other]) => textOrder.indexOf(one) - textOrder.indexOf(other));
}

function formatFields(layout: Layout, values: Values): string {
  const words = inTextOrder(layout).map(([name, field]) => field.format(values[name]));
  return words.filter((word) => word !== "").join(" ");
}

function formatOpaque(raw: Uint8Array): string {
  return raw.length === 0 ? "\\# 0" : `\\# ${raw.length} ${toHex(raw)}`;
}

/** Parses the presentation form of a type's RDATA into octets, with names uncompressed. Throws DecodeError. */
export function parseRdata(type: string, text: string): Uint8Array {
  const tokens = new Tokens(text);
  if (tokens.peek() === "\\#") return parseOpaque(tokens);
  const layout = layoutOf(type);
  if (layout === undefined) throw new DecodeError(`only the \\# form is supported for ${type}`);
  const values: Record<string, unknown> = {};
  for (const [name, field] of inTextOrder(layout)) values[name] = field.parse(tokens);
  if (tokens.left > 0) throw new DecodeError("there are more words than fields");
  const writer = new ByteWriter();
  for (const [name, field] of layout.fields) field.write(writer, values[name]);
  return writer.finish();
}

function parseOpaque(tokens: Tokens): Uint8Array {
  tokens.take();
  const length = parseInteger(tokens.take(), 0xffff);
  const octets = Buffer.from(parseHex(tokens.rest().join("")), "hex");
  if (octets.length !== length) throw new DecodeError("length differs from the octets given");
  return new Uint8Array(octets);
}

/**
 * Returns RDATA in canonical form for signatures (RFC 4034 section 6.2): names in lower case if the type requires it.
 * `raw` is the value that `readRdata` returned.
 */
export function canonicalRdata(type: string, raw: Uint8Array): Uint8Array {
  const layout = layoutOf(type);
  if (layout?.lowerNames !== true) return raw;
  try {
    return readFields(layout, new RdataReader(raw, 0, raw.length, true)).raw;
  } catch (error) {
    // RDATA that is not valid for its type has no names to convert.
    if (error instanceof DecodeError) return raw;
    throw error;
  }
}
