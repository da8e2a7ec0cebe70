import type { Random } from "#shared/time/clock.ts";
import { clientSubnet, OPTION_NSID, writeEdns, type EdnsToSend } from "#probe-agent/dns-codec/edns.ts";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { decodeHead, HEADER_OCTETS, type WireQuestion } from "#probe-agent/dns-codec/message.ts";
import { equalNames, identicalNames, type NameOctets, textToName } from "#probe-agent/dns-codec/names.ts";
import { typeCode } from "#shared/internet/dns-registry.ts";
import { ByteWriter } from "#probe-agent/dns-codec/writer.ts";
import type { DnsFlags, DnsRecord } from "#probe-agent/port/dns.ts";

// DNS Flag Day 2020: this size passes every path without fragments.
const UDP_SIZE = 1232;
// RFC 5001 section 2.1: an empty option requests the identifier.
const ASK_NSID = { code: OPTION_NSID, data: new Uint8Array() };

/** Transports of queries: RFC 1035, RFC 7766, RFC 7858, RFC 8484. */
export type Transport = "udp" | "tcp" | "dot" | "doh";

/** Options of a query on the wire. The next try leaves out what a server does not support. */
export interface Shape {
  readonly transport: Transport;
  readonly edns: boolean;
  /**
   * Whether the name's letters have random case, which answers must repeat ("0x20"). This makes forging an answer
   * harder.
   */
  readonly mixedCase: boolean;
}

/** Options of a query that callers choose. */
export interface QueryFlags {
  readonly recursionDesired: boolean;
  readonly checkingDisabled: boolean;
  readonly dnssecOk: boolean;
  /** Address whose network should be used for the answer (RFC 7871). Needs EDNS. */
  readonly clientSubnet?: string;
}

/** A query on the wire, and the values that its answer must repeat. */
interface WireQuery {
  readonly id: number;
  /** Question with the name in the letter case that was sent. */
  readonly question: WireQuestion;
  readonly bytes: Uint8Array;
}

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

/** Builds a query with a random id. DO needs EDNS and is off without it. */
export function buildQuery(question: WireQuestion, flags: QueryFlags, shape: Shape, random: Random): WireQuery {
  const [high = 0, low = 0] = random.bytes(2);
  const id = high * 256 + low;
  const subnet = flags.clientSubnet === undefined ? [] : [clientSubnet(flags.clientSubnet)];
  const sent = shape.mixedCase ? { ...question, name: mixCase(question.name, random) } : question;
  const bytes = encodeMessage({
    id,
    flags: { rd: flags.recursionDesired, cd: flags.checkingDisabled },
    question: sent,
    ...(shape.edns ? { edns: { udpSize: UDP_SIZE, dnssecOk: flags.dnssecOk, options: [ASK_NSID, ...subnet] } } : {}),
  });
  return { id, question: sent, bytes };
}

function mixCase(name: NameOctets, random: Random): NameOctets {
  const coins = random.bytes(name.length);
  return name.map((octet, index) => (isLetter(octet) && (coins[index] ?? 0) >= 128 ? octet ^ 0x20 : octet));
}

function isLetter(octet: number): boolean {
  const lower = octet | 0x20;
  return octet >= 0x41 && lower >= 0x61 && lower <= 0x7a;
}

/** Result of comparing a datagram or frame with a query. The caller ignores a foreign one and continues to wait. */
export type Match = "answer" | "wrong_case" | "foreign";

// Servers that do not understand a query can leave its question out (RFC 6891 section 7; seen with NOTIMP and REFUSED).
const FORMERR = 1;
const NOTIMP = 4;
const REFUSED = 5;

/**
 * Compares a reply with its query: id, QR, opcode, and one question with the same name, type and class (RFC 5452
 * section 9.1).
 */
export function matchReply(query: WireQuery, bytes: Uint8Array): Match {
  try {
    const head = decodeHead(bytes);
    if (head.id !== query.id || !head.response || head.opcode !== 0) return "foreign";
    const [question, more] = head.questions;
    if (question === undefined) {
      return [FORMERR, NOTIMP, REFUSED].includes(head.rcode) ? "answer" : "foreign";
    }
    const { name, type, class: asked } = query.question;
    if (more !== undefined || question.type !== type || question.class !== asked) return "foreign";
    if (identicalNames(question.name, name)) return "answer";
    return equalNames(question.name, name) ? "wrong_case" : "foreign";
  } catch (error) {
    if (error instanceof DecodeError) return "foreign";
    throw error;
  }
}

/**
 * Restores the caller's spelling of the name in a matched reply, in place. Otherwise all names that point to the
 * question would show the random case.
 */
export function restoreCase(reply: Uint8Array, name: NameOctets): void {
  const there = reply.subarray(HEADER_OCTETS, HEADER_OCTETS + name.length);
  if (equalNames(there, name)) there.set(name);
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
