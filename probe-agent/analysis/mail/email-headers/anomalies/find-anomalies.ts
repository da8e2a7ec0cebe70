import { SEVERITIES } from "#shared/contracts/findings.ts";
import { listFirst } from "#shared/text/list.ts";
import { addressAnomalies } from "#probe-agent/analysis/mail/email-headers/anomalies/address.ts";
import {
  when,
  type AnomalyDraft,
  type ParsedHeaders,
} from "#probe-agent/analysis/mail/email-headers/anomalies/anomaly.ts";
import { ANOMALY_ADVICE } from "#probe-agent/analysis/mail/email-headers/advice.ts";
import type { Anomaly } from "#probe-agent/analysis/mail/email-headers/rows.ts";
import { formAnomalies } from "#probe-agent/analysis/mail/email-headers/anomalies/form.ts";
import { CLOCK_AHEAD_MS } from "#probe-agent/analysis/mail/email-headers/arrival.ts";
import { isoOrNull } from "#probe-agent/analysis/mail/email-headers/received/hops.ts";

/** Difference of two clocks that is common, in seconds. */
const SKEW_S = 5;
const SLOW_S = 600;
const OLD_S = 86_400;
const MANY_HOPS = 30;
/** Maximum number of hops named in one message. */
const MAX_NAMED = 5;

/** Finds all anomalies of a message, most severe first. */
export function findAnomalies(parsed: ParsedHeaders): Anomaly[] {
  const found = [
    ...formAnomalies(parsed),
    ...addressAnomalies(parsed),
    ...traceAnomalies(parsed),
    ...authenticationAnomalies(parsed),
  ];
  return found
    .map(({ id, severity = ANOMALY_ADVICE[id].severity, where = null, message }) => ({ id, severity, where, message }))
    .toSorted((one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity));
}

/** Finds anomalies of signatures and authentication results. */
function authenticationAnomalies({ result, arrival }: ParsedHeaders): AnomalyDraft[] {
  const { auth, arc_chain: arc, dkim_signatures: signatures, authentication_results: fields } = result;
  const name = "Authentication-Results";
  const spf = auth.spf?.result ?? "";
  const failing = auth.dkim.some((verdict) => verdict.result === "fail");
  const passing = auth.dkim.some((verdict) => verdict.result === "pass");
  const foreign = fields.some(({ trusted }) => !trusted);
  return [
    ...when(
      auth.dmarc?.result === "fail",
      "dmarc_fail",
      name,
      "DMARC failed: the sender in From is not authenticated.",
    ),
    ...when(spf === "fail", "spf_fail", name, "SPF failed: the domain does not allow the sending host."),
    ...when(
      spf === "softfail",
      "spf_softfail",
      name,
      "SPF softfail: the domain probably does not allow the sending host.",
    ),
    ...when(failing && !passing, "dkim_fail", name, "No DKIM signature passed."),
    ...when(
      auth.confirmed === false,
      "authserv_id_foreign",
      name,
      "The host that wrote the results received the message neither last nor next to them: the results may be forged.",
    ),
    ...when(foreign, "results_not_counted", name, "Results of other hosts or of older hops were not counted."),
    ...when(arc !== null && !arc.valid_structure, "arc_broken", "ARC-Seal", "The ARC chain is incomplete or broken."),
    ...when(
      signatures.some(({ expired }) => expired === true),
      "dkim_expired",
      "DKIM-Signature",
      arrival.source === "now"
        ? "A DKIM signature has expired."
        : "A DKIM signature had expired when the message arrived.",
    ),
    ...when(
      signatures.some(({ l }) => l !== null),
      "dkim_partial_body",
      "DKIM-Signature",
      "A DKIM signature covers only part of the body (l=): anyone can append text.",
    ),
    ...when(
      signatures.some(({ other_issues: others }) => others.length > 0),
      "dkim_issues",
      "DKIM-Signature",
      "A DKIM signature has faults.",
    ),
  ];
}

/** Finds anomalies of dates and of the route. */
function traceAnomalies({ date, result, arrival, now }: ParsedHeaders): AnomalyDraft[] {
  const { hops } = result;
  const time = date?.time ?? null;
  const isAfterArrival = time !== null && time > arrival.time + CLOCK_AHEAD_MS;
  const latest = now.getTime() + CLOCK_AHEAD_MS;
  const negative = hops.filter(({ delay_s: delay }) => delay !== null && delay < -SKEW_S);
  const undated = hops.filter(({ timestamp }) => timestamp === null);
  const slow = hops.filter(({ delay_s: delay }) => (delay ?? 0) > SLOW_S);
  const gap = result.date_to_first_hop_s;
  const futureHops = hops.filter(({ timestamp }) => timestamp !== null && Date.parse(timestamp) > latest);
  return [
    ...when(
      date !== null && time === null,
      "malformed_date",
      "Date",
      date?.faults.includes("impossible") === true ? "The Date does not exist." : "The Date cannot be parsed.",
    ),
    ...when(
      date?.faults.includes("wrong_weekday") === true,
      "wrong_weekday",
      "Date",
      "The day of the week in the Date does not match the day.",
    ),
    ...when(
      isAfterArrival,
      "future_date",
      "Date",
      `The Date ${isoOrNull(time) ?? ""} is ${arrival.source === "now" ? "in the future" : "after the message arrived"}.`,
    ),
    ...when(futureHops.length > 0, "future_hop", "Received", `${nameHops(futureHops)} in the future.`),
    ...when(
      negative.length > 0,
      "negative_delay",
      "Received",
      `${nameHops(negative)} dated before the previous hop: clocks differ, or fields were forged.`,
    ),
    ...when(undated.length > 0, "undated_hop", "Received", `${nameHops(undated)} without a readable date.`),
    ...when(slow.length > 0, "slow_hop", "Received", `${nameHops(slow)} delayed by more than ten minutes.`),
    ...when(
      gap !== null && gap < -SKEW_S && !isAfterArrival,
      "date_after_first_hop",
      "Date",
      `The Date is ${Math.abs(gap ?? 0)} s after the first hop: the sender's clock is ahead.`,
    ),
    ...when(gap !== null && gap > OLD_S, "old_date", "Date", "The Date is more than one day before the first hop."),
    ...when(
      result.hop_count > MANY_HOPS,
      "many_hops",
      "Received",
      `${result.hop_count} hops: the message may have passed through a loop.`,
    ),
  ];
}

/** Returns the beginning of a sentence about hops, such as "Hops 1, 2 are". */
function nameHops(hops: readonly { readonly n: number }[]): string {
  const numbers = listFirst(
    hops.map(({ n }) => n),
    MAX_NAMED,
  );
  return hops.length === 1 ? `Hop ${numbers} is` : `Hops ${numbers} are`;
}
