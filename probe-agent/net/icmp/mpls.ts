import { internetChecksum } from "#probe-agent/net/icmp/checksum.ts";
import type { TraceReply } from "#probe-agent/port/packets.ts";

/** An entry of an MPLS label stack, as quoted by a router (RFC 3032 section 2.1). */
export type MplsLabel = NonNullable<TraceReply["mpls"]>[number];

// RFC 4884 section 5.5: routers older than this RFC append the stack at octet 128 without a length field.
const LEGACY_QUOTE_BYTES = 128;
const EXTENSION_VERSION = 2;
const MPLS_CLASS = 1;
const INCOMING_STACK = 1;
const MAX_LABELS = 16;

/**
 * Returns the MPLS label stack in an ICMP error (RFC 4884 extension structure, RFC 4950 object), or [] if there is
 * none. `body` is everything after the 8-octet ICMP header. `quotedBytes` is the padded length of the quote, or 0 if
 * the error does not state it.
 */
export function mplsLabels(body: Buffer, quotedBytes: number): readonly MplsLabel[] {
  const start = quotedBytes === 0 ? LEGACY_QUOTE_BYTES : quotedBytes;
  const extension = body.subarray(start);
  if (extension.length < 8 || extension.readUInt8(0) >> 4 !== EXTENSION_VERSION) return [];
  // A zero checksum means that none was computed. Without a length field, only a correct checksum proves that there is
  // a stack.
  const unchecked = extension.readUInt16BE(2) === 0;
  if (unchecked ? quotedBytes === 0 : internetChecksum(extension) !== 0) return [];
  return labelsOf(extension.subarray(4));
}

function labelsOf(objects: Buffer): readonly MplsLabel[] {
  const labels: MplsLabel[] = [];
  let rest = objects;
  while (rest.length >= 4) {
    const length = rest.readUInt16BE(0);
    if (length < 4 || length > rest.length) break;
    if (rest.readUInt8(2) === MPLS_CLASS && rest.readUInt8(3) === INCOMING_STACK) {
      for (let at = 4; at + 4 <= length && labels.length < MAX_LABELS; at += 4)
        labels.push(label(rest.readUInt32BE(at)));
    }
    rest = rest.subarray(length);
  }
  return labels;
}

function label(entry: number): MplsLabel {
  return { label: entry >>> 12, exp: (entry >>> 9) & 7, s: (entry & 0x100) !== 0, ttl: entry & 0xff };
}
