import type { AdviceTable } from "#probe-agent/analysis/text/findings.ts";
import { publishTxt } from "#probe-agent/analysis/mail/tag-list.ts";
import type { SpfFindingId } from "#probe-agent/analysis/mail/spf/draft.ts";

/** Facts about a domain that the advice on SPF uses. */
export interface SpfContext {
  readonly domain: string;
  /** The domain's own record; null if there is none. */
  readonly record: string | null;
  /** Operator of the domain's mail hosts, as `mailProvider` names it; null if unknown. */
  readonly provider: string | null;
  /** Whether the domain declares that it accepts no mail. */
  readonly nullMx: boolean;
}

const RFC = "https://www.rfc-editor.org/rfc/rfc7208";
/** Includes that mail services document. For other services, only the owner of the domain knows the sending hosts. */
const INCLUDES: Readonly<Record<string, string>> = {
  "Google Workspace": "include:_spf.google.com",
  "Microsoft 365": "include:spf.protection.outlook.com",
  Fastmail: "include:spf.messagingengine.com",
  "Proton Mail": "include:_spf.protonmail.ch",
  "iCloud Mail": "include:icloud.com",
};

/**
 * Severity and advice for each kind of finding. A fault that ends in permerror is critical: receivers refuse mail that
 * relies on the record.
 */
export const SPF_ADVICE: AdviceTable<SpfFindingId, SpfContext> = {
  "spf-syntax": {
    severity: "critical",
    how: (_, where) =>
      `Correct the term in the SPF record of ${where ?? "the domain"}. Example of a valid record: "v=spf1 mx include:<domain> ip4:<address> -all".`,
    reference: `${RFC}#section-4.6`,
  },
  "spf-several-records": {
    severity: "critical",
    how: (_, where) =>
      `Merge the SPF records of ${where ?? "the domain"} into one TXT record that begins with v=spf1 and ends with one all. Remove the other SPF records.`,
    reference: `${RFC}#section-4.5`,
  },
  "spf-loop": {
    severity: "critical",
    how: (_, where) => `Remove the include or redirect that refers back to ${where ?? "the domain"}.`,
    reference: `${RFC}#section-4.6.4`,
  },
  "spf-include-missing": {
    severity: "critical",
    how: ({ domain }, where) =>
      `Remove the include or redirect of ${where ?? "the domain"} from the record of ${domain}, or publish an SPF record at ${where ?? "it"}.`,
    reference: `${RFC}#section-5.2`,
  },
  "spf-too-many-mx-hosts": {
    severity: "critical",
    how: (_, where) => `Replace mx in the record of ${where ?? "the domain"} with ip4: and ip6: terms.`,
    reference: `${RFC}#section-4.6.4`,
  },
  "spf-too-many-lookups": {
    severity: "critical",
    how: ({ domain }) =>
      `Reduce the record to 10 or fewer terms with a DNS lookup: remove includes of services that no longer send for ${domain}, replace a and mx with ip4: and ip6: terms, or move a service to a separate subdomain.`,
    reference: `${RFC}#section-4.6.4`,
  },
  "spf-too-many-void-lookups": {
    severity: "critical",
    how: "Remove the terms whose names have no DNS records.",
    reference: `${RFC}#section-4.6.4`,
  },
  "spf-near-record": { severity: "warning", how: publishSpf, reference: `${RFC}#section-4.5` },
  "spf-passes-everyone": { severity: "critical", how: publishEnd, reference: `${RFC}#section-5.1` },
  "spf-neutral-all": { severity: "warning", how: publishEnd, reference: `${RFC}#section-5.1` },
  "spf-without-all": { severity: "warning", how: publishEnd, reference: `${RFC}#section-4.7` },
  "spf-terms-unreachable": {
    severity: "warning",
    how: (_, where) => `Move all to the end of the record of ${where ?? "the domain"}, or remove the terms after it.`,
    reference: `${RFC}#section-5.1`,
  },
  "spf-redirect-ignored": {
    severity: "warning",
    how: (_, where) => `Remove either all or redirect= from the record of ${where ?? "the domain"}.`,
    reference: `${RFC}#section-6.1`,
  },
  "spf-ptr": {
    severity: "warning",
    how: (_, where) => `Replace ptr in the record of ${where ?? "the domain"} with ip4: and ip6: terms of the senders.`,
    reference: `${RFC}#section-5.5`,
  },
  "spf-macro-not-followed": { severity: "info", how: null, reference: `${RFC}#section-7` },
  "spf-unknown-modifier": {
    severity: "warning",
    how: (_, where) =>
      `Remove the term from the record of ${where ?? "the domain"}, or replace it with the correct mechanism.`,
    reference: `${RFC}#section-6`,
  },
  "spf-large-block": {
    severity: "warning",
    how: (_, where) =>
      `List only the address blocks that your own senders use in the record of ${where ?? "the domain"}.`,
    reference: `${RFC}#section-11.4`,
  },
  "spf-record-long": {
    severity: "warning",
    how: ({ domain }) =>
      `Move some terms to a separate record, e.g. at _spf1.${domain}, and include that record: include:_spf1.${domain}`,
    reference: `${RFC}#section-3.4`,
  },
  "spf-void-term": {
    severity: "warning",
    how: (_, where) =>
      `Remove the term from the record of ${where ?? "the domain"}, or publish an address at its name.`,
    reference: `${RFC}#section-4.6.4`,
  },
};

/** Returns the advice to publish a first SPF record, made from what is known about the domain's mail hosts. */
export function publishSpf({ domain, provider, nullMx }: SpfContext): string {
  if (nullMx) return publishTxt(domain, "v=spf1 -all");
  const include = provider === null ? undefined : INCLUDES[provider];
  const text = `v=spf1 ${include ?? "mx"} ~all`;
  return `${publishTxt(domain, text)}. Add every other service that sends for ${domain} before ~all. Change ~all to -all when reports show that no service is missing.`;
}

/** Returns the advice to publish the domain's record with an end that does not pass other senders. */
export function publishEnd(context: SpfContext): string {
  if (context.record === null) return publishSpf(context);
  return publishTxt(context.domain, closeRecord(context.record));
}

/** Replaces the terms of a record that match every sender with a final ~all. */
function closeRecord(record: string): string {
  const OPEN = new Set(["all", "ip4:0.0.0.0/0", "ip6:::/0"]);
  const terms = record.split(" ").filter((term) => term !== "" && !OPEN.has(term.toLowerCase().replace(/^[-+?~]/, "")));
  return [...terms, "~all"].join(" ");
}

/** Adds an address to a record: before its all, or at its end. */
export function addAddress(record: string, ip: string): string {
  const terms = record.split(" ").filter((term) => term !== "");
  const all = terms.findIndex((term) => /^[-+?~]?all$/i.test(term));
  const term = `${ip.includes(":") ? "ip6" : "ip4"}:${ip}`;
  return (all < 0 ? [...terms, term] : terms.toSpliced(all, 0, term)).join(" ");
}
