import type { ServerResponse } from "node:http";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";

/** Answers an RDAP path such as "domain/example.com"; false means 404. */
export type RdapAnswers = (path: string, response: ServerResponse) => unknown;

/** An RDAP server with the four lists of RFC 9224, each of which lists this server. */
export interface Registries {
  readonly server: HttpServer;
  /** For `services.rdapBootstrapUrl`. */
  readonly bootstrapUrl: string;
  /** Returns the paths requested from the registry. */
  asked(): readonly string[];
  /**
   * Sets the answer to later requests: an object to send as JSON, null for 404, or undefined if the function has
   * written the answer itself.
   */
  answer(how: RdapAnswers): void;
  close(): Promise<void>;
}

/** RDAP serves names that end in one of these. */
const TOP_LEVEL = ["com", "org", "net", "xn--p1ai", "uk"];

/** Starts the stand-ins. Each has separate lists, so that tests do not share the agent's cache, which lasts a day. */
export async function startRegistries(): Promise<Registries> {
  let how: RdapAnswers = () => null;
  const asked: string[] = [];
  const server = await startHttpServer({
    handler: (_request, response, { path }) => {
      const [, room, ...rest] = path.split("/");
      const registry = `${server.url}/registry/`;
      if (room === "bootstrap") {
        const keys = KEYS[rest[0] ?? ""];
        if (keys === undefined) return false;
        response.end(JSON.stringify({ version: "1.0", services: [[keys, [registry]]] }));
        return true;
      }
      if (room !== "registry" && room !== "registrar") return false;
      asked.push(path.slice(1));
      const answer = how(room === "registrar" ? path.slice(1) : rest.join("/"), response);
      if (answer === null) response.writeHead(404).end(JSON.stringify({ errorCode: 404, title: "Not Found" }));
      else if (answer !== undefined) response.end(JSON.stringify(answer));
      return true;
    },
  });
  return {
    server,
    bootstrapUrl: `${server.url}/bootstrap`,
    asked: () => asked,
    answer: (next) => {
      how = next;
    },
    close: () => server.close(),
  };
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  "dns.json": TOP_LEVEL,
  "ipv4.json": ["8.0.0.0/8", "192.0.2.0/24"],
  "ipv6.json": ["2001:4800::/23", "2001:db8::/32"],
  "asn.json": ["64496-64511", "15169-15169"],
};

/** Builds a domain in the form of RFC 9083 section 5.3 with the additions of the gTLDs' response profile. */
export function rdapDomain(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    rdapConformance: ["rdap_level_0"],
    objectClassName: "domain",
    handle: "2336799_DOMAIN_COM-VRSN",
    ldhName: "EXAMPLE.COM",
    status: ["client delete prohibited", "client transfer prohibited"],
    nameservers: [
      { objectClassName: "nameserver", ldhName: "A.NS.EXAMPLE.NET." },
      { objectClassName: "nameserver", ldhName: "B.NS.EXAMPLE.NET" },
    ],
    secureDNS: {
      delegationSigned: true,
      dsData: [{ keyTag: 31_589, algorithm: 8, digestType: 2, digest: "cde0d742d6998aa554a92d890f8184c698cfac8a" }],
    },
    events: [
      { eventAction: "registration", eventDate: "1995-08-14T04:00:00Z" },
      { eventAction: "expiration", eventDate: "2025-08-13T04:00:00Z" },
      { eventAction: "last changed", eventDate: "2024-08-14T07:01:34Z" },
      { eventAction: "last update of RDAP database", eventDate: "2024-11-21T10:00:00Z" },
    ],
    entities: [
      {
        objectClassName: "entity",
        handle: "9999",
        roles: ["registrar"],
        publicIds: [{ type: "IANA Registrar ID", identifier: "9999" }],
        links: [{ rel: "about", href: "https://registrar.example", value: "x" }],
        vcardArray: [
          "vcard",
          [
            ["version", {}, "text", "4.0"],
            ["fn", {}, "text", "Example Registrar, Inc."],
          ],
        ],
        entities: [
          {
            objectClassName: "entity",
            roles: ["abuse"],
            vcardArray: [
              "vcard",
              [
                ["fn", {}, "text", ""],
                ["tel", { type: "voice" }, "uri", "tel:+1.5555551234"],
                ["email", {}, "text", "abuse@registrar.example"],
              ],
            ],
          },
        ],
      },
    ],
    ...fields,
  };
}

/** Builds a registrant's entity with a jCard. */
export function rdapRegistrant(org: string, country = "CA"): Record<string, unknown> {
  return {
    objectClassName: "entity",
    roles: ["registrant"],
    vcardArray: [
      "vcard",
      [
        ["version", {}, "text", "4.0"],
        ["fn", {}, "text", ""],
        ["org", {}, "text", org],
        ["adr", { cc: country }, "text", ["", "", "", "Exampleville", "", "", ""]],
      ],
    ],
  };
}
