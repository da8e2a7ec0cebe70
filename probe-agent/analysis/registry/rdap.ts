import {
  blocksOf,
  blockText,
  isIn,
  readBlock,
  readIp,
  type IpBlock,
} from "#probe-agent/analysis/network/ip-numbers.ts";
import { abuseEmailOf, organizationOf, readEntities } from "#probe-agent/analysis/registry/rdap/entity.ts";
import { eventDate } from "#probe-agent/analysis/registry/rdap/events.ts";
import { arrayOf, recordOf, textOf, textsOf } from "#probe-agent/analysis/registry/rdap/json.ts";

/** A registered block of addresses (RFC 9083 section 5.4). */
export interface RdapNetwork {
  readonly handle: string | null;
  readonly name: string | null;
  /** Type in the registry's own words, e.g. "DIRECT ALLOCATION", "ASSIGNED PA". */
  readonly type: string | null;
  readonly start_address: string;
  readonly end_address: string;
  /** The range in CIDR form, up to 32 blocks. */
  readonly cidrs: readonly string[];
  readonly parent_handle: string | null;
  /** ISO 3166-1 alpha-2, or a code that the registry uses instead, e.g. EU. */
  readonly country: string | null;
  readonly organization: string | null;
  readonly status: readonly string[];
  /** In ISO 8601 UTC. */
  readonly registered_at: string | null;
  readonly changed_at: string | null;
  readonly abuse_email: string | null;
  /** WHOIS host of the registry. */
  readonly port43: string | null;
}

/** A network, and the one of its CIDR blocks that contains the queried address. */
export interface RdapFinding {
  readonly network: RdapNetwork;
  readonly cidr: string | null;
}

const MAX_CIDRS = 32;

/**
 * Reads the answer to `ip/<address>`. Returns null for errors (RFC 9083 section 6), for other objects, for blocks that
 * do not contain the address, and for the whole address space, which some registries return for addresses they do not
 * know.
 */
export function readIpNetwork(value: unknown, ip: string): RdapFinding | null {
  const object = recordOf(value);
  const address = readIp(ip);
  if (object === null || address === null || object["objectClassName"] !== "ip network") return null;
  const start = readIp(textOf(object["startAddress"]) ?? "");
  const end = readIp(textOf(object["endAddress"]) ?? "");
  if (start === null || end === null || start.version !== address.version || end.version !== address.version) {
    return null;
  }
  if (address.value < start.value || address.value > end.value) return null;
  const computed = blocksOf(start, end, MAX_CIDRS);
  if (computed[0]?.prefix === 0) return null;
  const stated = statedBlocks(object["cidr0_cidrs"]);
  const blocks = stated.length > 0 ? stated : computed;
  const holding = blocks.find((block) => isIn(address, block)) ?? computed.find((block) => isIn(address, block));
  const entities = readEntities(object["entities"]);
  const country = textOf(object["country"])?.toUpperCase() ?? null;
  const network: RdapNetwork = {
    handle: textOf(object["handle"]),
    name: textOf(object["name"]),
    type: textOf(object["type"]),
    start_address: textOf(object["startAddress"]) ?? "",
    end_address: textOf(object["endAddress"]) ?? "",
    cidrs: blocks.map(blockText),
    parent_handle: textOf(object["parentHandle"]),
    country: country !== null && /^[A-Z]{2}$/.test(country) ? country : null,
    organization: organizationOf(entities),
    status: textsOf(object["status"], 20),
    registered_at: eventDate(object["events"], "registration"),
    changed_at: eventDate(object["events"], "last changed"),
    abuse_email: abuseEmailOf(entities),
    port43: textOf(object["port43"]),
  };
  return { network, cidr: holding === undefined ? null : blockText(holding) };
}

/** Reads the blocks of the cidr0 extension: `{v4prefix | v6prefix, length}`. */
function statedBlocks(value: unknown): readonly IpBlock[] {
  return arrayOf(value, MAX_CIDRS)
    .map(recordOf)
    .map((row) => readBlock(`${textOf(row?.["v4prefix"] ?? row?.["v6prefix"]) ?? ""}/${String(row?.["length"])}`))
    .filter((block) => block !== null);
}
