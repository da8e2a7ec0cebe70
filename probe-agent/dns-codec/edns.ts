import ipaddr from "ipaddr.js";
import { RdataReader } from "#probe-agent/dns-codec/rdata/reader.ts";
import { TYPE_OPT } from "#shared/internet/dns-registry.ts";
import type { ByteWriter } from "#probe-agent/dns-codec/writer.ts";

/** Code of the name server identifier option (RFC 5001). Codes are from IANA "DNS EDNS0 Option Codes (OPT)". */
export const OPTION_NSID = 3;
/** Code of the client subnet option (RFC 7871). */
const OPTION_SUBNET = 8;
/** Code of the Extended DNS Error option (RFC 8914). */
export const OPTION_EDE = 15;

/** An EDNS option. */
interface EdnsOption {
  readonly code: number;
  readonly data: Uint8Array;
}

// RFC 7871 section 11.1: send no more bits of an address than necessary.
const SUBNET_BITS = { 4: 24, 6: 56 } as const;

/** Creates the option that requests the answer for clients in the network of this address (RFC 7871 section 6). */
export function clientSubnet(ip: string): EdnsOption {
  const octets = ipaddr.parse(ip).toByteArray();
  const bits = SUBNET_BITS[octets.length === 4 ? 4 : 6];
  const family = octets.length === 4 ? 1 : 2;
  return { code: OPTION_SUBNET, data: Uint8Array.of(0, family, bits, 0, ...octets.slice(0, bits / 8)) };
}

// A hostile resolver could send thousands of errors. No reader needs more than these.
const MAX_EXTENDED_ERRORS = 16;
const MAX_EXTENDED_ERROR_TEXT = 512;
const MAX_NSID = 255;

/** An Extended DNS Error (RFC 8914). Text is cut at 512 octets. */
interface ExtendedError {
  readonly code: number;
  readonly text: string;
}

/** Contents of an OPT record (RFC 6891 section 6.1). */
export interface Edns {
  /** Largest UDP message that the sender accepts, in octets. */
  readonly udpSize: number;
  readonly version: number;
  /** Upper eight bits of the RCODE. */
  readonly extendedRcode: number;
  readonly dnssecOk: boolean;
  readonly options: readonly EdnsOption[];
  readonly ede: readonly ExtendedError[];
  /** Server's own identifier in hexadecimal (RFC 5001). Null if it sent none. */
  readonly nsid: string | null;
}

/** Reads an OPT record's class, TTL and RDATA. Drops the options after a broken one. */
export function readEdns(size: number, ttl: number, rdata: Uint8Array): Edns {
  const options = readOptions(rdata);
  const nsid = options.find((option) => option.code === OPTION_NSID);
  return {
    udpSize: size,
    version: (ttl >>> 16) & 0xff,
    extendedRcode: ttl >>> 24,
    dnssecOk: (ttl & 0x8000) !== 0,
    options,
    ede: options
      .filter((option) => option.code === OPTION_EDE && option.data.length >= 2)
      .slice(0, MAX_EXTENDED_ERRORS)
      .map((option) => readExtendedError(option.data)),
    nsid: nsid === undefined ? null : Buffer.from(nsid.data.subarray(0, MAX_NSID)).toString("hex"),
  };
}

function readOptions(rdata: Uint8Array): Edns["options"] {
  const reader = new RdataReader(rdata, 0, rdata.length);
  const options: { code: number; data: Uint8Array }[] = [];
  while (reader.left >= 4) {
    const code = reader.u16();
    const length = reader.u16();
    if (length > reader.left) break;
    options.push({ code, data: reader.take(length) });
  }
  return options;
}

function readExtendedError(data: Uint8Array): ExtendedError {
  const [high = 0, low = 0] = data;
  const text = new TextDecoder().decode(data.subarray(2, 2 + MAX_EXTENDED_ERROR_TEXT));
  // Some senders end the text with a zero octet. RFC 8914 section 2 tells readers to remove it.
  return { code: high * 256 + low, text: text.endsWith("\u0000") ? text.slice(0, -1) : text };
}

/** An OPT record to write into the additional section. */
export interface EdnsToSend {
  readonly udpSize: number;
  readonly dnssecOk: boolean;
  readonly version?: number;
  readonly extendedRcode?: number;
  readonly options?: readonly EdnsOption[];
}

/** Writes an OPT record. */
export function writeEdns(writer: ByteWriter, edns: EdnsToSend): void {
  writer.u8(0);
  writer.u16(TYPE_OPT);
  writer.u16(edns.udpSize);
  writer.u8(edns.extendedRcode ?? 0);
  writer.u8(edns.version ?? 0);
  writer.u16(edns.dnssecOk ? 0x8000 : 0);
  writer.sized16((body) => {
    for (const { code, data } of edns.options ?? []) {
      body.u16(code);
      body.u16(data.length);
      body.bytes(data);
    }
  });
}
