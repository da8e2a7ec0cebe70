import { parseReportUris, type ReportUri } from "#probe-agent/analysis/mail/dmarc/report-uri.ts";
import { parseTagList, shownText, tagValue, type TagList } from "#probe-agent/analysis/mail/tag-list.ts";

/** What a domain asks receivers to do with mail that fails. */
export type DmarcPolicy = "none" | "quarantine" | "reject";

/** A DMARC policy record (RFC 9989 section 4.7), defaults filled in. */
export interface DmarcRecord {
  readonly text: string;
  /** Null where the tag is absent or has no known value. */
  readonly p: DmarcPolicy | null;
  readonly sp: DmarcPolicy | null;
  readonly np: DmarcPolicy | null;
  readonly adkim: "r" | "s";
  readonly aspf: "r" | "s";
  readonly fo: string;
  readonly t: "y" | "n";
  readonly psd: "y" | "n" | "u";
  /** Of RFC 7489 only; null where absent or no number from 0 to 100. */
  readonly pct: number | null;
  readonly rua: readonly ReportUri[];
  readonly ruf: readonly ReportUri[];
  /** p, sp or np has no known value. */
  readonly malformed: boolean;
  /**
   * Whether receivers act by it: section 4.10.1 lets a record with a bad p, sp or np stand as p=none where it has a
   * usable rua, else it counts for nothing.
   */
  readonly applies: boolean;
  /** What is wrong or out of date, one sentence each. */
  readonly issues: readonly string[];
}

const POLICIES = new Set(["none", "quarantine", "reject"]);
const KNOWN = new Set(["v", "p", "sp", "np", "adkim", "aspf", "fo", "t", "psd", "rua", "ruf", "pct", "rf", "ri"]);
// The value alone is case-sensitive (section 4.8); white space may stand around the equals sign.
const VERSION = /^[vV][ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/;
const MAX_TEXT = 4_000;

/** Whether a TXT text is a DMARC record: the version first, spelled exactly. */
export function isDmarcRecord(text: string): boolean {
  return VERSION.test(text);
}

/** Why a TXT text that was meant as a DMARC record is none; null where nothing shows that it was. */
export function nearDmarc(text: string): string | null {
  if (isDmarcRecord(text) || !/dmarc/i.test(text)) return null;
  const shown = `"${shownText(text, 60)}" is no DMARC record`;
  if (/^[vV][ \t]*=[ \t]*DMARC1[ \t]*\\/.test(text))
    return `${shown}: the backslashes before the semicolons are in the DNS`;
  if (/^[vV][ \t]*=[ \t]*DMARC1\b/.test(text)) return `${shown}: a semicolon must follow v=DMARC1`;
  if (/^[\s"']+v[ \t]*=[ \t]*DMARC1/i.test(text)) return `${shown}: a blank or a quote stands before v=DMARC1`;
  return `${shown}: it must begin with v=DMARC1;`;
}

/** Reads a record that `isDmarcRecord`. Whatever cannot be read falls back to its default, as section 4.7 says. */
export function parseDmarc(text: string): DmarcRecord {
  const list = lowerNames(parseTagList(text));
  const issues: string[] = [];
  const one = <V extends string>(name: string, values: readonly V[], fallback: V): V => {
    const given = tagValue(list, name)?.toLowerCase();
    if (given === undefined) return fallback;
    const known = values.find((value) => value === given);
    if (known === undefined) issues.push(`${name}=${shownText(given, 30)} has no meaning; ${fallback} counts`);
    return known ?? fallback;
  };
  const [p, sp, np] = ["p", "sp", "np"].map((name) => readPolicy(list, name, issues));
  const rua = parseReportUris("rua", tagValue(list, "rua"), issues);
  const ruf = parseReportUris("ruf", tagValue(list, "ruf"), issues);
  const malformed = [p, sp, np].includes("bad");
  const record = {
    text: shownText(text, MAX_TEXT),
    p: policyOf(p),
    sp: policyOf(sp),
    np: policyOf(np),
    adkim: one("adkim", ["r", "s"], "r"),
    aspf: one("aspf", ["r", "s"], "r"),
    fo: readFo(list, issues),
    t: one("t", ["y", "n"], "n"),
    psd: one("psd", ["y", "n", "u"], "u"),
    pct: readPct(list, issues),
    rua,
    ruf,
    malformed,
    applies: !malformed || rua.some(({ usable }) => usable),
  };
  return { ...record, issues: [...issues, ...remarks(list, record)] };
}

function lowerNames(list: TagList): TagList {
  return { ...list, tags: list.tags.map(({ name, value }) => ({ name: name.toLowerCase(), value })) };
}

function readPolicy(list: TagList, name: string, issues: string[]): DmarcPolicy | "bad" | null {
  const value = tagValue(list, name)?.toLowerCase();
  if (value === undefined) return null;
  if (POLICIES.has(value)) return value as DmarcPolicy;
  issues.push(`${name}=${shownText(value, 30)} is no policy; none, quarantine or reject is`);
  return "bad";
}

function policyOf(read: DmarcPolicy | "bad" | null | undefined): DmarcPolicy | null {
  return read === "bad" || read === undefined ? null : read;
}

/** 0, 1, d, s, with colons between; ignored without ruf. */
function readFo(list: TagList, issues: string[]): string {
  const value = tagValue(list, "fo")?.toLowerCase();
  if (value === undefined) return "0";
  const options = value.split(":", 20).map((option) => option.trim());
  if (!options.every((option) => /^[01ds]$/.test(option))) {
    issues.push(`fo=${shownText(value, 30)} has no meaning; 0 counts`);
    return "0";
  }
  if (tagValue(list, "ruf") === null) issues.push("fo counts for nothing without ruf");
  return [...new Set(options)].join(":");
}

function readPct(list: TagList, issues: string[]): number | null {
  const value = tagValue(list, "pct");
  if (value === null) return null;
  issues.push("pct was removed by RFC 9989; only older receivers look at it (t=y takes the place of pct=0)");
  const percent = /^\d{1,3}$/.test(value) ? Number(value) : 101;
  return percent <= 100 ? percent : null;
}

type Remarked = Pick<DmarcRecord, "p" | "malformed" | "applies" | "rua" | "t">;

function remarks(list: TagList, { p, malformed, applies, rua, t }: Remarked): string[] {
  const others = list.tags.map(({ name }) => name).filter((name) => !KNOWN.has(name));
  return [
    ...(!applies ? ["a bad policy and no usable rua: receivers do not apply the record"] : []),
    ...(applies && malformed ? ["because of the bad policy the record counts as p=none"] : []),
    ...(p === null && !malformed ? ["p is missing: the record counts as p=none"] : []),
    ...(p !== null && list.tags[1]?.name !== "p"
      ? ["p does not follow v: receivers by RFC 7489 ignore the record"]
      : []),
    ...(t === "y" ? ["t=y: testing, receivers apply one policy lower than written"] : []),
    ...(rua.length === 0 ? ["without rua nobody reports how the policy works"] : []),
    ...["rf", "ri"].filter((name) => tagValue(list, name) !== null).map((name) => `${name} was removed by RFC 9989`),
    ...list.repeated.map((name) => `${name} stands more than once; the first counts`),
    ...[...new Set(others)].slice(0, 5).map((name) => `unknown tag: ${shownText(name, 30)}`),
    ...list.faults.slice(0, 5).map((fault) => `no tag: ${shownText(fault, 30)}`),
  ];
}
