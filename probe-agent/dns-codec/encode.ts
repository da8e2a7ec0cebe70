import { writeEdns, type EdnsToSend } from "#probe-agent/dns-codec/edns.ts";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import type { WireQuestion } from "#probe-agent/dns-codec/message.ts";
import { textToName } from "#probe-agent/dns-codec/names.ts";
import { typeCode } from "#probe-agent/dns-codec/registry.ts";
import { ByteWriter } from "#probe-agent/dns-codec/writer.ts";
import type { DnsFlags, DnsRecord } from "#probe-agent/port/dns.ts";

/** A record to write. `raw` is written unchanged. */
export type RecordToSend = Pick<DnsRecord, "name" | "type" | "class" | "ttl" | "raw">;

/** A message to write. Missing flags are off, and missing sections are empty. */
export interface MessageToSend {
  readonly id: number;
  readonly response?: boolean;
  readonly opcode?: number;
  /** All twelve bits. The bits above the lowest four need `edns`. */
  readonly rcode?: number;
  readonly flags?: Partial<DnsFlags>;
  readonly question?: WireQuestion;
  readonly answers?: readonly RecordToSend[];
  readonly authority?: readonly RecordToSend[];
  readonly additional?: readonly RecordToSend[];
  readonly edns?: EdnsToSend;
}

/**
 * Encodes a message (RFC 1035 section 4.1) with compressed owner names. Throws DecodeError for data that cannot be
 * encoded.
 */
export function encodeMessage(message: MessageToSend): Uint8Array {
  const { flags = {}, answers = [], authority = [], additional = [], rcode = 0, edns } = message;
  const writer = new ByteWriter();
  writer.u16(message.id);
  writer.u8(
    (message.response === true ? 0x80 : 0) |
      ((message.opcode ?? 0) << 3) |
      (flags.aa === true ? 4 : 0) |
      (flags.tc === true ? 2 : 0) |
      (flags.rd === true ? 1 : 0),
  );
  writer.u8(
    (flags.ra === true ? 0x80 : 0) | (flags.ad === true ? 0x20 : 0) | (flags.cd === true ? 0x10 : 0) | (rcode & 15),
  );
  writer.u16(message.question === undefined ? 0 : 1);
  writer.u16(answers.length);
  writer.u16(authority.length);
  writer.u16(additional.length + (edns === undefined ? 0 : 1));
  if (message.question !== undefined) {
    writer.compressedName(message.question.name);
    writer.u16(message.question.type);
    writer.u16(message.question.class);
  }
  for (const record of [...answers, ...authority, ...additional]) writeRecord(writer, record);
  if (edns !== undefined) writeEdns(writer, { ...edns, extendedRcode: edns.extendedRcode ?? rcode >>> 4 });
  return writer.finish();
}

function writeRecord(writer: ByteWriter, record: RecordToSend): void {
  const name = textToName(record.name);
  const type = typeCode(record.type);
  if (name === null || type === null) throw new DecodeError("record has no valid owner name or type");
  writer.compressedName(name);
  writer.u16(type);
  writer.u16(record.class);
  writer.u32(record.ttl);
  writer.sized16((body) => body.bytes(record.raw));
}
