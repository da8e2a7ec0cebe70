import type { TrustAnchor } from "#probe-agent/port/dns.ts";
import { dsText, makeKey, signZone } from "#test/servers/dnssec/sign.ts";
import { answerFrom, type TreeReply } from "#test/servers/dnssec/answer.ts";
import { recordsOf, type Zone } from "#test/servers/dnssec/zone.ts";

const DIGEST = "AB".repeat(32);

/** Unsigned domain whose mail goes to a host of another domain. */
const guest = (apex: string, host: string): string => `
${apex}. 3600 IN SOA ns.${apex}. h.${apex}. 1 7200 3600 604800 300
${apex}. 3600 IN NS ns.${apex}.
${apex}. 3600 IN MX 10 ${host}.
`;

/**
 * Signed root and signed domain `example`, whose mail host has TLSA records. `plain` is unsigned and has the same
 * records. `borrower` is unsigned; its mail goes to the host of `example`. The mail of `pkix` goes to a host whose TLSA
 * records have no usage for mail.
 */
export interface DaneTree {
  readonly anchors: readonly TrustAnchor[];
  /** Answer function for a DNS server. */
  answer(name: string, type: string): TreeReply;
}

/** Creates the tree. `forged` changes a TLSA record after signing. */
export function growDaneTree(forged = false): DaneTree {
  const rootKey = makeKey(".", 13, 257);
  const keys = [makeKey("example", 13, 257)];
  const mail = (apex: string): string =>
    `${apex}. 3600 IN SOA ns.${apex}. h.${apex}. 1 7200 3600 604800 300
${apex}. 3600 IN NS ns.${apex}.
${apex}. 3600 IN MX 10 mail.${apex}.
mail.${apex}. 3600 IN A 192.0.2.25
_25._tcp.mail.${apex}. 3600 IN TLSA 3 1 1 ${DIGEST}
_25._tcp.mail.${apex}. 3600 IN TLSA 1 1 1 ${DIGEST}
old.${apex}. 3600 IN A 192.0.2.26
_25._tcp.old.${apex}. 3600 IN TLSA 1 1 1 ${DIGEST}
`;
  const root = signZone({
    apex: ".",
    text: `. 3600 IN SOA a.root. h.root. 1 7200 3600 604800 300
. 3600 IN NS a.root.
example. 3600 IN NS ns.example.
${keys.map((key) => dsText("example", key)).join("")}
plain. 3600 IN NS ns.plain.
borrower. 3600 IN NS ns.borrower.
pkix. 3600 IN NS ns.pkix.
`,
    keys: [rootKey],
  });
  const signed = signZone({ apex: "example", text: mail("example"), keys });
  const example: Zone = forged ? { ...signed, records: signed.records.map(forge) } : signed;
  const zones: readonly Zone[] = [
    root,
    example,
    { apex: "plain", records: recordsOf(mail("plain")) },
    { apex: "borrower", records: recordsOf(guest("borrower", "mail.example")) },
    { apex: "pkix", records: recordsOf(guest("pkix", "old.example")) },
  ];
  return {
    anchors: [{ zone: ".", type: "DNSKEY", raw: rootKey.record.raw }],
    answer: (name, type) => answerFrom(zones, name, type),
  };
}

function forge(record: Zone["records"][number]): Zone["records"][number] {
  if (record.type !== "TLSA") return record;
  const raw = Uint8Array.from(record.raw);
  raw[raw.length - 1] = (raw.at(-1) ?? 0) ^ 1;
  return { ...record, raw };
}
