import type { RoutingFindingId } from "#probe-agent/tools/mx/exchangers.ts";
import { finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";

/** Kinds of findings on TLSA records of mail hosts. */
type TlsaFindingId = "tlsa-bogus" | "tlsa-unsigned" | "tlsa-unusable";

/** DANE data of one mail host that the findings use. */
interface DaneFacts {
  readonly host: string;
  readonly status: "secure" | "insecure" | "bogus" | "absent" | "unknown";
  readonly records: readonly { readonly usable: boolean }[];
}

/** Finds faults of the TLSA records of mail hosts (RFC 7672). */
export function daneFindings(hosts: readonly DaneFacts[]): FindingDraft<TlsaFindingId>[] {
  return hosts.flatMap(({ host, status, records }): FindingDraft<TlsaFindingId>[] => {
    if (status === "bogus") {
      const message = `The TLSA records of ${host} fail DNSSEC validation: senders that use DANE deliver no mail to it.`;
      return [finding("tlsa-bogus", host, message)];
    }
    if (status === "insecure") {
      const message = `The TLSA records of ${host} are not signed by DNSSEC: senders ignore them.`;
      return [finding("tlsa-unsigned", host, message)];
    }
    const message = `None of the TLSA records of ${host} has usage 2 or 3, the only usages that mail servers accept.`;
    return status === "secure" && !records.some(({ usable }) => usable)
      ? [finding("tlsa-unusable", host, message)]
      : [];
  });
}

const MX_RULES = "https://www.rfc-editor.org/rfc/rfc5321#section-5.1";
const NULL_MX = "https://www.rfc-editor.org/rfc/rfc7505#section-3";
const SENDER_RULES = "https://support.google.com/a/answer/81126";
const DANE = "https://www.rfc-editor.org/rfc/rfc7672";

/** Severity and advice for mail hosts. The context has the mail domain; `where` is the host. */
export const ROUTING_ADVICE: AdviceTable<RoutingFindingId | TlsaFindingId, { readonly domain: string }> = {
  "domain-missing": {
    severity: "critical",
    how: ({ domain }) => `Check the spelling of ${domain}. If it is correct, register the domain or publish its zone.`,
    reference: null,
  },
  "no-mail-route": {
    severity: "critical",
    how: ({ domain }) =>
      `Publish an MX record at ${domain} that names the mail host, e.g. "10 mail.${domain}."; for a domain that accepts no mail, publish the null MX "0 ."`,
    reference: MX_RULES,
  },
  "null-mx-preference": {
    severity: "info",
    how: ({ domain }) => `Publish this MX record at ${domain}: "0 ."`,
    reference: NULL_MX,
  },
  "null-mx-not-alone": {
    severity: "warning",
    how: ({ domain }) =>
      `Remove the MX record "0 ." at ${domain}; for a domain that accepts no mail, remove all other MX records instead.`,
    reference: NULL_MX,
  },
  "mx-is-address": {
    severity: "critical",
    how: ({ domain }, where) =>
      `Publish an address record for a name, e.g. mail.${domain} with ${where ?? "the address"}, and the MX record "10 mail.${domain}." at ${domain}.`,
    reference: MX_RULES,
  },
  "host-missing": { severity: "critical", how: addressOrRemove, reference: MX_RULES },
  "host-without-address": { severity: "critical", how: addressOrRemove, reference: MX_RULES },
  "host-not-public": {
    severity: "critical",
    how: ({ domain }, where) =>
      `Publish a public address at ${where ?? "the host"} instead of that address, or remove the host's MX record at ${domain}.`,
    reference: "https://www.rfc-editor.org/rfc/rfc6890#section-2.2",
  },
  "host-is-alias": {
    severity: "warning",
    how: ({ domain }, where) =>
      `Publish A and AAAA records at ${where ?? "the host"} instead of its CNAME record, or name the target of the alias in the MX record of ${domain}.`,
    reference: MX_RULES,
  },
  "implicit-mx": {
    severity: "info",
    how: ({ domain }) =>
      `Publish this MX record at ${domain}: "10 ${domain}."; for a domain that accepts no mail, publish "0 ."`,
    reference: MX_RULES,
  },
  "host-repeated": {
    severity: "info",
    how: ({ domain }, where) => `Keep one MX record at ${domain} that names ${where ?? "the host"}; remove the others.`,
    reference: MX_RULES,
  },
  "priority-shared": { severity: "info", how: null, reference: MX_RULES },
  "single-host": {
    severity: "info",
    how: ({ domain }) => `Run a second mail host and publish it at ${domain}, e.g. as MX "20 mail2.${domain}."`,
    reference: "https://www.rfc-editor.org/rfc/rfc5321#section-4.5.4.1",
  },
  "no-reverse-name": {
    severity: "warning",
    how: (_, where) =>
      `Ask the operator of the address (the hosting provider) for a PTR record that names ${where ?? "the host"}.`,
    reference: SENDER_RULES,
  },
  "reverse-name-mismatch": {
    severity: "warning",
    how: (_, where) =>
      `Ask the operator of the address for a PTR record that names ${where ?? "the host"}, or publish the address at the name in the PTR record.`,
    reference: SENDER_RULES,
  },
  "no-ipv6": {
    severity: "info",
    how: ({ domain }) => `Publish an AAAA record at a mail host of ${domain} that accepts mail over IPv6.`,
    reference: null,
  },
  "tlsa-bogus": {
    severity: "critical",
    how: (_, where) =>
      `Repair DNSSEC of the zone with _25._tcp.${where ?? "the host"} (sign it again, publish the matching DS record), or remove the TLSA records.`,
    reference: `${DANE}#section-2.2`,
  },
  "tlsa-unsigned": {
    severity: "info",
    how: (_, where) => `Sign the zone of ${where ?? "the host"} with DNSSEC, or remove the TLSA records.`,
    reference: `${DANE}#section-2.2`,
  },
  "tlsa-unusable": {
    severity: "info",
    how: (_, where) =>
      `Publish at _25._tcp.${where ?? "the host"} a TLSA record "3 1 1 <SHA-256 of the certificate's public key, hexadecimal>".`,
    reference: `${DANE}#section-3.1`,
  },
};

function addressOrRemove({ domain }: { readonly domain: string }, where: string | null): string {
  return `Publish an A or AAAA record at ${where ?? "the host"}, or remove its MX record at ${domain}.`;
}
