import { readIp } from "#probe-agent/analysis/network/ip-numbers.ts";
import { arrayOf, recordOf, textOf } from "#probe-agent/analysis/registry/rdap/json.ts";

/** A name server of a domain (RFC 9083 section 5.2). */
export interface RdapNameserver {
  /** Host name as A-labels in lower case, without a final dot. */
  readonly host: string;
  /** Glue addresses, IPv4 first. */
  readonly addresses: readonly string[];
}

const MAX_ADDRESSES = 32;
const HOST = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Reads one name server. Returns null for another object, or for one without a usable name. `toAscii` converts an IDN
 * to A-labels.
 */
export function readNameserver(value: unknown, toAscii: (name: string) => string): RdapNameserver | null {
  const object = recordOf(value);
  if (object === null || !["nameserver", undefined].includes(object["objectClassName"] as string | undefined))
    return null;
  const stated = textOf(object["ldhName"]) ?? textOf(object["unicodeName"]);
  const host = stated === null ? "" : toAscii(stated).toLowerCase().replace(/\.$/, "");
  if (host.length > 253 || !HOST.test(host)) return null;
  const addresses = recordOf(object["ipAddresses"]);
  const usable = [...arrayOf(addresses?.["v4"], MAX_ADDRESSES), ...arrayOf(addresses?.["v6"], MAX_ADDRESSES)];
  return { host, addresses: usable.filter((ip) => typeof ip === "string" && readIp(ip) !== null) as string[] };
}
