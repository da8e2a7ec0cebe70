import { finding } from "#probe-agent/analysis/text/findings.ts";
import { registrableDomain } from "#shared/internet/registrable-domain.ts";
import {
  when,
  type AnomalyDraft,
  type ParsedHeaders,
} from "#probe-agent/analysis/mail/email-headers/anomalies/anomaly.ts";
import { domainOf } from "#probe-agent/analysis/mail/email-headers/auth-summary.ts";
import { findDisguise, INVISIBLE, type Disguise } from "#probe-agent/analysis/mail/email-headers/domains.ts";

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
export function addressAnomalies({ result, byKey }: ParsedHeaders): AnomalyDraft[] {
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
