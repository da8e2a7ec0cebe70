import { isIn, readBlock, readIp, type IpBlock } from "#probe-agent/analysis/ip-numbers.ts";

/** One entry of the bootstrap registry: who answers for a block of addresses. */
export interface RdapService {
  readonly block: IpBlock;
  /** Base URL, ends with a slash; https where the registry offers it. */
  readonly baseUrl: string;
}

// IANA's files have a few hundred entries; more is not that file.
const MAX_SERVICES = 2000;
const MAX_BLOCKS = 20_000;

/** Reads ipv4.json or ipv6.json (RFC 9224 sections 3 and 5); null for what has not that form. */
export function readBootstrap(value: unknown): readonly RdapService[] | null {
  const services = isRecord(value) ? value["services"] : undefined;
  if (!Array.isArray(services)) return null;
  const found: RdapService[] = [];
  for (const entry of services.slice(0, MAX_SERVICES) as unknown[]) {
    const [ranges, urls] = Array.isArray(entry) ? (entry as unknown[]) : [];
    const baseUrl = Array.isArray(urls) ? chooseUrl(urls) : null;
    if (!Array.isArray(ranges) || baseUrl === null) continue;
    for (const range of ranges as unknown[]) {
      const block = typeof range === "string" ? readBlock(range) : null;
      if (block !== null && found.length < MAX_BLOCKS) found.push({ block, baseUrl });
    }
  }
  return found;
}

/** Base URL of the service for an address: the longest match (RFC 9224 section 5); null where no registry is named. */
export function serviceFor(services: readonly RdapService[], ip: string): string | null {
  const address = readIp(ip);
  if (address === null) return null;
  const matching = services.filter(({ block }) => isIn(address, block));
  return matching.toSorted((one, other) => other.block.prefix - one.block.prefix)[0]?.baseUrl ?? null;
}

function chooseUrl(urls: readonly unknown[]): string | null {
  const usable = urls
    .filter((url) => typeof url === "string" && url.length <= 1000)
    .map((url) => URL.parse(url as string))
    .filter((url) => url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "");
  const chosen = usable.find((url) => url?.protocol === "https:") ?? usable[0];
  return chosen?.href.replace(/\/?$/, "/") ?? null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
