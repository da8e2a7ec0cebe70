import { createHash, generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { recordsOf } from "#test/servers/dnssec/zone.ts";
import type { HttpServer } from "#test/servers/http.ts";
import { createPki, type Issued } from "#test/servers/pki.ts";
import { startSmtpServer } from "#test/servers/smtp.ts";
import { startWhoisServer } from "#test/servers/whois.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { writeMmdb } from "#test/support/mmdb.ts";
import { startOutside } from "#test/support/stand-ins/outside.ts";
import { ADDRESS, FREE_PORTS, OLD_ADDRESS, portPart, USUAL_PORTS, type Ports } from "#test/support/stand-ins/places.ts";
import { whoisText } from "#test/support/stand-ins/registry-data.ts";
import { startShop, startShopOverIpv6 } from "#test/support/stand-ins/shop-servers.ts";
import { SHOP_NAMES } from "#test/support/stand-ins/shop.ts";
import { growNames, type Names } from "#test/support/stand-ins/zones.ts";

/**
 * Everything outside that the tools query, on loopback: a shop with its mail and names, registries, archives,
 * resolvers.
 */
export interface StandIns {
  readonly ports: Ports;
  /** Origins of the shop. */
  readonly https: string;
  readonly http: string;
  /** VANTAGE_* settings of an agent that uses the stand-ins, and NODE_EXTRA_CA_CERTS. */
  readonly settings: Readonly<Record<string, string>>;
  /** PEM of the root of the shop's and the mail host's certificates. */
  readonly root: string;
  readonly web: HttpServer;
  close(): Promise<void>;
}

interface Closable {
  close(): Promise<void>;
}

/**
 * Starts the stand-ins. With `usualPorts`, names work without ports, which needs root. Otherwise every server takes a
 * free port of its address.
 */
export async function startStandIns({ usualPorts = false }: { readonly usualPorts?: boolean } = {}): Promise<StandIns> {
  const wanted = usualPorts ? USUAL_PORTS : FREE_PORTS;
  const folder = mkdtempSync(join(tmpdir(), "vantage-stand-ins-"));
  const open: Closable[] = [];
  const keep = async <T extends Closable>(starting: Promise<T>): Promise<T> => {
    const server = await starting;
    open.push(server);
    return server;
  };
  const put = (name: string, content: string | Uint8Array): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  let ports: Ports = wanted;
  const pki = await createPki({ name: "Oak and Lumen Test" });
  const [shopLeaf, mailLeaf] = await Promise.all([
    pki.issue({ dns: SHOP_NAMES, ip: [ADDRESS.shop, "::1"] }),
    pki.issue({ dns: ["mail.shop.test"] }),
  ]);
  const plan = {
    host: ADDRESS.shop,
    http: wanted.http,
    https: wanted.https,
    identity: identityOf(shopLeaf, pki.intermediate),
    shown: () => ports,
  };
  const shop = await keep(startShop(plan));
  const overIpv6 = await startShopOverIpv6(shop, plan);
  if (overIpv6 !== null) open.push(overIpv6);
  const { web, plain } = shop;
  const [mail, whois, outside] = await Promise.all([
    keep(startSmtpServer({ ...MAIL, chain: [mailLeaf, pki.intermediate], host: ADDRESS.mail, port: wanted.smtp })),
    keep(
      startWhoisServer((query) => whoisText(query) ?? { nothing: "closed" }, {
        host: ADDRESS.whois,
        port: wanted.whois,
      }),
    ),
    keep(startOutside(wanted.http)),
  ]);
  const names = growNames({
    httpsPort: web.port,
    ipv6: overIpv6 !== null,
    shopKey: spkiDigest(shopLeaf),
    mailKey: spkiDigest(mailLeaf),
    dkimKey: DKIM_KEY.export({ format: "der", type: "spki" }).toString("base64"),
  });
  const resolver = await keep(startDnsServer({ host: ADDRESS.resolver, port: wanted.dns, answer: names.answer }));
  const resolvers = await startResolvers(names, wanted.dns, keep);
  ports = { http: plain.port, https: web.port, smtp: mail.port, dns: resolver.port, whois: whois.port };
  return {
    ports,
    https: `https://shop.test${portPart("https", ports.https)}`,
    http: `http://shop.test${portPart("http", ports.http)}`,
    root: pki.root.pem,
    web,
    settings: {
      ...outside.settings,
      NODE_EXTRA_CA_CERTS: put("root.pem", pki.root.pem),
      VANTAGE_TRUST_ANCHORS: put("anchors.zone", names.anchorsFile),
      VANTAGE_GEO_DB: put("geo.mmdb", writeMmdb({ records: GEO, type: "Test-City" })),
      VANTAGE_ALLOW_TARGETS: "127.0.0.0/8,::1/128",
      VANTAGE_ALLOW_NAMES: "test,legacy,localhost",
      VANTAGE_DNS_SERVERS: resolver.address,
      VANTAGE_RESOLVERS: JSON.stringify(resolvers),
      VANTAGE_WHOIS_SERVER: `whois.test:${whois.port}`,
      VANTAGE_CYMRU_ZONES: "origin.cymru.test,origin6.cymru.test,asn.cymru.test",
    },
    async close() {
      await Promise.all(open.map((server) => server.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts public resolvers with three different answers, and the shop's own servers on the usual port. */
async function startResolvers(
  names: Names,
  port: number,
  keep: <T extends Closable>(starting: Promise<T>) => Promise<T>,
): Promise<object[]> {
  const start = (host: string, more: Parameters<typeof startDnsServer>[0]): Promise<DnsServer> =>
    keep(startDnsServer({ host, port, answer: names.answer, ...more }));
  const answers = recordsOf(`shop.test. 120 IN A ${OLD_ADDRESS}`);
  const old = { answer: () => ({ status: "NOERROR" as const, answers, authority: [] }) };
  const [one, two, three] = await Promise.all([
    start(ADDRESS.public1, {}),
    start(ADDRESS.public2, old),
    start(ADDRESS.public3, { behaviours: { "*": { status: "REFUSED" } } }),
    ...(port === 53 ? [ADDRESS.ns1, ADDRESS.ns2].map((host) => start(host, { authoritative: true })) : []),
  ]);
  return [
    { id: "north", name: "Resolver North", location: "SE", address: one?.address, transport: "udp" },
    { id: "south", name: "Resolver South", location: "ZA", address: two?.address, transport: "udp" },
    { id: "closed", name: "Resolver for members", location: "US", address: three?.address, transport: "udp" },
  ];
}

/** Returns the SHA-256 of the subject public key, as in TLSA 3 1 1 (RFC 6698 section 2.1). */
function spkiDigest({ pem }: Issued): string {
  const key = new X509Certificate(pem).publicKey.export({ format: "der", type: "spki" });
  return createHash("sha256").update(key).digest("hex");
}

const DKIM_KEY = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey;

const MAIL = {
  greeting: "220 mail.shop.test ESMTP Postfix\r\n",
  ehlo: "250-mail.shop.test\r\n250-PIPELINING\r\n250-SIZE 35882577\r\n250-STARTTLS\r\n250-ENHANCEDSTATUSCODES\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n",
} as const;

const GEO = {
  "8.8.8.0/24": {
    continent: { code: "NA", names: { en: "North America" } },
    country: { iso_code: "US", names: { en: "United States" } },
    location: { latitude: 37.751, longitude: -97.822, accuracy_radius: 1000, time_zone: "America/Chicago" },
  },
};
