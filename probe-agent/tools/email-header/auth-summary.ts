import { classifyAddress } from "#shared/internet/egress.ts";
import type { HeaderRows } from "#probe-agent/tools/email-header/rows.ts";
import {
  readAuthenticationResults,
  type AuthenticationResults,
  type MethodResult,
} from "#probe-agent/tools/email-header/authentication-results.ts";
import type { Field } from "#probe-agent/tools/email-header/fields.ts";
import { organisationOf } from "#probe-agent/tools/email-header/received-operators.ts";
import { readReceived } from "#probe-agent/tools/email-header/received-field.ts";
import type { ReceivedSpf } from "#probe-agent/tools/email-header/received-spf.ts";
import { printable, printableOrNull } from "#probe-agent/analysis/text/printable.ts";

type Result = HeaderRows;
type Auth = Result["auth"];

/** An Authentication-Results field, and whether its results count. */
interface TrustedResults {
  readonly parsed: AuthenticationResults;
  readonly trusted: boolean;
}

/** Summary of the receiver's results, and all fields, counted or not. */
interface AuthSummary {
  readonly auth: Auth;
  readonly all: readonly TrustedResults[];
}

/** Maximum number of fields that are read. */
const MAX_FIELDS = 100;
const METHODS = new Set(["spf", "dkim", "dmarc", "arc"]);

/**
 * Summarizes Authentication-Results. The topmost field is the newest, and the only one that the sender cannot have
 * written. Older fields of the same host count while every hop between them is inside that organization (RFC 8601
 * sections 4, 5 and appendix B.5). A field without an authserv-id below every hop was in the message before its first
 * hop.
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
    // Exchange Online leaves such a field in messages of its customers.
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

/** Reports whether two names are equal or of one organization. The filters of iCloud have different names. */
function isSameHost(one: string | null, other: string | null): boolean {
  const organisation = organisationOf(one);
  return sameName(one, other) || (organisation !== null && organisation === organisationOf(other));
}

/** Reports whether a hop is inside the organization, by the reverse name of its client or a private address. */
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
 * Reports whether the host that wrote the results received the message, by the newest Received field (which the
 * receiver wrote) or the fields next to its results. Null if the names do not decide.
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

/** Words that receivers write for an absent value, such as "header.d=none" of Exchange Online. */
const NOTHING = /^\(?(?:none|unknown|null|nil|n\/a|undefined|empty|missing|-|\?)?\)?$/i;

/** Returns the value of a property; null for words that mean an absent value. */
function presentValue(value: string | null): string | null {
  return value === null || NOTHING.test(value.replaceAll(/[<>"]/g, "").trim()) ? null : value;
}

/** Returns the domain of an address or a bare domain in lower case. Null for "none" and similar words. */
export function domainOf(address: string | null): string | null {
  if (presentValue(address) === null || address === null) return null;
  const bare = address.replaceAll(/[<>"]/g, "");
  const domain = presentValue(bare.slice(bare.lastIndexOf("@") + 1));
  return domain === null ? null : printable(domain.toLowerCase().replace(/\.$/, ""));
}

function spfOf(result: MethodResult | undefined, received: ReceivedSpf | undefined): Auth["spf"] {
  if (result !== undefined) {
    const mailFrom = presentValue(propertyOf(result, "smtp.mailfrom", "smtp.mfrom", "smtp.from", "smtp.envelope-from"));
    const helo = presentValue(propertyOf(result, "smtp.helo"));
    const draft = result.comments.join(" ").slice(0, 1024);
    const ip = presentValue(propertyOf(result, "smtp.remote-ip", "smtp.client-ip", "policy.iprev"));
    return {
      ...verdictOf(result),
      domain: domainOf(mailFrom ?? helo),
      scope: mailFrom !== null ? "mailfrom" : helo !== null ? "helo" : null,
      ip: printableOrNull(ip ?? /\b(?:sender ip is|designates) ([0-9a-f.:]{3,45})/i.exec(draft)?.[1]),
      source: "authentication-results",
    };
  }
  if (received === undefined) return null;
  const from = presentValue(received.pairs.get("envelope-from") ?? null);
  const isHelo = received.pairs.get("identity")?.toLowerCase() === "helo";
  return {
    result: printable(received.result),
    reason: printableOrNull(received.comment),
    domain: domainOf(isHelo ? (received.pairs.get("helo") ?? null) : from),
    scope: isHelo ? "helo" : from === null ? null : "mailfrom",
    ip: printableOrNull(presentValue(received.pairs.get("client-ip") ?? null)),
    source: "received-spf",
  };
}

function dkimOf(result: MethodResult): Auth["dkim"][number] {
  const identity = presentValue(propertyOf(result, "header.i"));
  return {
    ...verdictOf(result),
    domain: domainOf(presentValue(propertyOf(result, "header.d")) ?? identity),
    selector: printableOrNull(presentValue(propertyOf(result, "header.s"))),
    identity: printableOrNull(identity),
  };
}

function dmarcOf(result: MethodResult | undefined): Auth["dmarc"] {
  if (result === undefined) return null;
  // Gmail and OpenDMARC write "(p=REJECT sp=REJECT dis=NONE)", Exchange "action=none".
  const draft = result.comments.join(" ").slice(0, 1024);
  const noted = (word: RegExp): string | null => word.exec(draft)?.[1] ?? null;
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

const MAX_COMMENTS = 10;

/** Makes the result row of an Authentication-Results field. */
export function resultsRow({ parsed, trusted }: TrustedResults): HeaderRows["authentication_results"][number] {
  return {
    authserv_id: printableOrNull(parsed.authservId),
    version: parsed.version,
    trusted,
    malformed: parsed.malformed,
    results: parsed.results.map(({ method, result, reason, properties, comments }) => ({
      method: printable(method),
      result: printable(result),
      reason: printableOrNull(reason),
      properties: properties.map(({ type, property, value }) => ({
        type: printable(type),
        property: printable(property),
        value: printable(value),
      })),
      comments: comments.slice(0, MAX_COMMENTS).map((comment) => printable(comment)),
    })),
  };
}

/** Makes the result row of a Received-SPF field. */
export function spfRow({ result, comment, pairs }: ReceivedSpf): HeaderRows["received_spf"][number] {
  const pair = (key: string): string | null => printableOrNull(pairs.get(key));
  return {
    result,
    comment: printableOrNull(comment),
    client_ip: pair("client-ip"),
    envelope_from: pair("envelope-from"),
    helo: pair("helo"),
    receiver: pair("receiver"),
    identity: pair("identity"),
    mechanism: pair("mechanism"),
    problem: pair("problem"),
  };
}
