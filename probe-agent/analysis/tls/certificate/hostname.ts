import { domainToASCII } from "node:url";
import { literalFamily } from "#shared/egress/addresses.ts";
import { isSameOctets } from "#shared/text/same-octets.ts";
import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import { subjectAltNames } from "#probe-agent/analysis/tls/certificate/extensions.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

/**
 * Reports whether a certificate is for a host. A DNS name is compared with dNSName entries (RFC 9525 section 6.3), an
 * IP literal with iPAddress entries, octet by octet. The common name is ignored.
 */
export function matchesHost(certificate: Certificate, host: string): boolean {
  const names = readNames(certificate);
  const octets = ipOctets(host);
  if (octets) return names.some(({ kind, contents }) => kind === "ip" && isSameOctets(contents, octets));
  const wanted = asciiHost(host);
  if (wanted === null) return false;
  return names.some(({ kind, contents }) => kind === "dns" && matchesPattern(wanted, text(contents)));
}

/** Reports whether a certificate is for a DNS name only by a wildcard. */
export function isWildcardMatch(certificate: Certificate, host: string): boolean {
  const wanted = asciiHost(host);
  if (wanted === null || ipOctets(host)) return false;
  const patterns = readNames(certificate).flatMap(({ kind, contents }) => (kind === "dns" ? [text(contents)] : []));
  const matching = patterns.filter((pattern) => matchesPattern(wanted, pattern));
  return matching.length > 0 && matching.every((pattern) => pattern.startsWith("*."));
}

/** Returns the octets of an IPv4 or IPv6 literal, with or without brackets. Returns null for any other text. */
export function ipOctets(host: string): Uint8Array | null {
  const literal = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  const family = literalFamily(literal);
  if (family === null) return null;
  if (family === "ipv4") return Buffer.from(literal.split(".").map(Number));
  const [head = "", tail] = withoutDottedPart(literal).split("::");
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => 0);
  return Buffer.from([...left, ...zeros, ...right].flatMap((group) => [group >> 8, group & 0xff]));
}

/**
 * Reports whether a pattern matches a host. `host` is in lower case without a final dot. A wildcard is a complete
 * left-most label and matches exactly one label.
 */
function matchesPattern(host: string, pattern: string): boolean {
  const wanted = pattern.toLowerCase();
  if (!wanted.startsWith("*.")) return wanted === host;
  const parent = wanted.slice(1);
  // At least two labels must follow the wildcard: clients refuse a wildcard for a whole top-level domain.
  if (parent.includes("*") || !parent.slice(1).includes(".")) return false;
  const label = host.slice(0, -parent.length);
  return host.endsWith(parent) && label.length > 0 && !label.includes(".");
}

function asciiHost(host: string): string | null {
  const name = host.endsWith(".") ? host.slice(0, -1) : host;
  const ascii = /^[\u0021-\u007e]*$/.test(name) ? name.toLowerCase() : domainToASCII(name);
  return ascii === "" || ascii.startsWith(".") || ascii.includes("*") ? null : ascii;
}

function readNames(certificate: Certificate): ReturnType<typeof subjectAltNames> & object {
  try {
    return subjectAltNames(certificate) ?? [];
  } catch (error) {
    if (error instanceof MalformedDer) return [];
    throw error;
  }
}

function text(contents: Uint8Array): string {
  return Buffer.from(contents).toString("latin1");
}

function groups(part: string): number[] {
  return part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
}

/** Rewrites `::ffff:1.2.3.4` as `::ffff:102:304`. */
function withoutDottedPart(literal: string): string {
  const at = literal.lastIndexOf(":") + 1;
  if (!literal.includes(".", at)) return literal;
  const [a = 0, b = 0, c = 0, d = 0] = literal.slice(at).split(".").map(Number);
  return `${literal.slice(0, at)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}
