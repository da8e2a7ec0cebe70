import { isRecord } from "#shared/text/is-record.ts";
import { isIn, readBlock, readIp, type IpBlock } from "#probe-agent/analysis/network/ip-numbers.ts";

/** An entry of the bootstrap registry for addresses: the RDAP service of a block. */
interface RdapService {
  readonly block: IpBlock;
  /** Base URL with a slash at the end. https if the registry offers it. */
  readonly baseUrl: string;
}

/** An entry of the bootstrap registry for AS numbers: the RDAP service of a range, both ends included. */
interface AutnumService {
  readonly first: number;
  readonly last: number;
  readonly baseUrl: string;
}

// IANA's files have a few hundred entries, and dns.json about 1500. A file with more is not one of IANA's.
const MAX_SERVICES = 3000;
const MAX_KEYS = 20_000;

/** Reads ipv4.json or ipv6.json (RFC 9224 sections 3 and 5). Returns null if the value does not have that form. */
export function readBootstrap(value: unknown): readonly RdapService[] | null {
  return (
    readEntries(value)?.flatMap(({ key, baseUrl }) => {
      const block = readBlock(key);
      return block === null ? [] : [{ block, baseUrl }];
    }) ?? null
  );
}

/**
 * Reads dns.json (RFC 9224 section 4) into base URLs by lower-case domain, with "" for the root. Returns null if the
 * value does not have that form.
 */
export function readDomainBootstrap(value: unknown): ReadonlyMap<string, string> | null {
  const entries = readEntries(value);
  return entries === null ? null : new Map(entries.map(({ key, baseUrl }) => [key.toLowerCase(), baseUrl]));
}

/**
 * Reads asn.json (RFC 9224 section 5.3). Its keys are ranges such as "2045-2046", or one number. Returns null if the
 * value does not have that form.
 */
export function readAutnumBootstrap(value: unknown): readonly AutnumService[] | null {
  return (
    readEntries(value)?.flatMap(({ key, baseUrl }) => {
      const [, first, last = first] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(key) ?? [];
      return first === undefined ? [] : [{ first: Number(first), last: Number(last), baseUrl }];
    }) ?? null
  );
}

/**
 * Returns the base URL of the service for an address, by longest match (RFC 9224 section 5). Null if no registry is
 * listed.
 */
export function serviceFor(services: readonly RdapService[], ip: string): string | null {
  const address = readIp(ip);
  if (address === null) return null;
  const matching = services.filter(({ block }) => isIn(address, block));
  return matching.toSorted((one, other) => other.block.prefix - one.block.prefix)[0]?.baseUrl ?? null;
}

/**
 * Returns the base URL of the service for a name in A-labels, by longest match of labels (RFC 9224 section 4). A
 * top-level domain itself is registered in the root, so the search skips its own entry, which serves the names below
 * it.
 */
export function domainServiceFor(services: ReadonlyMap<string, string>, name: string): string | null {
  const labels = name.toLowerCase().split(".");
  for (let cut = labels.length === 1 ? 1 : 0; cut <= labels.length; cut += 1) {
    const found = services.get(labels.slice(cut).join("."));
    if (found !== undefined) return found;
  }
  return null;
}

/** Returns the base URL of the service for an AS number (RFC 9224 section 5.3). Null if no registry is listed. */
export function autnumServiceFor(services: readonly AutnumService[], asn: number): string | null {
  return services.find(({ first, last }) => asn >= first && asn <= last)?.baseUrl ?? null;
}

function readEntries(value: unknown): { readonly key: string; readonly baseUrl: string }[] | null {
  const services = isRecord(value) ? value["services"] : undefined;
  if (!Array.isArray(services)) return null;
  const found: { key: string; baseUrl: string }[] = [];
  for (const entry of services.slice(0, MAX_SERVICES) as unknown[]) {
    const [keys, urls] = Array.isArray(entry) ? (entry as unknown[]) : [];
    const baseUrl = Array.isArray(urls) ? chooseUrl(urls) : null;
    if (!Array.isArray(keys) || baseUrl === null) continue;
    for (const key of keys as unknown[]) {
      if (typeof key === "string" && found.length < MAX_KEYS) found.push({ key, baseUrl });
    }
  }
  return found;
}

function chooseUrl(urls: readonly unknown[]): string | null {
  const usable = urls
    .filter((url) => typeof url === "string" && url.length <= 1000)
    .map((url) => URL.parse(url as string))
    .filter((url) => url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "");
  const chosen = usable.find((url) => url?.protocol === "https:") ?? usable[0];
  return chosen?.href.replace(/\/?$/, "/") ?? null;
}
