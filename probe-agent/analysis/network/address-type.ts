import { isIn, readBlock, readIp, type IpBlock } from "#probe-agent/analysis/network/ip-numbers.ts";

/** Types of addresses by their purpose. */
const ADDRESS_TYPES = [
  "public",
  "private",
  "cgnat",
  "loopback",
  "link_local",
  "multicast",
  "reserved",
  "documentation",
  "anycast",
] as const;
/** One of these types. */
export type AddressType = (typeof ADDRESS_TYPES)[number];

/**
 * Blocks of each type: the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and successors), the
 * multicast ranges and the global unicast range. `anycast` is for services that the registries assign to no particular
 * host.
 */
const BLOCKS: Readonly<Record<AddressType, string>> = {
  public: "0.0.0.0/0 2000::/3",
  private: "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 64:ff9b:1::/48",
  cgnat: "100.64.0.0/10",
  loopback: "127.0.0.0/8 ::1/128",
  link_local: "169.254.0.0/16 fe80::/10",
  multicast: "224.0.0.0/4 ff00::/8",
  reserved:
    // IPv4: this network, IETF protocols, 6to4 (deprecated), benchmarking, future use and broadcast.
    "0.0.0.0/8 192.0.0.0/24 192.88.99.0/24 198.18.0.0/15 240.0.0.0/4 " +
    // IPv6: everything outside global unicast; IETF protocols with Teredo, benchmarking, ORCHIDs and DETs; 6to4.
    "::/0 2001::/23 2002::/16",
  documentation: "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 233.252.0.0/24 2001:db8::/32 3fff::/20",
  anycast:
    // Port control, TURN, DNS-SD registration; AS112 (RFC 7534, 7535); AMT (RFC 7450).
    "192.0.0.9/32 192.0.0.10/32 2001:1::1/128 2001:1::2/128 2001:1::3/128 " +
    "192.31.196.0/24 192.175.48.0/24 2001:4:112::/48 2620:4f:8000::/48 192.52.193.0/24 2001:3::/32",
};

const TABLE: readonly { readonly type: AddressType; readonly block: IpBlock }[] = ADDRESS_TYPES.flatMap((type) =>
  BLOCKS[type].split(" ").flatMap((text) => {
    const block = readBlock(text);
    return block === null ? [] : [{ type, block }];
  }),
).toSorted((one, other) => other.block.prefix - one.block.prefix);

/** Well-known prefix of NAT64 (RFC 6052). Such an address has the type of the IPv4 address inside. */
const NAT64 = readBlock("64:ff9b::/96");

/** Returns the type of an address by the most specific registry entry. Returns `reserved` for invalid addresses. */
export function addressType(text: string): AddressType {
  const read = readIp(text);
  if (read === null) return "reserved";
  const translated = NAT64 !== null && isIn(read, NAT64);
  const ip = translated ? ({ version: 4, value: read.value & 0xffff_ffffn } as const) : read;
  return TABLE.find(({ block }) => isIn(ip, block))?.type ?? "reserved";
}
