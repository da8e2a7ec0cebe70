import { registrableDomain } from "#shared/registrable-domain.ts";
import {
  anomaly,
  when,
  type Anomaly,
  type Examined,
} from "#probe-agent/analysis/mail/email-headers/anomalies/anomaly.ts";
import { domainOf } from "#probe-agent/analysis/mail/email-headers/auth-summary.ts";
import { disguiseOf, INVISIBLE, type Disguise } from "#probe-agent/analysis/mail/email-headers/domains.ts";

/** Names as they are written, by the word of `field`. */
const NAMES: Readonly<Record<string, string>> = {
  from: "From",
  sender: "Sender",
  "reply-to": "Reply-To",
  to: "To",
  cc: "Cc",
};
const DISGUISES: Readonly<Record<Disguise, string>> = {
  mixed_scripts: "mixes letters of different scripts",
  latin_look_alikes: "is written in letters that look like Latin ones",
  invisible_characters: "holds invisible characters",
};
const LOCAL_PART = /[^\s<>"'(),;:@]/;
const DOMAIN = /[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/uy;
/** Characters of a display name that are looked at for an address. */
const MAX_NAME = 512;
/** Addresses looked at for disguises. */
const MAX_ADDRESSES = 200;

/** What is odd about who the message is from and where an answer goes. */
export function addressAnomalies({ result, byKey }: Examined): Anomaly[] {
  const of = (field: string) => result.addresses.filter((address) => address.field === field);
  const froms = of("from");
  const fromDomains = new Set(froms.map(({ domain }) => registrableDomain(domain) ?? domain));
  const strangers = (domains: readonly (string | null)[]): string | undefined =>
    domains.find((domain) => domain !== null && !fromDomains.has(registrableDomain(domain) ?? domain)) ?? undefined;
  const bounce = domainOf(result.return_path === "<>" ? null : result.return_path);
  const known = fromDomains.size > 0;
  const returnStranger = known ? strangers([bounce]) : undefined;
  const replyStranger = known ? strangers(of("reply-to").map(({ domain }) => domain)) : undefined;
  const shown = claimedDomain((result.from ?? "").slice(0, MAX_NAME));
  const isList = byKey.has("list-id") || byKey.has("list-post");
  const isEmpty = byKey.has("from") && froms.every(({ domain }) => domain === null);
  return [
    ...when(
      isEmpty,
      "critical",
      "empty_from",
      "From",
      shown === null
        ? "From holds no address with a domain."
        : `From holds no address; its text shows one of ${shown}.`,
    ),
    ...when(
      froms.length > 1 && !byKey.has("sender"),
      "warning",
      "several_from",
      "From",
      "From holds several addresses and there is no Sender (RFC 5322 section 3.6.2).",
    ),
    ...when(
      returnStranger !== undefined,
      "info",
      "return_path_mismatch",
      "Return-Path",
      `Bounces go to another domain (${returnStranger ?? ""}) than that of From; ordinary for mailing services.`,
    ),
    ...when(
      replyStranger !== undefined,
      isList ? "info" : "warning",
      "reply_to_mismatch",
      "Reply-To",
      `Answers go to another domain (${replyStranger ?? ""}) than that of From${isList ? "; ordinary for mailing lists" : ""}.`,
    ),
    ...result.addresses.slice(0, MAX_ADDRESSES).flatMap(oddAddress),
  ];
}

function oddAddress({ field, name, domain }: Examined["result"]["addresses"][number]): Anomaly[] {
  const written = NAMES[field] ?? field;
  const claimed = claimedDomain((name ?? "").slice(0, MAX_NAME))?.toLowerCase() ?? null;
  const isOther = claimed !== null && (registrableDomain(claimed) ?? claimed) !== (registrableDomain(domain) ?? domain);
  const disguise = domain === null ? null : disguiseOf(domain);
  return [
    ...when(
      isOther,
      field === "from" || field === "reply-to" ? "critical" : "warning",
      "display_name_is_address",
      written,
      `The display name shows an address of ${claimed ?? ""}, the real one is of ${domain ?? "no domain"}.`,
    ),
    ...(disguise === null
      ? []
      : [anomaly("critical", `domain_${disguise}`, written, `The domain ${domain ?? ""} ${DISGUISES[disguise]}.`)]),
    ...when(
      INVISIBLE.test(name ?? ""),
      "warning",
      "invisible_characters",
      written,
      "A display name holds invisible or direction-changing characters.",
    ),
  ];
}

/** The domain of the first mail address in a display name. A domain holds no "@", so nothing is read twice. */
function claimedDomain(name: string): string | null {
  for (let at = name.indexOf("@"); at !== -1; at = name.indexOf("@", at + 1)) {
    if (!LOCAL_PART.test(name.charAt(at - 1))) continue;
    DOMAIN.lastIndex = at + 1;
    const domain = DOMAIN.exec(name)?.[0];
    if (domain !== undefined) return domain;
  }
  return null;
}
