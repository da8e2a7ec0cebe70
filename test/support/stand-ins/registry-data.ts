import { rdapDomain, rdapRegistrant } from "#test/support/registries.ts";

/** Returns a registry's answer to an RDAP path; undefined means 404. */
export function registration(path: string, href: string): unknown {
  const links = [{ rel: "self", href, value: href }];
  if (path === "domain/shop.test") return { ...SHOP, links };
  if (path === "ip/8.8.8.8") return { ...NETWORK, links };
  return path === "autnum/15169" ? { ...AUTNUM, links } : null;
}

const REGISTRAR = (rdapDomain()["entities"] as readonly unknown[])[0];

const SHOP = rdapDomain({
  handle: "D4-TEST",
  ldhName: "SHOP.TEST",
  nameservers: [
    { objectClassName: "nameserver", ldhName: "NS1.SHOP.TEST" },
    { objectClassName: "nameserver", ldhName: "NS2.SHOP.TEST" },
  ],
  entities: [REGISTRAR, rdapRegistrant("Oak & Lumen", "DE")],
  events: [
    { eventAction: "registration", eventDate: "2019-05-02T08:00:00Z" },
    { eventAction: "expiration", eventDate: "2031-05-02T08:00:00Z" },
    { eventAction: "last changed", eventDate: "2026-01-15T09:30:00Z" },
  ],
});

const HOLDER = {
  objectClassName: "entity",
  handle: "GOGL",
  roles: ["registrant"],
  vcardArray: [
    "vcard",
    [
      ["version", {}, "text", "4.0"],
      ["fn", {}, "text", "Google LLC"],
      ["kind", {}, "text", "org"],
    ],
  ],
};

/** Public data of ARIN with the parts that a client reads. */
const NETWORK = {
  rdapConformance: ["rdap_level_0", "cidr0"],
  objectClassName: "ip network",
  handle: "NET-8-8-8-0-2",
  startAddress: "8.8.8.0",
  endAddress: "8.8.8.255",
  ipVersion: "v4",
  name: "GOGL",
  type: "DIRECT ALLOCATION",
  parentHandle: "NET-8-0-0-0-0",
  status: ["active"],
  cidr0_cidrs: [{ v4prefix: "8.8.8.0", length: 24 }],
  events: [{ eventAction: "registration", eventDate: "2023-12-28T17:24:33-05:00" }],
  entities: [HOLDER],
};

const AUTNUM = {
  rdapConformance: ["rdap_level_0"],
  objectClassName: "autnum",
  handle: "AS15169",
  startAutnum: 15_169,
  endAutnum: 15_169,
  name: "GOOGLE",
  status: ["active"],
  events: [{ eventAction: "registration", eventDate: "2000-03-30T00:00:00-05:00" }],
  entities: [HOLDER],
};

/** Returns the answer of a registry without RDAP to a name; null if it closes the connection without an answer. */
export function whoisText(query: string): string | null {
  if (query.endsWith("gone.legacy")) return null;
  if (!query.endsWith("shop.legacy")) return "No match.\r\n";
  return [
    "Domain Name: SHOP.LEGACY",
    "Registry Domain ID: 77-LEGACY",
    "Registrar: Example Registrar, Inc.",
    "Registrar IANA ID: 9999",
    "Creation Date: 2004-02-11T10:00:00Z",
    "Updated Date: 2025-02-01T10:00:00Z",
    "Registry Expiry Date: 2030-02-11T10:00:00Z",
    "Domain Status: clientTransferProhibited https://icann.org/epp#clientTransferProhibited",
    "Registrant Organization: Oak & Lumen",
    "Name Server: NS1.SHOP.TEST",
    "DNSSEC: unsigned",
    "",
  ].join("\r\n");
}
