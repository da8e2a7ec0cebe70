import type { TrustAnchor } from "#probe-agent/port/dns.ts";
import { answerFrom } from "#test/servers/dnssec/answer.ts";
import { dsText, makeKey, signZone, type SigningKey } from "#test/servers/dnssec/sign.ts";
import { recordsOf, type Zone } from "#test/servers/dnssec/zone.ts";
import type { DnsServerOptions } from "#test/servers/dns.ts";
import { txt } from "#test/support/mail-site.ts";
import { ADDRESS } from "#test/support/stand-ins/places.ts";

/** Values of the servers that the zones publish. */
export interface Published {
  readonly httpsPort: number;
  /** Whether the shop is also reachable at ::1. */
  readonly ipv6: boolean;
  /** SHA-256 of the subject public key of each certificate, in hexadecimal. */
  readonly shopKey: string;
  readonly mailKey: string;
  /** DER of the DKIM key, in base64. */
  readonly dkimKey: string;
}

/** The names of the simulated internet: signed from the root down to shop.test, the rest below unsigned. */
export interface Names {
  readonly anchors: readonly TrustAnchor[];
  /** The same as a file for VANTAGE_TRUST_ANCHORS. */
  readonly anchorsFile: string;
  /** Answers queries; for a DNS server. */
  readonly answer: NonNullable<DnsServerOptions["answer"]>;
}

/** Creates all zones of these tests: the root servers', the registries' and the providers'. */
export function growNames(published: Published): Names {
  const rootKey = makeKey(".", 13, 257);
  const testKey = makeKey("test", 13, 257);
  const shopKeys = [makeKey("shop.test", 13, 257), makeKey("shop.test", 13, 256)];
  const signed = (apex: string, text: string, keys: readonly SigningKey[]): Zone =>
    signZone({ apex, text: `${head(apex)}${text}`, keys });
  const plain = (apex: string, text: string): Zone => ({ apex, records: recordsOf(`${head(apex)}${text}`) });
  const secure = (zone: string, keys: readonly SigningKey[]): string =>
    `${zone}. 3600 IN NS ns1.${zone}.\n${keys
      .slice(0, 1)
      .map((key) => dsText(zone, key))
      .join("\n")}\n`;
  const insecure = (...zones: readonly string[]): string =>
    zones.map((zone) => `${zone}. 3600 IN NS ns.${zone}.\n`).join("");
  const zones = [
    signed(".", `${secure("test", [testKey])}${insecure("arpa", "google", "legacy")}`, [rootKey]),
    signed("test", `${secure("shop.test", shopKeys)}${insecure(...SERVICES, "cymru.test", "down.test")}`, [testKey]),
    signed("shop.test", shopZone(published), shopKeys),
    ...SERVICES.map((name) => plain(name, SERVICE_RECORDS[name] ?? `${name}. 300 IN A ${ADDRESS.outside}\n`)),
    plain("cymru.test", CYMRU),
    plain("arpa", REVERSE),
    plain("google", "dns.google. 300 IN A 8.8.8.8\ndns.google. 300 IN AAAA 2001:4860:4860::8888\n"),
    plain("legacy", "shop.legacy. 300 IN A 127.80.0.1\n"),
  ];
  return {
    anchors: [{ zone: ".", type: "DNSKEY", raw: rootKey.record.raw }],
    anchorsFile: `. 3600 IN DNSKEY ${rootKey.record.data}\n`,
    answer(name, type, query) {
      const { status, answers, authority } = answerFrom(zones, name, type);
      const dnssecOk = query.message.edns?.dnssecOk ?? false;
      const shown = (records: typeof answers) =>
        records.filter((record) => dnssecOk || record.type === type || !["RRSIG", "NSEC"].includes(record.type));
      return { status, answers: shown(answers), authority: shown(authority) };
    },
  };
}

/** Names of services that tools query; each is a separate zone. */
const SERVICES = ["rdap.test", "whois.test", "archive.test", "pagespeed.test", "greenweb.test", "pdns.test", "go.test"];

const SERVICE_RECORDS: Readonly<Record<string, string>> = {
  "whois.test": `whois.test. 300 IN A ${ADDRESS.whois}\n`,
  "go.test": `go.test. 300 IN A ${ADDRESS.shop}\n`,
};

function head(apex: string): string {
  const suffix = apex === "." ? "" : `.${apex}`;
  const zone = apex === "." ? apex : `${apex}.`;
  const servers = apex === "shop.test" ? ["ns1", "ns2"] : ["ns"];
  return [
    `${zone} 3600 IN SOA ${servers[0]}${suffix || ".root"}. hostmaster${suffix || ".root"}. 2026030401 7200 3600 1209600 300`,
    ...servers.map((server) => `${zone} 3600 IN NS ${server}${suffix || ".root"}.`),
    "",
  ].join("\n");
}

function shopZone({ httpsPort, ipv6, shopKey, mailKey, dkimKey }: Published): string {
  const binding = `1 . alpn="h2,h3"${httpsPort === 443 ? "" : ` port=${httpsPort}`}`;
  const prefix = httpsPort === 443 ? "" : `_${httpsPort}._https.`;
  const rows: readonly (readonly [string, string])[] = [
    ["", `A ${ADDRESS.shop}`],
    ...(ipv6 ? [["", "AAAA ::1"] as const] : []),
    [prefix, `HTTPS ${binding}`],
    ["", "MX 10 mail.shop.test."],
    ["", `TXT ${txt("v=spf1 mx -all")}`],
    ["", `TXT ${txt("site-verification=3f9c1d")}`],
    ["", 'CAA 0 issue "ca.test"'],
    ["", 'CAA 0 iodef "mailto:security@shop.test"'],
    ["ns1.", `A ${ADDRESS.ns1}`],
    ["ns2.", `A ${ADDRESS.ns2}`],
    ["www.", "CNAME shop.test."],
    ["img.", `A ${ADDRESS.shop}`],
    ["mta-sts.", `A ${ADDRESS.shop}`],
    ["mail.", `A ${ADDRESS.mail}`],
    ["_25._tcp.mail.", `TLSA 3 1 1 ${mailKey}`],
    [`_${httpsPort}._tcp.`, `TLSA 3 1 1 ${shopKey}`],
    ["_dmarc.", `TXT ${txt("v=DMARC1; p=reject; rua=mailto:dmarc@shop.test; adkim=s")}`],
    ["default._domainkey.", `TXT ${txt(`v=DKIM1; k=rsa; p=${dkimKey}`)}`],
    ["_mta-sts.", `TXT ${txt("v=STSv1; id=20260304")}`],
    ["_smtp._tls.", `TXT ${txt("v=TLSRPTv1; rua=mailto:tls@shop.test")}`],
    ["default._bimi.", `TXT ${txt("v=BIMI1; l=https://shop.test/logo.svg")}`],
  ];
  return rows.map(([prefixed, data]) => `${prefixed}shop.test. 300 IN ${data}\n`).join("");
}

const REVERSE = `
1.0.80.127.in-addr.arpa. 300 IN PTR shop.test.
1.${"0.".repeat(31)}ip6.arpa. 300 IN PTR shop.test.
25.0.80.127.in-addr.arpa. 300 IN PTR mail.shop.test.
8.8.8.8.in-addr.arpa. 300 IN PTR dns.google.
`;

/** Team Cymru's zones in miniature. Their answer for 8.8.8.8 is that of the real ones. */
const CYMRU = `
8.8.8.8.origin.cymru.test. 300 IN TXT "15169 | 8.8.8.0/24 | US | arin | 2023-12-28"
as15169.asn.cymru.test. 300 IN TXT "15169 | US | arin | 2000-03-30 | GOOGLE, US"
`;
