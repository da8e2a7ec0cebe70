import { isIn, readBlock, readIp } from "#probe-agent/analysis/network/ip-numbers.ts";

/**
 * Address ranges that content networks publish for their edges: Cloudflare (cloudflare.com/ips), Fastly
 * (api.fastly.com/public-ip-list), Amazon CloudFront (the CLOUDFRONT entries of ip-ranges.json that contain no other
 * service). An address in them is shared by many sites, but the ranges do not say by which. The list is incomplete,
 * because other networks publish none.
 */
const RANGES: Readonly<Record<string, string>> = {
  Cloudflare:
    "173.245.48.0/20 103.21.244.0/22 103.22.200.0/22 103.31.4.0/22 141.101.64.0/18 108.162.192.0/18 190.93.240.0/20 " +
    "188.114.96.0/20 197.234.240.0/22 198.41.128.0/17 162.158.0.0/15 104.16.0.0/13 104.24.0.0/14 172.64.0.0/13 " +
    "131.0.72.0/22 2400:cb00::/32 2606:4700::/32 2803:f800::/32 2405:b500::/32 2405:8100::/32 2a06:98c0::/29 2c0f:f248::/32",
  Fastly:
    "23.235.32.0/20 43.249.72.0/22 103.244.50.0/24 103.245.222.0/23 103.245.224.0/24 104.156.80.0/20 140.248.64.0/18 " +
    "140.248.128.0/17 146.75.0.0/17 151.101.0.0/16 157.52.64.0/18 167.82.0.0/17 167.82.128.0/20 167.82.160.0/20 " +
    "167.82.224.0/20 172.111.64.0/18 185.31.16.0/22 199.27.72.0/21 199.232.0.0/16 2a04:4e40::/32 2a04:4e42::/32",
  "Amazon CloudFront":
    "13.32.0.0/15 13.35.0.0/16 52.84.0.0/15 54.182.0.0/16 54.192.0.0/16 99.84.0.0/16 99.86.0.0/16 143.204.0.0/16 " +
    "2600:9000::/28",
};

const TABLE = Object.entries(RANGES).flatMap(([network, blocks]) =>
  blocks
    .split(" ")
    .map(readBlock)
    .flatMap((block) => (block === null ? [] : [{ network, block }])),
);

/** Returns the content network that publishes the address as its own, or null if none does. */
export function findContentNetwork(ip: string): string | null {
  const address = readIp(ip);
  return address === null ? null : (TABLE.find(({ block }) => isIn(address, block))?.network ?? null);
}
