import { parseRdata, readRdata } from "#probe-agent/dns-codec/rdata/codec.ts";
import { CLASS_IN } from "#shared/internet/dns-registry.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";

/** A record as the resolver's client would read it, from presentation form. */
export function makeDnsRecord(name: string, type: string, data: string, ttl = 3600): DnsRecord {
  return fromRdata(name, type, parseRdata(type, data), ttl);
}

/** The same from RDATA octets. */
export function fromRdata(name: string, type: string, raw: Uint8Array, ttl = 3600): DnsRecord {
  return { name, type, class: CLASS_IN, ttl, ...readRdata(type, raw, 0, raw.length) };
}
