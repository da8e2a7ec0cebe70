import { readEdns, type Edns } from "#probe-agent/dns-codec/edns.ts";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { nameToText, readName, type NameOctets } from "#probe-agent/dns-codec/names.ts";
import { readRdata } from "#probe-agent/dns-codec/rdata/codec.ts";
import { RdataReader } from "#probe-agent/dns-codec/rdata/reader.ts";
import { TYPE_OPT, typeName } from "#shared/internet/dns-registry.ts";
import type { DnsFlags, DnsRecord } from "#probe-agent/port/dns.ts";

/** Number of octets before the first question (RFC 1035 section 4.1.1). */
export const HEADER_OCTETS = 12;

/** An entry of the question section. */
export interface WireQuestion {
  readonly name: NameOctets;
  readonly type: number;
  readonly class: number;
}

/** Header and questions. They are enough to decide whether a message answers a query. */
interface MessageHead {
  readonly id: number;
  /** The QR bit. */
  readonly response: boolean;
  readonly opcode: number;
  /** The header's four bits. `Message.rcode` has all twelve. */
  readonly rcode: number;
  readonly flags: DnsFlags;
  readonly questions: readonly WireQuestion[];
  /** Record counts of the answer, authority and additional sections as stated in the header. */
  readonly counts: readonly [number, number, number];
  /** Offset of the first record. */
  readonly next: number;
}

/** A whole message. The OPT record is in `edns`, not in `additional`. */
export interface Message extends MessageHead {
  readonly answers: readonly DnsRecord[];
  readonly authority: readonly DnsRecord[];
  readonly additional: readonly DnsRecord[];
  readonly edns: Edns | null;
  /** Number of octets after the last record. */
  readonly trailing: number;
}

/** Decodes the header and the questions. Throws DecodeError. */
export function decodeHead(bytes: Uint8Array): MessageHead {
  if (bytes.length < HEADER_OCTETS) throw new DecodeError("message is shorter than its header");
  const header = new RdataReader(bytes, 0, HEADER_OCTETS);
  const id = header.u16();
  const bits = header.u16();
  const questionCount = header.u16();
  const counts = [header.u16(), header.u16(), header.u16()] as const;
  const questions: WireQuestion[] = [];
  let next = HEADER_OCTETS;
  // No honest message has two questions (RFC 9619). More than a few only cost time.
  if (questionCount > 4) throw new DecodeError("too many questions");
  for (let index = 0; index < questionCount; index += 1) {
    const read = readName(bytes, next);
    const fields = new RdataReader(bytes, read.next, Math.min(read.next + 4, bytes.length));
    questions.push({ name: read.name, type: fields.u16(), class: fields.u16() });
    next = read.next + 4;
  }
  const flag = (mask: number): boolean => (bits & mask) !== 0;
  return {
    id,
    response: flag(0x8000),
    opcode: (bits >>> 11) & 15,
    rcode: bits & 15,
    flags: { aa: flag(0x400), tc: flag(0x200), rd: flag(0x100), ra: flag(0x80), ad: flag(0x20), cd: flag(0x10) },
    questions,
    counts,
    next,
  };
}

/**
 * Decodes a message (RFC 1035 section 4). A truncated message (TC) can end anywhere; its complete records are kept.
 * `trustsCounts: false` also takes a message that ends after a record although its header counts more. Throws DecodeError
 * and nothing else. Takes time linear in the size of the message.
 */
export function decodeMessage(bytes: Uint8Array, { trustsCounts = true } = {}): Message {
  if (bytes.length > 0xffff) throw new DecodeError("message is longer than 65535 octets");
  const head = decodeHead(bytes);
  const sections: [DnsRecord[], DnsRecord[], DnsRecord[]] = [[], [], []];
  let edns: Edns | null = null;
  let next = head.next;
  try {
    for (const [index, section] of sections.entries()) {
      for (let left = head.counts[index] ?? 0; left > 0; left -= 1) {
        if (next === bytes.length && !trustsCounts) break;
        const read = readRecord(bytes, next);
        next = read.next;
        if (read.type !== TYPE_OPT) section.push(read.record());
        else if (index === 2 && edns === null) edns = readEdns(read.class, read.ttl, bytes.subarray(read.start, next));
      }
    }
  } catch (error) {
    if (!(error instanceof DecodeError) || !head.flags.tc) throw error;
  }
  const [answers, authority, additional] = sections;
  const rcode = head.rcode | ((edns?.extendedRcode ?? 0) << 4);
  return { ...head, rcode, answers, authority, additional, edns, trailing: bytes.length - next };
}

function readRecord(bytes: Uint8Array, offset: number) {
  const owner = readName(bytes, offset);
  const fields = new RdataReader(bytes, owner.next, Math.min(owner.next + 10, bytes.length));
  const type = fields.u16();
  const recordClass = fields.u16();
  const ttl = fields.u32();
  const length = fields.u16();
  const start = owner.next + 10;
  const next = start + length;
  if (next > bytes.length) throw new DecodeError("record runs past the end of the message");
  return {
    type,
    class: recordClass,
    ttl,
    start,
    next,
    record: (): DnsRecord => ({
      name: nameToText(owner.name),
      type: typeName(type),
      class: recordClass,
      // RFC 2181 section 8: a TTL with the top bit set counts as zero.
      ttl: ttl >= 2 ** 31 ? 0 : ttl,
      ...readRdata(typeName(type), bytes, start, next),
    }),
  };
}
