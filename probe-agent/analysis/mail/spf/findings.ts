import type { Guide } from "#probe-agent/analysis/mail/remarks.ts";
import { publishTxt } from "#probe-agent/analysis/mail/remarks.ts";
import type { SpfRemarkId } from "#probe-agent/analysis/mail/spf/remark.ts";

/** What the records to publish are made of. */
export interface SpfContext {
  readonly domain: string;
  /** The domain's own record; null where there is none. */
  readonly record: string | null;
  /** Who runs the domain's mail hosts, as `mailProvider` names them. */
  readonly provider: string | null;
  /** The domain says that it takes no mail. */
  readonly nullMx: boolean;
}

const RFC = "https://www.rfc-editor.org/rfc/rfc7208";
/** What the services tell their customers to include; others send from hosts that only the owner knows. */
const INCLUDES: Readonly<Record<string, string>> = {
  "Google Workspace": "include:_spf.google.com",
  "Microsoft 365": "include:spf.protection.outlook.com",
  Fastmail: "include:spf.messagingengine.com",
  "Proton Mail": "include:_spf.protonmail.ch",
  "iCloud Mail": "include:icloud.com",
};

/** Severity and advice: a record that ends in permerror proves nothing, and mail that rests on it is refused. */
export const SPF_GUIDE: Guide<SpfRemarkId, SpfContext> = {
  "spf-syntax": {
    severity: "critical",
    how: (_, where) =>
      `Correct the term in the SPF record of ${where ?? "the domain"}; a record reads like "v=spf1 mx include:<domain> ip4:<address> -all".`,
    reference: `${RFC}#section-4.6`,
  },
  "spf-several-records": {
    severity: "critical",
    how: (_, where) =>
      `Join the terms of the SPF records of ${where ?? "the domain"} into one TXT record that begins with v=spf1 and has one all at its end; remove the others.`,
    reference: `${RFC}#section-4.5`,
  },
  "spf-loop": {
    severity: "critical",
    how: (_, where) => `Remove the include or redirect that leads back to ${where ?? "the domain"}.`,
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
    how: (_, where) => `Replace mx in the record of ${where ?? "the domain"} by ip4: and ip6: terms.`,
    reference: `${RFC}#section-4.6.4`,
  },
  "spf-too-many-lookups": {
    severity: "critical",
    how: ({ domain }) =>
      `Remove includes of services that no longer send for ${domain}, replace a and mx by ip4: and ip6: terms, and move a service to a subdomain of its own until at most 10 terms ask the DNS.`,
    reference: `${RFC}#section-4.6.4`,
  },
  "spf-too-many-void-lookups": {
    severity: "critical",
    how: "Remove the terms whose names have no record.",
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
    how: (_, where) => `Replace ptr in the record of ${where ?? "the domain"} by ip4: and ip6: terms of the senders.`,
    reference: `${RFC}#section-5.5`,
  },
  "spf-macro-not-followed": { severity: "info", how: null, reference: `${RFC}#section-7` },
  "spf-unknown-modifier": {
    severity: "warning",
    how: (_, where) =>
      `Remove the term from the record of ${where ?? "the domain"}, or spell the mechanism that is meant.`,
    reference: `${RFC}#section-6`,
  },
  "spf-large-block": {
    severity: "warning",
    how: (_, where) => `List in the record of ${where ?? "the domain"} only the blocks that its own senders use.`,
    reference: `${RFC}#section-11.4`,
  },
  "spf-record-long": {
    severity: "warning",
    how: ({ domain }) =>
      `Move a part of the terms to a record of its own, e.g. at _spf1.${domain}, and include it: include:_spf1.${domain}`,
    reference: `${RFC}#section-3.4`,
  },
  "spf-void-term": {
    severity: "warning",
    how: (_, where) =>
      `Remove the term from the record of ${where ?? "the domain"}, or publish an address at its name.`,
    reference: `${RFC}#section-4.6.4`,
  },
};

/** The first record of a domain, from what is known of its mail hosts. */
export function publishSpf({ domain, provider, nullMx }: SpfContext): string {
  if (nullMx) return publishTxt(domain, "v=spf1 -all");
  const include = provider === null ? undefined : INCLUDES[provider];
  const text = `v=spf1 ${include ?? "mx"} ~all`;
  return `${publishTxt(domain, text)}. Add every other service that sends for ${domain} before ~all; use -all once reports show none is missing.`;
}

/** The domain's record with an end that refuses other senders. */
export function publishEnd(context: SpfContext): string {
  if (context.record === null) return publishSpf(context);
  return publishTxt(context.domain, closeRecord(context.record));
}

/** The terms of a record without those that pass every sender or end it otherwise, and ~all as its end. */
function closeRecord(record: string): string {
  const OPEN = new Set(["all", "ip4:0.0.0.0/0", "ip6:::/0"]);
  const terms = record.split(" ").filter((term) => term !== "" && !OPEN.has(term.toLowerCase().replace(/^[-+?~]/, "")));
  return [...terms, "~all"].join(" ");
}

/** A record that also passes an address: before its all, or at its end. */
export function addAddress(record: string, ip: string): string {
  const terms = record.split(" ").filter((term) => term !== "");
  const all = terms.findIndex((term) => /^[-+?~]?all$/i.test(term));
  const term = `${ip.includes(":") ? "ip6" : "ip4"}:${ip}`;
  return (all < 0 ? [...terms, term] : terms.toSpliced(all, 0, term)).join(" ");
}
