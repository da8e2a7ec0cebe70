import {
  parseReportUris,
  type ReportUri,
  type ReportUriDraft,
} from "#probe-agent/tools/email-check/dmarc-report-uri.ts";
import type { FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { parseTagList, toPrintableAscii, tagValue, type TagList } from "#probe-agent/analysis/mail/tag-list.ts";

/** Action that a domain requests for mail that fails DMARC. */
export type DmarcPolicy = "none" | "quarantine" | "reject";

/** Kinds of findings on a DMARC record. */
export type DmarcRecordFindingId =
  | ReportUriDraft["id"]
  | "dmarc-bad-value"
  | "dmarc-bad-policy"
  | "dmarc-policy-missing"
  | "dmarc-policy-not-second"
  | "dmarc-testing"
  | "dmarc-pct"
  | "dmarc-fo-without-ruf"
  | "dmarc-without-rua"
  | "dmarc-tag-removed"
  | "dmarc-tag-repeated"
  | "dmarc-tag-unknown"
  | "dmarc-tag-malformed";
/** One finding on a DMARC record. */
type DmarcDraft = FindingDraft<DmarcRecordFindingId>;

/** A parsed DMARC policy record (RFC 9989 section 4.7) with defaults for absent tags. */
export interface DmarcRecord {
  readonly text: string;
  /** Policy for the domain; null if the tag is absent or has an unknown value. */
  readonly p: DmarcPolicy | null;
  /** Policy for subdomains; null as for p. */
  readonly sp: DmarcPolicy | null;
  /** Policy for subdomains that do not exist; null as for p. */
  readonly np: DmarcPolicy | null;
  readonly adkim: "r" | "s";
  readonly aspf: "r" | "s";
  readonly fo: string;
  readonly t: "y" | "n";
  readonly psd: "y" | "n" | "u";
  /** Percentage of RFC 7489, removed by RFC 9989; null if absent or not a number from 0 to 100. */
  readonly pct: number | null;
  readonly rua: readonly ReportUri[];
  readonly ruf: readonly ReportUri[];
  /** Whether p, sp or np has an unknown value. */
  readonly malformed: boolean;
  /**
   * Whether receivers apply the record. A record with an invalid p, sp or np counts as p=none if it has a usable rua;
   * otherwise receivers ignore it (section 4.10.1).
   */
  readonly applies: boolean;
  /** Findings on what is wrong or obsolete. */
  readonly issues: readonly DmarcDraft[];
}

const POLICIES = new Set(["none", "quarantine", "reject"]);
const KNOWN = new Set(["v", "p", "sp", "np", "adkim", "aspf", "fo", "t", "psd", "rua", "ruf", "pct", "rf", "ri"]);
// Only the value is case-sensitive (section 4.8). White space is allowed around the equals sign.
const VERSION = /^[vV][ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/;
const MAX_TEXT = 4_000;

/** Reports whether a TXT text is a DMARC record: it begins with the version in its exact spelling. */
export function isDmarcRecord(text: string): boolean {
  return VERSION.test(text);
}

/**
 * Returns a sentence that says why a text that was probably meant as a DMARC record is not one. Returns null for DMARC
 * records and for unrelated texts.
 */
export function explainNearDmarc(text: string): string | null {
  if (isDmarcRecord(text) || !/dmarc/i.test(text)) return null;
  const shown = `"${toPrintableAscii(text, 60)}" is not a DMARC record`;
  if (/^[vV][ \t]*=[ \t]*DMARC1[ \t]*\\/.test(text)) return `${shown}: it contains backslashes before its semicolons.`;
  if (/^[vV][ \t]*=[ \t]*DMARC1\b/.test(text)) return `${shown}: a semicolon must follow v=DMARC1.`;
  if (/^[\s"']+v[ \t]*=[ \t]*DMARC1/i.test(text)) return `${shown}: a space or a quotation mark precedes v=DMARC1.`;
  return `${shown}: it must begin with v=DMARC1;`;
}

/** Parses a record for which `isDmarcRecord` is true. An invalid value falls back to its default (section 4.7). */
export function parseDmarc(text: string): DmarcRecord {
  const list = lowerNames(parseTagList(text));
  const issues: DmarcDraft[] = [];
  const readOption = <V extends string>(name: string, values: readonly V[], fallback: V): V => {
    const given = tagValue(list, name)?.toLowerCase();
    if (given === undefined) return fallback;
    const known = values.find((value) => value === given);
    if (known === undefined) issues.push(badValue(name, given, fallback));
    return known ?? fallback;
  };
  const [p, sp, np] = ["p", "sp", "np"].map((name) => readPolicy(list, name, issues));
  const addresses: ReportUriDraft[] = [];
  const rua = parseReportUris("rua", tagValue(list, "rua"), addresses);
  const ruf = parseReportUris("ruf", tagValue(list, "ruf"), addresses);
  const malformed = [p, sp, np].includes("bad");
  const record = {
    text: toPrintableAscii(text, MAX_TEXT),
    p: policyOf(p),
    sp: policyOf(sp),
    np: policyOf(np),
    adkim: readOption("adkim", ["r", "s"], "r"),
    aspf: readOption("aspf", ["r", "s"], "r"),
    fo: readFo(list, issues),
    t: readOption("t", ["y", "n"], "n"),
    psd: readOption("psd", ["y", "n", "u"], "u"),
    pct: readPct(list, issues),
    rua,
    ruf,
    malformed,
    applies: !malformed || rua.some(({ usable }) => usable),
  };
  return { ...record, issues: [...issues, ...addresses, ...recordFindings(list, record)] };
}

function badValue(name: string, given: string, fallback: string): DmarcDraft {
  const message = `${name}=${toPrintableAscii(given, 30)} is not a valid value; receivers use ${name}=${fallback}.`;
  return { id: "dmarc-bad-value", message };
}

function lowerNames(list: TagList): TagList {
  return { ...list, tags: list.tags.map(({ name, value }) => ({ name: name.toLowerCase(), value })) };
}

function readPolicy(list: TagList, name: string, issues: DmarcDraft[]): DmarcPolicy | "bad" | null {
  const value = tagValue(list, name)?.toLowerCase();
  if (value === undefined) return null;
  if (POLICIES.has(value)) return value as DmarcPolicy;
  const message = `${name}=${toPrintableAscii(value, 30)} is not a policy; valid policies are none, quarantine and reject.`;
  issues.push({ id: "dmarc-bad-policy", message });
  return "bad";
}

function policyOf(read: DmarcPolicy | "bad" | null | undefined): DmarcPolicy | null {
  return read === "bad" || read === undefined ? null : read;
}

/** Reads the tag fo: 0, 1, d and s separated by colons. Receivers ignore it without ruf. */
function readFo(list: TagList, issues: DmarcDraft[]): string {
  const value = tagValue(list, "fo")?.toLowerCase();
  if (value === undefined) return "0";
  const options = value.split(":", 20).map((option) => option.trim());
  if (!options.every((option) => /^[01ds]$/.test(option))) {
    issues.push(badValue("fo", value, "0"));
    return "0";
  }
  if (tagValue(list, "ruf") === null) {
    issues.push({ id: "dmarc-fo-without-ruf", message: "The tag fo has no effect without ruf." });
  }
  return [...new Set(options)].join(":");
}

function readPct(list: TagList, issues: DmarcDraft[]): number | null {
  const value = tagValue(list, "pct");
  if (value === null) return null;
  const message = `The tag pct was removed by RFC 9989: receivers that still read it apply the policy to ${toPrintableAscii(value, 10)} % of the mail that fails.`;
  issues.push({ id: "dmarc-pct", message });
  const percent = /^\d{1,3}$/.test(value) ? Number(value) : 101;
  return percent <= 100 ? percent : null;
}

/** Fields of a record that decide on findings. */
type CheckedFields = Pick<DmarcRecord, "p" | "malformed" | "applies" | "rua" | "t">;

function recordFindings(list: TagList, { p, malformed, applies, rua, t }: CheckedFields): DmarcDraft[] {
  const others = list.tags.map(({ name }) => name).filter((name) => !KNOWN.has(name));
  const make = (id: DmarcRecordFindingId, message: string): DmarcDraft => ({ id, message });
  const ignored = "The record has an invalid policy and no usable rua address: receivers ignore it.";
  const lowered = "Receivers treat the record as p=none because a policy is invalid.";
  return [
    ...(applies ? [] : [make("dmarc-bad-policy", ignored)]),
    ...(applies && malformed ? [make("dmarc-bad-policy", lowered)] : []),
    ...(p === null && !malformed
      ? [make("dmarc-policy-missing", "The tag p is missing: receivers treat the record as p=none.")]
      : []),
    ...(p !== null && list.tags[1]?.name !== "p"
      ? [make("dmarc-policy-not-second", "p does not follow v: receivers that apply RFC 7489 ignore the record.")]
      : []),
    ...(t === "y"
      ? [make("dmarc-testing", "t=y declares a test of DMARC: receivers apply the next weaker policy.")]
      : []),
    ...(rua.length === 0
      ? [make("dmarc-without-rua", "The record has no rua tag: receivers send no reports about the policy.")]
      : []),
    ...["rf", "ri"]
      .filter((name) => tagValue(list, name) !== null)
      .map((name) => make("dmarc-tag-removed", `The tag ${name} was removed by RFC 9989.`)),
    ...list.repeated
      .slice(0, 5)
      .map((name) =>
        make(
          "dmarc-tag-repeated",
          `The tag ${toPrintableAscii(name, 30)} is given more than once; receivers use the first.`,
        ),
      ),
    ...[...new Set(others)]
      .slice(0, 5)
      .map((name) =>
        make("dmarc-tag-unknown", `The tag ${toPrintableAscii(name, 30)} is unknown; receivers ignore it.`),
      ),
    ...list.faults
      .slice(0, 5)
      .map((fault) =>
        make("dmarc-tag-malformed", `"${toPrintableAscii(fault, 30)}" is not a tag of the form name=value.`),
      ),
  ];
}
