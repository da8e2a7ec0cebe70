import { domainToASCII } from "node:url";
import { readAsNumber } from "#shared/internet/as-number.ts";
import { ipText, readIp } from "#probe-agent/analysis/network/ip-numbers.ts";

/** A resource of the registries: an AS number, an address or a domain. */
type ResourceName =
  | { readonly kind: "autnum"; readonly asn: number }
  | { readonly kind: "ip"; readonly ip: string }
  /** `name` consists of lower-case A-labels without a final dot. */
  | { readonly kind: "domain"; readonly name: string };

const NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Parses an AS number, an address or a domain. Returns null for the root and for other texts. */
export function readResource(text: string): ResourceName | null {
  const asn = readAsNumber(text);
  if (asn !== null) return { kind: "autnum", asn };
  const ip = readIp(text);
  if (ip !== null) return { kind: "ip", ip: ipText(ip) };
  // A number beyond the AS numbers is not a name either, because no top-level domain is numeric (RFC 3696 section 2).
  if (text.length > 1024 || /[\p{Cc}\s/\\?#@:%]/u.test(text) || /^(?:as)?\d+$/i.test(text)) return null;
  const name = domainToASCII(text.replace(/^\*\./, "")).replace(/\.$/, "").toLowerCase();
  return name.length <= 253 && NAME.test(name) ? { kind: "domain", name } : null;
}
