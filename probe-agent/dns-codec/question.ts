import type { Random } from "#shared/clock.ts";
import { clientSubnet, OPTION_NSID } from "#probe-agent/dns-codec/edns.ts";
import { encodeMessage } from "#probe-agent/dns-codec/encode.ts";
import { DecodeError } from "#probe-agent/dns-codec/error.ts";
import { decodeHead, HEADER_OCTETS, type WireQuestion } from "#probe-agent/dns-codec/message.ts";
import { equalNames, identicalNames, type NameOctets } from "#probe-agent/dns-codec/names.ts";

// DNS Flag Day 2020: fits every path without fragments.
const UDP_SIZE = 1232;
// RFC 5001 section 2.1: an empty option asks for it.
const ASK_NSID = { code: OPTION_NSID, data: new Uint8Array() };

/** How queries travel: RFC 1035, RFC 7766, RFC 7858, RFC 8484. */
export type Transport = "udp" | "tcp" | "dot" | "doh";

/** How one query is put on the wire; what a server cannot take is dropped on the next try. */
export interface Shape {
  readonly transport: Transport;
  readonly edns: boolean;
  /** Random case of the name's letters, which answers must repeat ("0x20"): more for a forger to guess. */
  readonly mixedCase: boolean;
}

/** Bits of a query that callers choose. */
export interface QueryFlags {
  readonly recursionDesired: boolean;
  readonly checkingDisabled: boolean;
  readonly dnssecOk: boolean;
  /** Address whose network the answer is wanted for (RFC 7871); needs EDNS. */
  readonly clientSubnet?: string;
}

/** A query on the wire and what its answer must repeat. */
interface WireQuery {
  readonly id: number;
  /** Name in the case sent. */
  readonly question: WireQuestion;
  readonly bytes: Uint8Array;
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

/** Whether a datagram or frame answers a query; anything foreign is to be ignored and waited on. */
export type Match = "answer" | "wrong_case" | "foreign";

// Servers that do not understand a query may leave its question out (RFC 6891 section 7; seen with NOTIMP, REFUSED).
const FORMERR = 1;
const NOTIMP = 4;
const REFUSED = 5;

/** Holds a reply against its query: id, QR, opcode, one question with the same name, type and class (RFC 5452 9.1). */
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
 * Puts the caller's spelling of the name back into a matched reply, in place: all names that point to the question
 * would else show the random case.
 */
export function restoreCase(reply: Uint8Array, name: NameOctets): void {
  const there = reply.subarray(HEADER_OCTETS, HEADER_OCTETS + name.length);
  if (equalNames(there, name)) there.set(name);
}
