import { SEVERITIES } from "#shared/contracts/findings.ts";
import { listFirst } from "#shared/text/list.ts";
import { when, type AnomalyDraft, type ParsedHeaders } from "#probe-agent/tools/email-header/anomaly.ts";
import { ANOMALY_ADVICE } from "#probe-agent/tools/email-header/advice.ts";
import type { Anomaly } from "#probe-agent/tools/email-header/rows.ts";
import { formAnomalies } from "#probe-agent/tools/email-header/form-anomalies.ts";
import { CLOCK_AHEAD_MS } from "#probe-agent/tools/email-header/arrival.ts";
import { isoOrNull } from "#probe-agent/tools/email-header/received-hops.ts";
import { finding } from "#probe-agent/analysis/text/findings.ts";
import { registrableDomain } from "#shared/internet/registrable-domain.ts";
import { domainOf } from "#probe-agent/tools/email-header/auth-summary.ts";
import { findDisguise, INVISIBLE, type Disguise } from "#probe-agent/tools/email-header/domains.ts";

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

/** Names of the fields in their usual spelling. */
const NAMES: Readonly<Record<string, string>> = {
  from: "From",
  sender: "Sender",
  "reply-to": "Reply-To",
  to: "To",
  cc: "Cc",
};
const DISGUISES: Readonly<Record<Disguise, string>> = {
  mixed_scripts: "mixes letters of different scripts",
  latin_look_alikes: "consists of letters that look like Latin letters",
  invisible_characters: "contains invisible characters",
};
const LOCAL_PART = /[^\s<>"'(),;:@]/;
const DOMAIN = /[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/uy;
/** Maximum number of characters of a display name that are searched for an address. */
const MAX_NAME = 512;
/** Maximum number of addresses that are checked for disguises. */
const MAX_ADDRESSES = 200;

/** Finds anomalies of the sender and of the addresses for replies and bounces. */
function addressAnomalies({ result, byKey }: ParsedHeaders): AnomalyDraft[] {
  const of = (field: string) => result.addresses.filter((address) => address.field === field);
  const froms = of("from");
  const fromDomains = new Set(froms.map(({ domain }) => registrableDomain(domain) ?? domain));
  const findOther = (domains: readonly (string | null)[]): string | undefined =>
    domains.find((domain) => domain !== null && !fromDomains.has(registrableDomain(domain) ?? domain)) ?? undefined;
  const bounce = domainOf(result.return_path === "<>" ? null : result.return_path);
  const known = fromDomains.size > 0;
  const returnDomain = known ? findOther([bounce]) : undefined;
  const replyDomain = known ? findOther(of("reply-to").map(({ domain }) => domain)) : undefined;
  const claimed = findClaimedDomain((result.from ?? "").slice(0, MAX_NAME));
  const isList = byKey.has("list-id") || byKey.has("list-post");
  const isEmpty = byKey.has("from") && froms.every(({ domain }) => domain === null);
  return [
    ...when(
      isEmpty,
      "empty_from",
      "From",
      claimed === null
        ? "From has no address with a domain."
        : `From has no address, but its text shows an address of ${claimed}.`,
    ),
    ...when(
      froms.length > 1 && !byKey.has("sender"),
      "several_from",
      "From",
      "From has several addresses and there is no Sender field (RFC 5322 section 3.6.2).",
    ),
    ...when(
      returnDomain !== undefined,
      "return_path_mismatch",
      "Return-Path",
      `Bounces go to another domain (${returnDomain ?? ""}) than the domain of From, which is common for mailing services.`,
    ),
    ...when(
      replyDomain !== undefined,
      "reply_to_mismatch",
      "Reply-To",
      `Replies go to another domain (${replyDomain ?? ""}) than the domain of From${isList ? ", which is common for mailing lists" : ""}.`,
      isList ? "info" : undefined,
    ),
    ...result.addresses.slice(0, MAX_ADDRESSES).flatMap(findAddressAnomalies),
  ];
}

/** Finds anomalies of one address: a misleading display name, a disguised domain, invisible characters. */
function findAddressAnomalies({ field, name, domain }: ParsedHeaders["result"]["addresses"][number]): AnomalyDraft[] {
  const written = NAMES[field] ?? field;
  const claimed = findClaimedDomain((name ?? "").slice(0, MAX_NAME))?.toLowerCase() ?? null;
  const isOther = claimed !== null && (registrableDomain(claimed) ?? claimed) !== (registrableDomain(domain) ?? domain);
  const disguise = domain === null ? null : findDisguise(domain);
  return [
    ...when(
      isOther,
      "display_name_is_address",
      written,
      `The display name shows an address of ${claimed ?? ""}, but the real address is of ${domain ?? "no domain"}.`,
      field === "from" || field === "reply-to" ? "critical" : "warning",
    ),
    ...(disguise === null
      ? []
      : [finding(`domain_${disguise}`, written, `The domain ${domain ?? ""} ${DISGUISES[disguise]}.`)]),
    ...when(
      INVISIBLE.test(name ?? ""),
      "invisible_characters",
      written,
      "A display name contains invisible or direction-changing characters.",
    ),
  ];
}

/** Finds the domain of the first mail address in a display name. A domain has no "@", so no character is read twice. */
function findClaimedDomain(name: string): string | null {
  for (let at = name.indexOf("@"); at !== -1; at = name.indexOf("@", at + 1)) {
    if (!LOCAL_PART.test(name.charAt(at - 1))) continue;
    DOMAIN.lastIndex = at + 1;
    const domain = DOMAIN.exec(name)?.[0];
    if (domain !== undefined) return domain;
  }
  return null;
}
