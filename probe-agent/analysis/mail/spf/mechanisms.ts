import { isIn, readIp, type IpBlock, type IpNumber } from "#probe-agent/analysis/network/ip-numbers.ts";
import { expandTarget, getValidatedNames, type Check } from "#probe-agent/analysis/mail/spf/check.ts";
import { askRecords, LIMITS, spendLookup, SpfStop } from "#probe-agent/analysis/mail/spf/lookup.ts";
import type { Mechanism } from "#probe-agent/analysis/mail/spf/parse.ts";
import { isWithin } from "#probe-agent/analysis/mail/spf/validated-names.ts";

/** Reports whether an included domain passes the client. Throws SpfStop if the check ends there. */
type Include = (domain: string) => Promise<boolean>;

/** Reports whether a mechanism matches (RFC 7208 section 5). Throws SpfStop if the check ends at this mechanism. */
export async function matches(check: Check, domain: string, mechanism: Mechanism, include: Include): Promise<boolean> {
  const { client, resolver, spent } = check;
  switch (mechanism.name) {
    case "all":
      return true;
    case "ip4":
    case "ip6":
      return isWithinPrefix(client.ip, mechanism.address, mechanism.prefix);
    case "include":
      spendLookup(spent);
      return include(await expandTarget(check, domain, mechanism.domain));
    case "a":
      spendLookup(spent);
      return hasAddress(check, await expandTarget(check, domain, mechanism.domain), mechanism);
    case "mx":
      spendLookup(spent);
      return hasExchange(check, await expandTarget(check, domain, mechanism.domain), mechanism);
    case "ptr":
      spendLookup(spent);
      return hasName(check, await expandTarget(check, domain, mechanism.domain));
    case "exists":
      spendLookup(spent);
      // Section 5.7: the lookup is always for A records, also for IPv6 clients.
      return (await askRecords(resolver, spent, await expandTarget(check, domain, mechanism.domain), "A")).length > 0;
  }
}

type Prefixes = Pick<Mechanism & { name: "a" | "mx" }, "prefix4" | "prefix6">;

async function hasAddress(check: Check, name: string, { prefix4, prefix6 }: Prefixes): Promise<boolean> {
  const { client, resolver, spent } = check;
  const [type, prefix] = client.ip.version === 4 ? (["A", prefix4] as const) : (["AAAA", prefix6] as const);
  const addresses = await askRecords(resolver, spent, name, type);
  return addresses.some((address) => isWithinPrefix(client.ip, address, prefix));
}

async function hasExchange(check: Check, name: string, prefixes: Prefixes): Promise<boolean> {
  const records = await askRecords(check.resolver, check.spent, name, "MX");
  if (records.length > LIMITS.names) throw new SpfStop("permerror", `${name} has more than 10 MX records`);
  for (const record of records) {
    // The host "." is the null MX of RFC 7505, which names no host.
    const host = record.replace(/^\s*\d+\s+/, "").replace(/\.$/, "");
    if (host !== "" && (await hasAddress(check, host, prefixes))) return true;
  }
  return false;
}

async function hasName(check: Check, domain: string): Promise<boolean> {
  const { names, found } = await getValidatedNames(check);
  if (!found) {
    check.spent.voidLookups += 1;
    if (check.spent.voidLookups > LIMITS.voidLookups) {
      throw new SpfStop("permerror", "more than 2 DNS lookups returned no records");
    }
  }
  return names.some((name) => isWithin(name, domain));
}

function isWithinPrefix(ip: IpNumber, network: string, prefix: number): boolean {
  const read = readIp(network);
  if (read?.version !== ip.version) return false;
  const bits = BigInt((ip.version === 4 ? 32 : 128) - prefix);
  const block: IpBlock = { ...read, value: (read.value >> bits) << bits, prefix };
  return isIn(ip, block);
}
