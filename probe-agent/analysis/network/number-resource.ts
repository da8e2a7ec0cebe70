import { domainToASCII } from "node:url";
import { readAsNumber } from "#shared/as-number.ts";
import { ipText, readIp } from "#probe-agent/analysis/network/ip-numbers.ts";

/** What a name, address or number stands for in the registries. */
type ResourceName =
  | { readonly kind: "autnum"; readonly asn: number }
  | { readonly kind: "ip"; readonly ip: string }
  /** Lower-case A-labels without final dot. */
  | { readonly kind: "domain"; readonly name: string };

const NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Reads an AS number, an address or a domain; null for the root and for what is none of them. */
export function readResource(text: string): ResourceName | null {
  const asn = readAsNumber(text);
  if (asn !== null) return { kind: "autnum", asn };
  const ip = readIp(text);
  if (ip !== null) return { kind: "ip", ip: ipText(ip) };
  // A number beyond the AS numbers is no name either: no top-level domain is numeric (RFC 3696 section 2).
  if (text.length > 1024 || /[\p{Cc}\s/\\?#@:%]/u.test(text) || /^(?:as)?\d+$/i.test(text)) return null;
  const name = domainToASCII(text.replace(/^\*\./, "")).replace(/\.$/, "").toLowerCase();
  return name.length <= 253 && NAME.test(name) ? { kind: "domain", name } : null;
}
