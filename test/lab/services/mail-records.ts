import { generateKeyPairSync } from "node:crypto";
import { addressOf } from "#test/lab/addresses.ts";
import type { Topology } from "#test/lab/topology.ts";

/**
 * Mail domains `<name>.smtp.test`, named after the property of their one exchanger; each is a service `smtp-<name>`.
 */
export const EXCHANGERS = ["good", "plain", "expired", "busy", "helo", "refused", "filtered"] as const;

/** Host name of the mail exchanger whose TLS key is in the DNS. */
export const DANE_EXCHANGER = "mx.mail.test";

/** Selectors of mail.test: a good key, a weak one, and a revoked one. */
export const SELECTORS = { good: "default", weak: "selector1", revoked: "selector2" } as const;

/** MTA-STS policy of mail.test, served at mta-sts.mail.test. */
export const STS_POLICY = `version: STSv1\r\nmode: enforce\r\nmx: ${DANE_EXCHANGER}\r\nmax_age: 604800\r\n`;

/**
 * Returns the signed zone mail.test with every record of a well-configured domain. `key` is the SHA-256 of its
 * exchanger's key.
 */
export function mailRecords(topology: Topology, key: string): string[] {
  const address = (name: string): string => `A ${addressOf(topology, name, 4)}`;
  const dkim = (selector: string, value: string): string => `${selector}._domainkey TXT ${quoted(value)}`;
  return [
    `@ ${address("good")}`,
    "@ MX 10 mx",
    "@ MX 20 smtp-plain.lab.test.",
    `@ TXT "v=spf1 mx ip4:${addressOf(topology, "svc", 4)} -all"`,
    `mx ${address("smtp-good")}`,
    `mx AAAA ${addressOf(topology, "smtp-good", 6)}`,
    `_25._tcp.mx TLSA 3 1 1 ${key}`,
    '_dmarc TXT "v=DMARC1; p=reject; rua=mailto:dmarc@mail.test"',
    '_mta-sts TXT "v=STSv1; id=20260101"',
    '_smtp._tls TXT "v=TLSRPTv1; rua=mailto:tls@mail.test"',
    `mta-sts ${address("web")}`,
    dkim(SELECTORS.good, `v=DKIM1; k=rsa; p=${publicKey(2048)}`),
    dkim(SELECTORS.weak, `v=DKIM1; k=rsa; p=${publicKey(1024)}`),
    dkim(SELECTORS.revoked, "v=DKIM1; p="),
  ];
}

/**
 * Returns the zone smtp.test: a domain for each exchanger, one that accepts no mail, one whose best exchanger is dead.
 */
export function smtpRecords(): string[] {
  return [
    ...EXCHANGERS.map((name) => `${name} MX 10 smtp-${name}.lab.test.`),
    "null MX 0 .",
    "backup MX 10 smtp-refused.lab.test.",
    "backup MX 20 smtp-good.lab.test.",
    'bare TXT "no mail exchanger and no address"',
  ];
}

function publicKey(modulusLength: number): string {
  const { publicKey: key } = generateKeyPairSync("rsa", { modulusLength });
  return key.export({ format: "der", type: "spki" }).toString("base64");
}

/** Formats TXT data of a master file in strings of at most 200 characters. */
function quoted(text: string): string {
  return (text.match(/.{1,200}/g) ?? [""]).map((part) => `"${part}"`).join(" ");
}
