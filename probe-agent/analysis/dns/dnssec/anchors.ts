import { parseZoneText } from "#probe-agent/analysis/dns/dnssec/zone-text.ts";
import { parseRdata } from "#probe-agent/dns-codec/rdata/codec.ts";
import type { TrustAnchor } from "#probe-agent/port/dns.ts";

// Keys KSK-2017 and KSK-2024 from IANA, "Root Zone Trust Anchors", root-anchors.xml (RFC 7958).
const ROOT_DS = [
  "20326 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D",
  "38696 8 2 683D2D0ACB8C9B712A1948B27F741219298D0A450D612C483AF444A4C0FB2B16",
];

/** The root zone's keys as published by IANA. */
export const IANA_ANCHORS: readonly TrustAnchor[] = ROOT_DS.map((data) => ({
  zone: ".",
  type: "DS",
  raw: parseRdata("DS", data),
}));

/** The operator's trust anchors, or one line that says what is wrong with the file, without the file's name. */
export type ReadAnchors =
  | { readonly ok: true; readonly anchors: readonly TrustAnchor[] }
  | { readonly ok: false; readonly fault: string };

/**
 * Reads DS and DNSKEY records in zone-file form. They replace the built-in trust anchors, so a file that should also
 * trust the root must list the root's keys.
 */
export function parseAnchors(text: string): ReadAnchors {
  const read = parseZoneText(text);
  if (!read.ok) return { ok: false, fault: `line ${read.line}: ${read.message}` };
  const anchors: TrustAnchor[] = [];
  for (const { name, type, raw } of read.records) {
    if (type !== "DS" && type !== "DNSKEY") {
      return { ok: false, fault: `${name} ${type}: only DS and DNSKEY records are trust anchors` };
    }
    // The first four octets are fields, the rest is the digest or key.
    if (raw.length < 5) return { ok: false, fault: `${name} ${type}: the digest or key is missing` };
    anchors.push({ zone: name, type, raw });
  }
  if (anchors.length === 0) return { ok: false, fault: "no DS or DNSKEY record in it" };
  return { ok: true, anchors };
}
