import type { Registrations } from "#test/lab/services/made-registrations.ts";
import { rdapDomain, rdapRegistrant } from "#test/support/registries.ts";

/** Top-level domains by the service that has their RDAP. Only WHOIS has all others. */
export const RDAP_DOMAINS = { rdap: ["com", "net"], "rdap-dead": ["org"] } as const;

/** Blocks and AS numbers in the lists of RDAP services. They include public ones, which nothing in the lab has. */
export const RDAP_NUMBERS = {
  "ipv4.json": {
    rdap: ["8.0.0.0/8", "198.18.0.0/15", "198.51.100.0/24"],
    "rdap-dead": ["9.0.0.0/8", "203.0.113.0/24"],
  },
  "ipv6.json": { rdap: ["2001:4800::/23", "2001:db8::/32"], "rdap-dead": ["2620::/23"] },
  "asn.json": { rdap: ["15169-15169", "64500-64510"], "rdap-dead": ["19281-19281", "64511-64511"] },
} as const;

const DATES = [
  { eventAction: "registration", eventDate: "2020-02-03T04:05:06Z" },
  { eventAction: "last changed", eventDate: "2026-01-02T03:04:05Z" },
];

/**
 * Returns the RDAP service's answer at a path below its base; null for status 404. `made`: registrations that a test has
 * made. Pure.
 */
export function rdapAnswer(path: string, made: Registrations = {}): Readonly<Record<string, unknown>> | null {
  const [kind, ...rest] = path.split("/");
  const subject = decodeURIComponent(rest.join("/"));
  const registration = kind === "domain" ? made[subject] : undefined;
  if (registration !== undefined) {
    const { expires: eventDate, status } = registration;
    const events = [...DATES, { eventAction: "expiration", eventDate }];
    return rdapDomain({ ldhName: subject.toUpperCase(), events, status });
  }
  if (kind === "domain" && subject === "rdap.com") {
    return rdapDomain({
      ldhName: "RDAP.COM",
      events: [...DATES, { eventAction: "expiration", eventDate: "2030-02-03T04:05:06Z" }],
      entities: [rdapRegistrant("Lab Holders Ltd")],
    });
  }
  if (kind === "ip" && subject.startsWith("198.51.100.")) return network("LAB-WEB", "198.51.100", "NL");
  if (kind === "ip" && subject.startsWith("8.8.8.")) return network("LAB-PUBLIC", "8.8.8", "US");
  if (kind === "autnum" && subject === "64510") return autnum("LAB-WEB", 64_510, "NL");
  if (kind === "autnum" && subject === "15169") return autnum("LAB-PUBLIC", 15_169, "US");
  return null;
}

function network(name: string, prefix: string, country: string): Readonly<Record<string, unknown>> {
  return {
    rdapConformance: ["rdap_level_0"],
    objectClassName: "ip network",
    handle: `NET-${name}`,
    startAddress: `${prefix}.0`,
    endAddress: `${prefix}.255`,
    ipVersion: "v4",
    cidr0_cidrs: [{ v4prefix: `${prefix}.0`, length: 24 }],
    name,
    type: "ASSIGNED PA",
    country,
    status: ["active"],
    events: DATES,
    entities: [rdapRegistrant(`${name} Ltd`, country)],
  };
}

function autnum(name: string, number: number, country: string): Readonly<Record<string, unknown>> {
  return {
    rdapConformance: ["rdap_level_0"],
    objectClassName: "autnum",
    handle: `AS${number}`,
    startAutnum: number,
    endAutnum: number,
    name,
    country,
    status: ["active"],
    events: DATES,
    entities: [rdapRegistrant(`${name} Ltd`, country)],
  };
}

/** WHOIS answers by service and by the query in lower case. */
export const WHOIS_TEXTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  whois: {
    "referred.io": refer("IO", "whois-registry.lab.test"),
    "absent.io": refer("IO", "whois-registry.lab.test"),
    "limited.io": refer("IO", "whois-registry.lab.test"),
    "silent.io": refer("IO", "rdap-dead.lab.test"),
    "circle.io": refer("IO", "whois-registry.lab.test"),
    // Domains whose RDAP service does not answer.
    "dead.org": refer("ORG", "whois-registry.lab.test"),
    "203.0.113.9": [
      "% IANA WHOIS server",
      "refer:        whois-registry.lab.test",
      "",
      "inetnum:      203.0.113.0 - 203.0.113.255",
      "organisation: Lab Registry",
      "status:       ALLOCATED",
      "",
    ].join("\r\n"),
    as64511: ["refer:        whois-registry.lab.test", "", "as-block:     64511", "status:       ALLOCATED", ""].join(
      "\r\n",
    ),
  },
  "whois-registry": {
    "referred.io": thin("REFERRED.IO", "whois-registrar.lab.test"),
    "dead.org": thick("DEAD.ORG"),
    "absent.io": "Domain not found.\r\n>>> Last update of WHOIS database: 2026-01-01T00:00:00Z <<<\r\n",
    "limited.io": "WHOIS LIMIT EXCEEDED - SEE WWW.PIR.ORG/WHOIS FOR DETAILS\r\n",
    "circle.io": thin("CIRCLE.IO", "whois.lab.test"),
    "203.0.113.9": [
      "inetnum:        203.0.113.0 - 203.0.113.255",
      "netname:        LAB-SERVICES",
      "descr:          Lab Services",
      "country:        FR",
      "status:         ASSIGNED PA",
      "source:         RIPE",
      "",
    ].join("\r\n"),
    as64511: [
      "aut-num:        AS64511",
      "as-name:        LAB-SERVICES",
      "org-name:       Lab Services Ltd",
      "status:         ASSIGNED",
      "source:         RIPE",
      "",
    ].join("\r\n"),
  },
  "whois-registrar": {
    "referred.io": thick("REFERRED.IO"),
  },
};

/** Returns a referral in IANA's form. */
function refer(topLevel: string, server: string): string {
  return [
    "% IANA WHOIS server",
    "",
    `refer:        ${server}`,
    "",
    `domain:       ${topLevel}`,
    `whois:        ${server}`,
    "status:       ACTIVE",
    "source:       IANA",
    "",
  ].join("\r\n");
}

/** Returns the answer of a registry without holder data (the layout of ICANN's Registration Data Directory). */
function thin(name: string, registrarServer: string): string {
  return [
    `Domain Name: ${name}`,
    "Registry Domain ID: D1234567-LAB",
    `Registrar WHOIS Server: ${registrarServer}`,
    "Registrar URL: http://registrar.example",
    "Updated Date: 2026-01-02T03:04:05Z",
    "Creation Date: 2020-02-03T04:05:06Z",
    "Registry Expiry Date: 2030-02-03T04:05:06Z",
    "Registrar: Lab Registrar",
    "Registrar IANA ID: 9999",
    "Domain Status: clientTransferProhibited https://icann.org/epp#clientTransferProhibited",
    "Name Server: NS1.TEST",
    "Name Server: NS2.TEST",
    "DNSSEC: unsigned",
    ">>> Last update of WHOIS database: 2026-01-03T00:00:00Z <<<",
    "",
  ].join("\r\n");
}

function thick(name: string): string {
  return thin(name, "").replace(
    "Name Server: NS1.TEST",
    "Registrant Organization: Lab Holders Ltd\r\nRegistrant Country: DE\r\nName Server: NS1.TEST",
  );
}
