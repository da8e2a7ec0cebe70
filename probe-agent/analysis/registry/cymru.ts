import { withoutControls } from "#shared/text/plain-line.ts";
import { blockText, isIn, readBlock, readIp } from "#probe-agent/analysis/network/ip-numbers.ts";

/** Announcement of a prefix in Team Cymru's BGP view. */
export interface Origin {
  /** Announcing autonomous systems. More than one if several announce the same prefix. */
  readonly asns: readonly number[];
  /** In CIDR form. */
  readonly prefix: string;
  /** Country of the registration, ISO 3166-1 alpha-2. Null if the registry names none. */
  readonly country: string | null;
  /** Registry in Team Cymru's spelling: arin, ripencc, apnic, lacnic, afrinic. */
  readonly registry: string | null;
  /** Date in the form YYYY-MM-DD. */
  readonly allocated: string | null;
}

/** Data about an autonomous system. */
export interface AsRecord {
  readonly asn: number;
  readonly country: string | null;
  readonly registry: string | null;
  readonly allocated: string | null;
  /** Short name, e.g. CLOUDFLARENET. */
  readonly name: string | null;
  /** Holder, e.g. "Cloudflare, Inc.". Null if the description contains only the short name. */
  readonly holder: string | null;
}

const MAX_ASN = 4_294_967_295;
const MAX_RECORDS = 32;
const MAX_ORIGINS = 16;
const MAX_TEXT = 1000;

/**
 * Returns the name to query for TXT records about an address: its reversed octets or nibbles below the zone. Null if
 * `ip` is not an address.
 */
export function originName(ip: string, zones: { readonly origin: string; readonly origin6: string }): string | null {
  const read = readIp(ip);
  if (read === null) return null;
  if (read.version === 4) return `${ip.split(".").toReversed().join(".")}.${bare(zones.origin)}`;
  const nibbles = read.value.toString(16).padStart(32, "0");
  return `${Array.from(nibbles).toReversed().join(".")}.${bare(zones.origin6)}`;
}

/** Returns the name to query for TXT records about an autonomous system. */
export function asName(asn: number, zones: { readonly asn: string }): string {
  return `AS${asn}.${bare(zones.asn)}`;
}

/**
 * Parses texts such as "3561 | 216.88.0.0/14 | US | arin | 1998-09-25". Returns the most specific prefix that contains
 * the address, or null if there is none.
 */
export function readOrigin(texts: readonly string[], ip: string): Origin | null {
  const address = readIp(ip);
  if (address === null) return null;
  const origins = texts.slice(0, MAX_RECORDS).flatMap((text) => {
    const [numbers = "", cidr = "", country, registry, allocated] = fieldsOf(text);
    const block = readBlock(cidr);
    const asns = numbers
      .split(/\s+/)
      .slice(0, MAX_ORIGINS)
      .map(readAsn)
      .filter((asn) => asn !== null);
    if (block === null || asns.length === 0 || !isIn(address, block)) return [];
    return [{ block, asns, prefix: blockText(block), ...registration(country, registry, allocated) }];
  });
  const [best] = origins.toSorted((one, other) => other.block.prefix - one.block.prefix);
  if (best === undefined) return null;
  const { block: _, ...origin } = best;
  return origin;
}

/**
 * Parses texts such as "23028 | US | arin | 2002-01-04 | TEAM-CYMRU - Team Cymru Inc., US". Returns null if no text is
 * about `asn`.
 */
export function readAs(texts: readonly string[], asn: number): AsRecord | null {
  for (const text of texts.slice(0, MAX_RECORDS)) {
    const [number = "", country, registry, allocated, ...rest] = fieldsOf(text);
    if (readAsn(number) !== asn) continue;
    const description = rest.join(" | ").replace(/,\s*[A-Z]{2}$/, "");
    const [, short = description, holder = ""] = /^(\S+)\s+-?\s*(.+)$/s.exec(description) ?? [];
    return {
      asn,
      ...registration(country, registry, allocated),
      name: short === "" ? null : short,
      holder: holder === "" ? null : holder,
    };
  }
  return null;
}

function fieldsOf(text: string): string[] {
  const line = withoutControls(text.slice(0, MAX_TEXT));
  return line.split("|").map((field) => field.trim());
}

function registration(country = "", registry = "", allocated = ""): Pick<Origin, "country" | "registry" | "allocated"> {
  return {
    country: /^[A-Z]{2}$/.test(country) ? country : null,
    registry: /^[a-z]{3,20}$/.test(registry) ? registry : null,
    allocated: /^\d{4}-\d{2}-\d{2}$/.test(allocated) ? allocated : null,
  };
}

function readAsn(text: string): number | null {
  const asn = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  return asn > 0 && asn <= MAX_ASN ? asn : null;
}

function bare(zone: string): string {
  return zone.replace(/\.$/, "");
}
