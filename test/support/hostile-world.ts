import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Behaviour } from "#test/servers/dns-reply.ts";
import { compressionLoop, garbage, lyingCounts } from "#test/servers/dns-zones.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type Handler, type HttpServer } from "#test/servers/http.ts";
import { startWhoisServer, type WhoisServer } from "#test/servers/whois.ts";

/** Sites, names and rules on loopback that attack their reader. */
export interface HostileWorld {
  readonly site: HttpServer;
  readonly whois: WhoisServer;
  /** Settings of an agent. */
  readonly settings: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const MB = 1024 * 1024;
const whole = (head: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page</title>${head}</head><body>${body}</body></html>`;
const repeated = (piece: string, bytes: number): string => piece.repeat(Math.ceil(bytes / piece.length));

/** Pages by path, created when they are first requested. */
const PAGES: Readonly<Record<string, () => string>> = {
  "/": () => whole("", "<h1>A good page</h1>"),
  "/huge": () => whole("", repeated('<p class="a" id=b><a href="/c?d=e&amp;f">g</a> <img src=h></p>\n', 10 * MB)),
  "/unclosed": () => whole("", repeated("<div><b>", MB)),
  "/attributes": () => whole("", `<p ${repeated("a=b ", 2 * MB)}>`),
  "/deep-json": () => whole(`<script type="application/ld+json">${jsonLd(200_000)}</script>`, ""),
  "/many-json": () =>
    whole(repeated('<script type="application/ld+json">{"@type":"Thing","a":[1,[2,[3]]]}</script>', 3 * MB), ""),
  "/bomb": () =>
    whole(
      `<meta name="generator" content="${"a".repeat(50_000)}!">`,
      `<h1>A good page</h1><p>${"a".repeat(100_000)}!</p>`,
    ),
  "/large-header": () => whole("", "<p>x</p>"),
};

/** Pages that tools read. The others are answered before the page is read. */
export const HOSTILE_PAGES = Object.keys(PAGES).filter((path) => path !== "/" && path !== "/large-header");

/** Returns nested objects of this depth. */
function jsonLd(depth: number): string {
  return `${'{"@type":"A","a":'.repeat(depth)}1${"}".repeat(depth)}`;
}

/** Invalid DNS answers by the queried name. */
const NAMES: Readonly<Record<string, Behaviour>> = {
  "loop.hostile.test": { rewrite: compressionLoop },
  "count.hostile.test": { rewrite: lyingCounts },
  "garbage.hostile.test": { rewrite: garbage },
  "cut.hostile.test": { rewrite: (reply) => reply.subarray(0, reply.length - 7) },
  "header.hostile.test": { rewrite: (reply) => reply.subarray(0, 5) },
  "empty.hostile.test": { rewrite: () => new Uint8Array() },
  "truncated.hostile.test": { truncate: true, dropOver: "tcp" },
  "aliases.hostile.test": {},
};

/** One name for each kind of invalid answer. */
export const HOSTILE_NAMES: readonly string[] = Object.keys(NAMES);

/** Prefixes of names that mail tools query too. */
const BELOW = ["", "a._domainkey.", "_dmarc.", "_mta-sts.", "_smtp._tls.", "default._bimi."];

function belowEach<T>(of: (name: string, owner: string) => T): Record<string, T> {
  const owners = HOSTILE_NAMES.flatMap((name) => BELOW.map((below) => [`${below}${name}`, name] as const));
  return Object.fromEntries(owners.map(([owner, name]) => [owner, of(name, owner)]));
}

/** Expressions that a backtracking matcher does not finish in any practical time. */
const BOMBS = {
  Bomb: {
    cats: [1],
    html: "(a+)+$",
    meta: { generator: "^(a|aa)+$" },
    headers: { server: "(.*)*x" },
    website: "https://bomb.test",
  },
  Quiet: { cats: [1], html: "A good page", website: "https://quiet.test" },
};

/** Starts all servers. */
export async function startHostileWorld(): Promise<HostileWorld> {
  const folder = mkdtempSync(join(tmpdir(), "vantage-hostile-"));
  mkdirSync(join(folder, "technologies"));
  writeFileSync(join(folder, "categories.json"), JSON.stringify({ 1: { name: "CMS" } }));
  writeFileSync(join(folder, "technologies", "a.json"), JSON.stringify(BOMBS));
  const zones = belowEach((name, owner) =>
    name === "aliases.hostile.test"
      ? { CNAME: [`${owner}.`] }
      : { A: ["127.0.0.1"], MX: [`10 ${owner}.`], TXT: ['"v=spf1 mx -all"'] },
  );
  const behaviours = belowEach((name) => NAMES[name] ?? {});
  const [names, whois, site] = await Promise.all([
    startDnsServer({ zones, behaviours }),
    startWhoisServer(() => "No match.\r\n"),
    startHttpServer({ handler: answer }),
  ]);
  return {
    site,
    whois,
    settings: {
      VANTAGE_DNS_SERVERS: names.address,
      VANTAGE_RESOLVERS: JSON.stringify([
        { id: "one", name: "One", location: "here", address: names.address, transport: "udp" },
      ]),
      VANTAGE_WHOIS_SERVER: whois.address,
      VANTAGE_RDAP_BOOTSTRAP_URL: `${site.url}/bootstrap`,
      VANTAGE_TECH_RULES_DIR: folder,
      VANTAGE_ALLOW_NAMES: "localhost,hostile.test",
    },
    async close() {
      await Promise.all([names.close(), whois.close(), site.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const made = new Map<string, Buffer>();

function pageAt(path: string): Buffer | undefined {
  const known = made.get(path);
  const text = known === undefined ? PAGES[path]?.() : undefined;
  if (text === undefined) return known;
  const bytes = Buffer.from(text);
  made.set(path, bytes);
  return bytes;
}

const answer: Handler = (_request, response, { path }) => {
  const [way = ""] = path.split("?", 1);
  if (way === "/robots.txt") {
    response
      .writeHead(200, { "content-type": "text/plain" })
      .end(repeated("User-agent: a*b*c\nDisallow: /*a*b*c*d*e*f$\n", 5 * MB));
    return true;
  }
  const page = pageAt(way);
  if (page === undefined) return false;
  const csp = repeated("script-src 'nonce-abc' https://a.example *.b.example; x-y z; ", 100_000);
  response
    .writeHead(200, {
      "content-type": "text/html; charset=utf-8",
      server: "a".repeat(2_000),
      ...(way === "/large-header" ? { "content-security-policy": csp } : {}),
    })
    .end(page);
  return true;
};
