import { optText, recordText } from "#probe-agent/exporter/dns/record-text.ts";
import type { Message } from "#probe-agent/dns-codec/message.ts";
import type { RecordConditions } from "#shared/blackbox/module.ts";
import type { ProbeLog } from "#probe-agent/exporter/probe.ts";

/** The records of a message as texts. OPT is one of the additional records. */
interface RecordTexts {
  readonly answers: readonly string[];
  readonly authority: readonly string[];
  readonly additional: readonly string[];
}

/** Writes the records of a message, or returns null if the RDATA of one is not valid. */
export function recordTexts({ answers, authority, additional, edns }: Message): RecordTexts | null {
  const sections = [answers, authority, additional].map((records) => records.map(recordText));
  const [one = [], two = [], three = []] = sections.map((texts) => texts.filter((text) => text !== null));
  if (one.length !== answers.length || two.length !== authority.length || three.length !== additional.length) {
    return null;
  }
  return { answers: one, authority: two, additional: edns === null ? three : [...three, optText(edns)] };
}

/**
 * Reports whether the records of a section meet its conditions. A section without records fails conditions of which a
 * record has to meet one, and passes the others.
 */
export function validateRecords(
  section: "Answer" | "Authority" | "Additional",
  texts: readonly string[],
  conditions: RecordConditions,
  log: ProbeLog,
): boolean {
  log("info", `Validating ${section} RRs`);
  const fault = findFault(texts, conditions, log);
  if (fault === null) return true;
  log("error", fault.message, fault.fields);
  log("error", `${section} RRs validation failed`);
  return false;
}

interface RecordFault {
  readonly message: string;
  readonly fields?: { readonly regexp: string; readonly rr: string };
}

function findFault(texts: readonly string[], conditions: RecordConditions, log: ProbeLog): RecordFault | null {
  const {
    fail_if_matches_regexp: forbidden,
    fail_if_all_match_regexp: notAll,
    fail_if_not_matches_regexp: required,
    fail_if_none_matches_regexp: oneOf,
  } = conditions;
  if (texts.length === 0 && required.length > 0) return { message: missing("fail_if_not_matches_regexp") };
  if (texts.length === 0 && oneOf.length > 0) return { message: missing("fail_if_none_matches_regexp") };
  for (const rr of texts) {
    log("info", "Validating RR", { rr });
    const found = forbidden.find((expression) => expression.matches(rr));
    if (found !== undefined) return { message: "At least one RR matched regexp", fields: { regexp: found.source, rr } };
    const failed = required.find((expression) => !expression.matches(rr));
    if (failed !== undefined) {
      return { message: "At least one RR did not match regexp", fields: { regexp: failed.source, rr } };
    }
  }
  const allMatch = texts.every((rr) => notAll.every((expression) => expression.matches(rr)));
  // The exporter's condition is the reverse of its name; so are the files that were written for it.
  if (notAll.length > 0 && !allMatch) return { message: "Not all RRs matched regexp" };
  const anyMatches = texts.some((rr) => oneOf.some((expression) => expression.matches(rr)));
  if (oneOf.length > 0 && !anyMatches) return { message: "None of the RRs did matched any regexp" };
  return null;
}

function missing(condition: string): string {
  return `${condition} specified but no RRs returned`;
}
