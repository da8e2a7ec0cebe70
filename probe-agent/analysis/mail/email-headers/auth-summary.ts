import { classifyAddress } from "#shared/egress.ts";
import type { HeaderRows } from "#probe-agent/analysis/mail/email-headers/rows.ts";
import {
  readAuthenticationResults,
  type AuthenticationResults,
  type MethodResult,
} from "#probe-agent/analysis/mail/email-headers/authentication-results.ts";
import type { Field } from "#probe-agent/analysis/mail/email-headers/fields.ts";
import { organisationOf } from "#probe-agent/analysis/mail/email-headers/received/operators.ts";
import { readReceived } from "#probe-agent/analysis/mail/email-headers/received/field.ts";
import type { ReceivedSpf } from "#probe-agent/analysis/mail/email-headers/received/spf.ts";
import { printable, printableOrNull } from "#probe-agent/analysis/text/printable.ts";

type Result = HeaderRows;
type Auth = Result["auth"];

/** An Authentication-Results field with whether its word counts. */
export interface TrustedResults {
  readonly parsed: AuthenticationResults;
  readonly trusted: boolean;
}

/** The receiver's word, and every field it was taken from or passed over. */
interface AuthSummary {
  readonly auth: Auth;
  readonly all: readonly TrustedResults[];
}

/** Fields looked at. */
const MAX_FIELDS = 100;
const METHODS = new Set(["spf", "dkim", "dmarc", "arc"]);

/**
 * Sums up Authentication-Results. The topmost field is the newest and the only one a sender cannot have put there; those
 * of the same name below it count as far down as every hop between is inside that organisation (RFC 8601 sections 4, 5
 * and appendix B.5). A field that names nobody and is below every hop was in the message before its first hop.
 */
export function summariseAuth(fields: readonly Field[], receivedSpf: readonly ReceivedSpf[]): AuthSummary {
  const all: TrustedResults[] = [];
  let top: { authservId: string | null; index: number } | null = null;
  let together = true;
  const oldestHop = fields.findLast(({ key }) => key === "received")?.index ?? Infinity;
  for (const { key, value, index } of fields) {
    if (key === "received" && together && top !== null) together = isInternal(value, top.authservId);
    if (key !== "authentication-results" || all.length >= MAX_FIELDS) continue;
    const parsed = readAuthenticationResults(value);
    // Exchange Online leaves such a field in the messages of its customers.
    const cameAlong = parsed.authservId === null && index > oldestHop;
    if (!cameAlong) top ??= { authservId: parsed.authservId, index };
    const isTrusted = !cameAlong && together && isSameHost(parsed.authservId, top?.authservId ?? null);
    all.push({ parsed, trusted: isTrusted });
  }
  const results = all.flatMap(({ parsed, trusted }) => (trusted ? parsed.results : []));
  const first = (method: string): MethodResult | undefined => results.find((result) => result.method === method);
  const arc = first("arc");
  return {
    all,
    auth: {
      authserv_id: printableOrNull(top?.authservId),
      confirmed: top === null ? null : confirms(fields, top),
      spf: spfOf(first("spf"), receivedSpf[0]),
      dkim: results.filter(({ method }) => method === "dkim").map(dkimOf),
      dmarc: dmarcOf(first("dmarc")),
      arc: arc === undefined ? null : verdictOf(arc),
      others: results
        .filter(({ method }) => !METHODS.has(method))
        .map((result) => ({ method: printable(result.method), ...verdictOf(result) })),
    },
  };
}

function sameName(one: string | null, other: string | null): boolean {
  return one?.toLowerCase() === other?.toLowerCase();
}

/** One name, or names of one organisation: iCloud's filters each have their own. */
function isSameHost(one: string | null, other: string | null): boolean {
  const organisation = organisationOf(one);
  return sameName(one, other) || (organisation !== null && organisation === organisationOf(other));
}

/** A hop between two hosts of the organisation, by the address's own name, or within its network. */
function isInternal(received: string, authservId: string | null): boolean {
  const { by, rdns, ip } = readReceived(received);
  const organisation = organisationOf(authservId);
  if (organisation === null || organisationOf(by) !== organisation) return false;
  return organisationOf(rdns) === organisation || (ip !== null && isPrivate(ip));
}

function isPrivate(ip: string): boolean {
  return classifyAddress(ip) !== "public";
}

/**
 * Whether the host that speaks received the message: as the newest Received field says, which the receiver wrote, or
 * those next to its results.
 */
function confirms(fields: readonly Field[], top: { authservId: string | null; index: number }): boolean | null {
  const { authservId, index } = top;
  if (authservId === null) return null;
  const isReceived = ({ key }: Field): boolean => key === "received";
  const hops = [
    fields.find(isReceived),
    fields.slice(0, index).findLast(isReceived),
    fields.slice(index).find(isReceived),
  ];
  const hosts = hops.flatMap((field) => (field === undefined ? [] : (readReceived(field.value).by ?? [])));
  const verdicts = hosts.flatMap((host) => {
    if (isSameHost(host, authservId)) return true;
    return organisationOf(host) === null || organisationOf(authservId) === null ? [] : false;
  });
  return verdicts.length === 0 ? null : verdicts.includes(true);
}

function verdictOf({ result, reason, comments }: MethodResult): { result: string; reason: string | null } {
  return { result: printable(result), reason: printableOrNull(reason ?? comments[0]) };
}

function propertyOf(result: MethodResult, ...names: readonly string[]): string | null {
  for (const name of names) {
    const found = result.properties.find(({ type, property }) => `${type}.${property}` === name);
    if (found !== undefined && found.value !== "") return found.value;
  }
  return null;
}

/** Words that receivers write where there is nothing to name: Exchange Online's "header.d=none" and its kin. */
const NOTHING = /^\(?(?:none|unknown|null|nil|n\/a|undefined|empty|missing|-|\?)?\)?$/i;

/** A property's value; null for the words that mean that there is none. */
function told(value: string | null): string | null {
  return value === null || NOTHING.test(value.replaceAll(/[<>"]/g, "").trim()) ? null : value;
}

/** The domain of an address, or of a bare domain; lower case. Null for "none" and other words that are no domain. */
export function domainOf(address: string | null): string | null {
  if (told(address) === null || address === null) return null;
  const bare = address.replaceAll(/[<>"]/g, "");
  const domain = told(bare.slice(bare.lastIndexOf("@") + 1));
  return domain === null ? null : printable(domain.toLowerCase().replace(/\.$/, ""));
}

function spfOf(result: MethodResult | undefined, received: ReceivedSpf | undefined): Auth["spf"] {
  if (result !== undefined) {
    const mailFrom = told(propertyOf(result, "smtp.mailfrom", "smtp.mfrom", "smtp.from", "smtp.envelope-from"));
    const helo = told(propertyOf(result, "smtp.helo"));
    const remark = result.comments.join(" ").slice(0, 1024);
    const ip = told(propertyOf(result, "smtp.remote-ip", "smtp.client-ip", "policy.iprev"));
    return {
      ...verdictOf(result),
      domain: domainOf(mailFrom ?? helo),
      scope: mailFrom !== null ? "mailfrom" : helo !== null ? "helo" : null,
      ip: printableOrNull(ip ?? /\b(?:sender ip is|designates) ([0-9a-f.:]{3,45})/i.exec(remark)?.[1]),
      source: "authentication-results",
    };
  }
  if (received === undefined) return null;
  const from = told(received.pairs.get("envelope-from") ?? null);
  const isHelo = received.pairs.get("identity")?.toLowerCase() === "helo";
  return {
    result: printable(received.result),
    reason: printableOrNull(received.comment),
    domain: domainOf(isHelo ? (received.pairs.get("helo") ?? null) : from),
    scope: isHelo ? "helo" : from === null ? null : "mailfrom",
    ip: printableOrNull(told(received.pairs.get("client-ip") ?? null)),
    source: "received-spf",
  };
}

function dkimOf(result: MethodResult): Auth["dkim"][number] {
  const identity = told(propertyOf(result, "header.i"));
  return {
    ...verdictOf(result),
    domain: domainOf(told(propertyOf(result, "header.d")) ?? identity),
    selector: printableOrNull(told(propertyOf(result, "header.s"))),
    identity: printableOrNull(identity),
  };
}

function dmarcOf(result: MethodResult | undefined): Auth["dmarc"] {
  if (result === undefined) return null;
  // Gmail and OpenDMARC write "(p=REJECT sp=REJECT dis=NONE)", Exchange "action=none".
  const remark = result.comments.join(" ").slice(0, 1024);
  const noted = (word: RegExp): string | null => word.exec(remark)?.[1] ?? null;
  const policy =
    propertyOf(result, "policy.dmarc", "policy.published-domain-policy", ".p") ?? noted(/\bp=([a-z]{2,20})/i);
  const done = propertyOf(result, "policy.applied-disposition", ".action", ".dis") ?? noted(/\bdis=([a-z]{2,20})/i);
  return {
    ...verdictOf(result),
    domain: domainOf(propertyOf(result, "header.from")),
    policy: printableOrNull(policy?.toLowerCase()),
    disposition: printableOrNull(done?.toLowerCase()),
  };
}
