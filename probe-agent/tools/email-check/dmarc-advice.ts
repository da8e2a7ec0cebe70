import type { DmarcRecordFindingId } from "#probe-agent/tools/email-check/dmarc-record.ts";
import type { AdviceTable } from "#probe-agent/analysis/text/findings.ts";
import { publishTxt } from "#probe-agent/analysis/mail/tag-list.ts";
import { parseTagList } from "#probe-agent/analysis/mail/tag-list.ts";

/** Kinds of findings on a domain's DMARC record and on its location. */
export type DmarcFindingId =
  | DmarcRecordFindingId
  | "dmarc-near-record"
  | "dmarc-several-records"
  | "dmarc-misplaced"
  | "dmarc-inherited"
  | "dmarc-weaker-subdomains"
  | "dmarc-report-not-authorised";

/** Facts about a domain that the advice on DMARC uses. */
export interface DmarcContext {
  readonly domain: string;
  /** Domain whose record applies; the domain itself if no record applies. */
  readonly foundAt: string;
  /** The record that applies; null if there is none. */
  readonly record: string | null;
}

const RFC = "https://www.rfc-editor.org/rfc/rfc9989";
/** Maximum number of characters of the tags other than v and p that the advice repeats. Longer tags are left out. */
const MAX_OTHERS = 600;
const RECORD = `${RFC}#section-4.7`;

/** Severity and advice for each kind. The advice keeps the current record and changes only the tag in question. */
export const DMARC_ADVICE: AdviceTable<DmarcFindingId, DmarcContext> = {
  "dmarc-near-record": { severity: "critical", how: (context) => publishDmarc(context, {}), reference: RECORD },
  "dmarc-several-records": {
    severity: "critical",
    how: (_, where) =>
      `Keep one TXT record at _dmarc.${where ?? "the domain"} that begins with v=DMARC1; and remove the others.`,
    reference: `${RFC}#section-4.10`,
  },
  "dmarc-misplaced": {
    severity: "warning",
    how: ({ domain }) => `Move the DMARC record from ${domain} to _dmarc.${domain}.`,
    reference: `${RFC}#section-4.8`,
  },
  "dmarc-inherited": { severity: "info", how: null, reference: `${RFC}#section-4.10` },
  "dmarc-weaker-subdomains": {
    severity: "warning",
    how: (context) => publishDmarc(context, { sp: null, np: null }),
    reference: RECORD,
  },
  "dmarc-report-not-authorised": {
    severity: "info",
    how: ({ foundAt }, where) =>
      `${publishTxt(`${foundAt}._report._dmarc.${where ?? "the report domain"}`, "v=DMARC1")} (the owner of that domain must publish it), or send reports to an address of ${foundAt}.`,
    reference: "https://www.rfc-editor.org/rfc/rfc9990#section-4",
  },
  "dmarc-report-address": {
    severity: "info",
    how: (context) => publishDmarc(context, { rua: `mailto:dmarc-reports@${context.foundAt}` }),
    reference: RECORD,
  },
  "dmarc-report-size-limit": {
    severity: "info",
    how: "Remove the exclamation mark and the size after the address.",
    reference: "https://www.rfc-editor.org/rfc/rfc9990",
  },
  "dmarc-bad-value": {
    severity: "info",
    how: "Remove the tag or use a valid value: adkim and aspf r or s; t y or n; psd y, n or u; fo 0, 1, d or s.",
    reference: RECORD,
  },
  "dmarc-bad-policy": {
    severity: "critical",
    how: (context) => publishDmarc(context, { p: "quarantine", sp: null, np: null }),
    reference: RECORD,
  },
  "dmarc-policy-missing": {
    severity: "warning",
    how: (context) => publishDmarc(context, { p: "quarantine" }),
    reference: RECORD,
  },
  "dmarc-policy-not-second": { severity: "warning", how: (context) => publishDmarc(context, {}), reference: RECORD },
  "dmarc-testing": { severity: "warning", how: (context) => publishDmarc(context, { t: null }), reference: RECORD },
  "dmarc-pct": { severity: "info", how: (context) => publishDmarc(context, { pct: null }), reference: RECORD },
  "dmarc-fo-without-ruf": {
    severity: "info",
    how: (context) => publishDmarc(context, { fo: null }),
    reference: RECORD,
  },
  "dmarc-without-rua": {
    severity: "info",
    how: (context) => publishDmarc(context, { rua: `mailto:dmarc-reports@${context.foundAt}` }),
    reference: RECORD,
  },
  "dmarc-tag-removed": {
    severity: "info",
    how: (context) => publishDmarc(context, { rf: null, ri: null }),
    reference: RECORD,
  },
  "dmarc-tag-repeated": { severity: "warning", how: (context) => publishDmarc(context, {}), reference: RECORD },
  "dmarc-tag-unknown": { severity: "info", how: "Remove the tag, or correct its spelling.", reference: RECORD },
  "dmarc-tag-malformed": { severity: "info", how: (context) => publishDmarc(context, {}), reference: RECORD },
};

/**
 * Returns the advice to publish the current record with changed tags, or a first record if there is none. A null value
 * in `changes` removes the tag. The tag p directly follows v.
 */
export function publishDmarc(
  { foundAt, record }: DmarcContext,
  changes: Readonly<Record<string, string | null>>,
): string {
  const tags = new Map<string, string>();
  for (const { name, value } of parseTagList(record ?? "").tags) {
    const key = name.toLowerCase();
    if (!tags.has(key)) tags.set(key, value);
  }
  tags.delete("v");
  if (record === null) {
    tags.set("p", "quarantine");
    tags.set("rua", `mailto:dmarc-reports@${foundAt}`);
  }
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) tags.delete(name);
    else tags.set(name, value);
  }
  const p = tags.get("p") ?? "quarantine";
  tags.delete("p");
  const others = [...tags].map(([name, value]) => `${name}=${value}`);
  const text = ["v=DMARC1", `p=${p}`, ...(others.join("; ").length > MAX_OTHERS ? [] : others)].join("; ");
  return publishTxt(`_dmarc.${foundAt}`, text);
}
