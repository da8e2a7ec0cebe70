import type { ServerResponse } from "node:http";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { ADDRESS, portPart } from "#test/support/stand-ins/places.ts";
import { pagespeedAnswer } from "#test/support/stand-ins/pagespeed.ts";
import { registration } from "#test/support/stand-ins/registry-data.ts";

/** Web services that tools query, on one server, with base URLs for the agent's settings. */
export interface Outside {
  readonly settings: Readonly<Record<string, string>>;
  readonly server: HttpServer;
  close(): Promise<void>;
}

/** Name for which every service fails, to test tools without their source. */
export const SOURCELESS = "sourceless.test";

type Service = (path: string, query: URLSearchParams, response: ServerResponse) => unknown;

/** Starts registries, archive, PageSpeed Insights, Green Web and passive DNS, distinguished by host name. */
export async function startOutside(port: number): Promise<Outside> {
  const server = await startHttpServer({
    host: ADDRESS.outside,
    port,
    handler: (request, response, { path }) => {
      const host = String(request.headers.host).replace(/:\d+$/, "");
      const url = new URL(path, `http://${request.headers.host ?? "nobody"}`);
      const failing = decodeURIComponent(path).includes(SOURCELESS);
      const answer = failing ? undefined : SERVICES[host]?.(url.pathname, url.searchParams, response);
      if (failing)
        response
          .writeHead(500, { "content-type": "application/json" })
          .end('{"error":{"code":500,"message":"broken"}}');
      else if (answer === null) response.writeHead(404, { "content-type": "application/json" }).end("{}");
      else if (typeof answer === "string") response.end(answer);
      else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
      return true;
    },
  });
  const base = (name: string): string => `http://${name}${portPart("http", server.port)}`;
  const SERVICES: Readonly<Record<string, Service>> = {
    "rdap.test": (path) => {
      const [, room, ...rest] = path.split("/");
      const keys = room === "bootstrap" ? BOOTSTRAP[rest.join("/")] : undefined;
      if (keys !== undefined) return { version: "1.0", services: [[keys, [`${base("rdap.test")}/registry/`]]] };
      return room === "registry" ? registration(rest.join("/"), `${base("rdap.test")}${path}`) : null;
    },
    "archive.test": (path, query) => (path === "/wayback/available" ? available(query.get("url") ?? "") : CAPTURES),
    "pagespeed.test": (_path, query) => pagespeedAnswer(query.get("url") ?? "", query.get("strategy") ?? "mobile"),
    "greenweb.test": (path) => greenAnswer(path.split("/").at(-1) ?? ""),
    "pdns.test": (path) => (path.endsWith(`/${ADDRESS.shop}`) ? PASSIVE : null),
  };
  return {
    server,
    settings: {
      VANTAGE_RDAP_BOOTSTRAP_URL: `${base("rdap.test")}/bootstrap`,
      VANTAGE_WAYBACK_URL: `${base("archive.test")}/wayback/available`,
      VANTAGE_WAYBACK_CDX_URL: `${base("archive.test")}/cdx/search/cdx`,
      VANTAGE_PSI_URL: `${base("pagespeed.test")}/pagespeedonline/v5/runPagespeed`,
      VANTAGE_GREENCHECK_URL: base("greenweb.test"),
      VANTAGE_PDNS_URL: base("pdns.test"),
    },
    close: () => server.close(),
  };
}

const BOOTSTRAP: Readonly<Record<string, readonly string[]>> = {
  "dns.json": ["test"],
  "ipv4.json": ["8.0.0.0/8"],
  "ipv6.json": ["2001:4800::/23"],
  "asn.json": ["15169-15169"],
};

function available(url: string): object {
  const closest = {
    status: "200",
    available: true,
    url: `http://archive.test/web/20260211120000/${url}`,
    timestamp: "20260211120000",
  };
  return { url, archived_snapshots: { closest } };
}

const CAPTURES = [
  ["timestamp", "statuscode"],
  ["20190611080000", "200"],
  ["20200301080000", "200"],
  ["20200927080000", "301"],
  ["20230504080000", "200"],
  ["20260211120000", "200"],
];

/** Builds an answer of the Green Web Foundation's API, version 3. */
function greenAnswer(name: string): object {
  return {
    url: name,
    hosted_by: "Example Green Hosting",
    hosted_by_website: "https://hosting.test",
    partner: null,
    green: true,
    hosted_by_id: 4711,
    modified: "2026-01-10T08:00:00",
    supporting_documents: [
      { id: 1, title: "Renewable energy certificate 2026", link: "https://hosting.test/green.pdf" },
    ],
  };
}

const PASSIVE = [
  {
    rrname: "shop.test.",
    rrtype: "A",
    rdata: ADDRESS.shop,
    time_first: 1_577_836_800,
    time_last: 1_772_000_000,
    count: 812,
  },
  {
    rrname: "img.shop.test.",
    rrtype: "A",
    rdata: [ADDRESS.shop],
    time_first: 1_600_000_000,
    time_last: 1_771_000_000,
    count: 90,
  },
  {
    rrname: "moved.test.",
    rrtype: "A",
    rdata: ADDRESS.shop,
    time_first: 1_500_000_000,
    time_last: 1_560_000_000,
    count: 7,
  },
]
  .map((row) => JSON.stringify(row))
  .join("\n");
