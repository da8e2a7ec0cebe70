import { defineAnalysis } from "#probe-agent/analysis/analysis.ts";
import type { FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { parseTagList, toPrintableAscii, tagValue } from "#probe-agent/analysis/mail/tag-list.ts";

/** Kinds of findings on MTA-STS. */
export type MtaStsFindingId =
  | "mta-sts-record-malformed"
  | "mta-sts-several-records"
  | "mta-sts-policy-unreachable"
  | "mta-sts-policy-unreadable"
  | "mta-sts-policy-malformed"
  | "mta-sts-field-repeated"
  | "mta-sts-max-age-short"
  | "mta-sts-content-type"
  | "mta-sts-mx-mismatch";
/** One finding on MTA-STS. */
export type MtaStsDraft = FindingDraft<MtaStsFindingId>;

/** MTA-STS announcement in the TXT records at _mta-sts (RFC 8461 section 3.1). */
interface MtaStsAnnouncement {
  /** null if no record has the version of MTA-STS. */
  readonly record: string | null;
  /** Whether the domain has one valid record. */
  readonly present: boolean;
  /** Identifier of the policy's version; null without a valid record. */
  readonly id: string | null;
  readonly issues: readonly MtaStsDraft[];
}

/** A parsed policy file (section 3.2). Fields are null if absent or invalid. */
interface MtaStsPolicy {
  readonly version: string | null;
  readonly mode: "enforce" | "testing" | "none" | null;
  /** Lifetime in seconds. */
  readonly maxAgeS: number | null;
  readonly mx: readonly string[];
  readonly valid: boolean;
  readonly issues: readonly MtaStsDraft[];
}

const MAX_AGE_S = 31_557_600;
const WEEK_S = 604_800;
const DAY_S = 86_400;
const MAX_LINES = 1_000;
const MAX_MX = 50;
const MODES = ["enforce", "testing", "none"] as const;
const PATTERN = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Parses the TXT texts at _mta-sts. Senders ignore all of several MTA-STS records. */
export function readMtaStsRecord(texts: readonly string[]): MtaStsAnnouncement {
  const announcing = texts.filter((text) => /^v=STSv1[ \t]*;/.test(text));
  const [text] = announcing;
  if (text === undefined) {
    const near = texts.find((other) => /sts/i.test(other));
    const issues =
      near === undefined
        ? []
        : [
            malformedRecord(
              `The TXT record at _mta-sts must begin with "v=STSv1;" but is "${toPrintableAscii(near, 60)}".`,
            ),
          ];
    return { record: null, present: false, id: null, issues };
  }
  const record = toPrintableAscii(text, 500);
  if (announcing.length > 1) {
    const message = `There are ${announcing.length} MTA-STS records; senders ignore them all.`;
    return { record, present: false, id: null, issues: [{ id: "mta-sts-several-records", message }] };
  }
  const id = tagValue(parseTagList(text), "id");
  if (id === null || !/^[a-z0-9]{1,32}$/i.test(id)) {
    return {
      record,
      present: false,
      id: null,
      issues: [malformedRecord("The tag id must have 1 to 32 letters and digits; senders ignore the record.")],
    };
  }
  return { record, present: true, id, issues: [] };
}

function malformedRecord(message: string): MtaStsDraft {
  return { id: "mta-sts-record-malformed", message };
}

/** Parses a policy file. Lines end in CRLF or LF. The first of a repeated field counts; mx can be repeated. */
export function parseMtaStsPolicy(text: string): MtaStsPolicy {
  const fields = new Map<string, string>();
  const mx: string[] = [];
  const issues: MtaStsDraft[] = [];
  const fatal: MtaStsDraft[] = [];
  const addFault = (message: string): void => void fatal.push({ id: "mta-sts-policy-malformed", message });
  const addShortAge = (message: string): void => void issues.push({ id: "mta-sts-max-age-short", message });
  for (const line of text.split("\n", MAX_LINES)) {
    const trimmed = line.trim();
    if (trimmed === "") continue;
    const colon = trimmed.indexOf(":");
    const name = trimmed.slice(0, Math.max(0, colon));
    const value = trimmed.slice(colon + 1).trim();
    if (!/^[a-z0-9][a-z0-9_.-]{0,31}$/i.test(name))
      addFault(`"${toPrintableAscii(trimmed, 40)}" in the policy is not a field of the form name: value.`);
    else if (name === "mx") mx.push(value.toLowerCase());
    else if (fields.has(name))
      issues.push({
        id: "mta-sts-field-repeated",
        message: `The policy gives ${name} more than once; senders use the first.`,
      });
    else fields.set(name, value);
  }
  const version = fields.get("version") ?? null;
  if (version !== "STSv1") addFault("The policy's version must be STSv1.");
  const mode = MODES.find((known) => known === fields.get("mode")) ?? null;
  if (mode === null) addFault("The policy's mode must be enforce, testing or none.");
  const maxAgeS = readMaxAge(fields.get("max_age"));
  if (maxAgeS === null) addFault(`The policy's max_age must be a number of seconds up to ${MAX_AGE_S}.`);
  else if (maxAgeS < DAY_S && mode !== "none")
    addShortAge(`The policy's max_age is ${maxAgeS} s, less than one day: senders soon forget the policy.`);
  else if (maxAgeS < WEEK_S && mode === "enforce")
    addShortAge(`The policy's max_age is ${maxAgeS} s, less than one week; several weeks are recommended.`);
  if (mx.length === 0 && mode !== "none") addFault("The policy names no mail host (mx).");
  for (const bad of mx.filter((pattern) => !PATTERN.test(pattern)).slice(0, 5)) {
    addFault(`The policy's mx "${toPrintableAscii(bad, 60)}" is not a host name.`);
  }
  return {
    version: version === null ? null : toPrintableAscii(version, 30),
    mode,
    maxAgeS,
    mx: mx.slice(0, MAX_MX).map((pattern) => toPrintableAscii(pattern, 260)),
    valid: fatal.length === 0,
    issues: [...fatal.slice(0, 10), ...issues.slice(0, 10)],
  };
}

/** A policy of MTA-STS. */
export const mtaStsAnalysis = defineAnalysis("mta-sts", parseMtaStsPolicy);

function readMaxAge(value: string | undefined): number | null {
  if (value === undefined || !/^\d{1,10}$/.test(value)) return null;
  return Number(value) <= MAX_AGE_S ? Number(value) : null;
}

/** Reports whether a policy names a mail host. "*." matches exactly one label (section 4.1). */
export function policyNames(patterns: readonly string[], host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  const above = name.slice(name.indexOf(".") + 1);
  return patterns.some((pattern) =>
    pattern.startsWith("*.") ? pattern.slice(2) === above && above !== name : pattern === name,
  );
}
