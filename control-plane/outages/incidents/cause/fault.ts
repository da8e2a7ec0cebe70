import type { Fault, MonitorTarget } from "#control-plane/outages/incidents/incident.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";
import { parseTarget } from "#control-plane/outages/kinds/server-target.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { splitHostPort } from "#shared/internet/host-port.ts";

/** A probe's message, split into the place it names and what it says about it. */
interface SplitMessage {
  /** Where a redirect led before the failure; null if there was none. */
  readonly redirectedTo: { readonly host: string; readonly port: number | null } | null;
  /** Port that the message names in front; null if it names none. */
  readonly port: number | null;
  /** The rest, printable, without a final full stop. */
  readonly words: string;
}

/** Maximum length of a message that is read. */
const MOST_READ = 1_000;
/** Maximum lengths in a sentence. */
const MOST_WORDS = 160;
const MOST_HOST = 80;

/**
 * Splits messages such as "192.0.2.1:443: connection timed out" and "after 1 redirect, at https://a.example/: ...".
 * The place in front differs between locations, so it would make one cause look like several.
 */
function splitMessage(message: string, targetHost: string): SplitMessage {
  const { url, rest } = splitRedirect(message.slice(0, MOST_READ));
  const { port, words } = splitPlace(rest, targetHost);
  const line = toPlainLine(withoutResolver(words), MOST_WORDS);
  return {
    redirectedTo: url === null ? null : { host: toPlainLine(url.hostname, MOST_HOST), port: portOf(url) },
    port,
    words: line.endsWith(".") ? line.slice(0, -1) : line,
  };
}

function splitRedirect(message: string): { readonly url: URL | null; readonly rest: string } {
  const at = message.indexOf(", at ");
  const end = message.indexOf(": ", at);
  if (!message.startsWith("after ") || at < 0 || end < 0) return { url: null, rest: message };
  const place = message.slice(at + ", at ".length, end);
  const isUrl = place.startsWith("https://") || place.startsWith("http://");
  return { url: URL.parse(isUrl ? place : `https://${place}`), rest: message.slice(end + 2) };
}

function splitPlace(text: string, targetHost: string): { readonly port: number | null; readonly words: string } {
  const end = text.indexOf(": ");
  const place = end < 0 ? undefined : splitHostPort(text.slice(0, end));
  // A first word without a dot or a colon is not a place, unless it is the target.
  const isPlace = place !== undefined && !place.host.includes(" ");
  if (!isPlace || !(place.port !== null || /[.:]/.test(place.host) || place.host === targetHost)) {
    return { port: null, words: text };
  }
  return { port: place.port, words: text.slice(end + 2) };
}

/**
 * Removes "SERVFAIL for example.com from resolver 192.0.2.53" from the front: each location has other resolvers. What
 * follows is the resolver's explanation.
 */
function withoutResolver(words: string): string {
  const at = words.indexOf(" from resolver ");
  if (at < 0) return words;
  const end = words.indexOf(": ", at);
  return end < 0 ? "" : words.slice(end + 2);
}

function portOf({ protocol, port }: URL): number | null {
  if (port !== "") return Number(port);
  return protocol === "http:" ? 80 : 443;
}

/** What a monitor connects to. */
interface Target {
  /** Host or domain name, printable. */
  readonly host: string;
  /** null if the check uses no port. */
  readonly port: number | null;
}

const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ["http:", 80],
  ["https:", 443],
  ["ws:", 80],
  ["wss:", 443],
]);

/** Returns host and port of a monitor's target. */
function readTarget({ url, checkType, settings }: MonitorTarget): Target {
  const parsed = parseTarget(url);
  const host = toPlainLine(parsed?.hostname ?? url, MOST_HOST);
  if (kindOf(checkType).target?.port !== "url") return { host, port: settings.port };
  if (parsed === null) return { host, port: null };
  return { host, port: parsed.port === "" ? (DEFAULT_PORTS.get(parsed.protocol) ?? null) : Number(parsed.port) };
}

/** One fault in the words of a cause. Faults of several locations with the same `key` are one cause. */
export interface DescribedFault {
  readonly key: string;
  /** A stable snake_case word. */
  readonly code: string;
  /** Beginning of a clause, in lower case but for abbreviations. */
  readonly headline: string;
  /** What follows the locations: " (port 443)", " after a redirect to www.example.org", ": the message". */
  readonly suffix: string;
}

const UNKNOWN: DescribedFault = {
  key: "unknown",
  code: "unknown",
  headline: "check failed",
  suffix: "",
};

/** Maximum length of the reason in a code. */
const MOST_REASON = 50;

/** Puts the fault of one location into words. */
export function describeFault(monitor: MonitorTarget, fault: Fault | null): DescribedFault {
  if (fault === null) return UNKNOWN;
  const target = readTarget(monitor);
  const { redirectedTo, port, words } = splitMessage(fault.message, target.host);
  const rule = findRule(monitor.checkType, fault.stage, readReason(fault.reason));
  const host = redirectedTo?.host ?? target.host;
  const headline = rule.headline({ host, timeoutSeconds: monitor.settings.timeout_seconds, words });
  const shownPort = rule.shows === "port" ? (port ?? redirectedTo?.port ?? target.port) : null;
  const redirect = headline.includes(host) ? " after a redirect" : ` after a redirect to ${host}`;
  const place = (host === target.host ? "" : redirect) + (shownPort === null ? "" : ` (port ${shownPort})`);
  const explanation = rule.code === "http_status" ? explainStatus(words) : "";
  const shownWords = rule.shows === "words" && words !== "" ? `: ${words}` : explanation;
  return {
    key: [rule.code, headline, place, rule.isMeasured === true ? "" : shownWords].join("\n"),
    code: rule.code,
    headline,
    suffix: place + shownWords,
  };
}

/** Returns a reason as a snake_case word: an account's own probe can send anything. */
function readReason(reason: string): string {
  const words = reason
    .slice(0, MOST_REASON)
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.filter((word) => word !== "").join("_") || "failed";
}

/** Facts that a headline names. */
interface Facts {
  /** Host that failed: the target, or where a redirect led. */
  readonly host: string;
  readonly timeoutSeconds: number;
  /** The probe's message, printable, without the place in front. */
  readonly words: string;
}

/** How a fault is put into words. */
interface Rule {
  /** A stable snake_case word. */
  readonly code: string;
  /** Beginning of a clause, in lower case but for abbreviations. */
  readonly headline: (facts: Facts) => string;
  /** Part of the fault that follows the locations. */
  readonly shows: "port" | "words" | "nothing";
  /** Whether the words name a time or size that differs between locations, so that they do not make two causes. */
  readonly isMeasured?: boolean;
}

type Entry = readonly [code: string, headline: string, shows: Rule["shows"]];

/** By stage and reason. {host}, {timeout} and {status} are replaced. */
const ENTRIES: Readonly<Record<string, Entry>> = {
  "dns nxdomain": ["dns_nxdomain", "DNS: NXDOMAIN for {host}", "nothing"],
  "dns no_address": ["dns_no_address", "DNS: no address for {host}", "nothing"],
  "dns servfail": ["dns_servfail", "DNS: SERVFAIL for {host}", "words"],
  "dns refused": ["dns_refused", "DNS: REFUSED for {host}", "nothing"],
  "dns timeout": ["dns_timeout", "DNS: no answer for {host}", "nothing"],
  "dns no_answer": ["dns_timeout", "DNS: no answer for {host}", "nothing"],
  "connect refused": ["connect_refused", "connection refused", "port"],
  "connect reset": ["connect_reset", "connection reset", "port"],
  "connect timeout": ["connect_timeout", "no connection within {timeout} s", "port"],
  "connect filtered": ["connect_timeout", "no connection within {timeout} s", "port"],
  "request timeout": ["timeout", "no answer within {timeout} s", "nothing"],
  "response timeout": ["timeout", "no answer within {timeout} s", "nothing"],
  "response closed": ["response_closed", "connection closed before the answer", "nothing"],
  "response reset": ["response_reset", "connection lost before the answer", "nothing"],
  "response incomplete": ["response_incomplete", "incomplete response", "words"],
  "response redirect_loop": ["redirect_loop", "redirect loop", "nothing"],
  "response too_many_redirects": ["too_many_redirects", "too many redirects", "nothing"],
  "response bad_location": ["bad_location", "redirect cannot be followed", "words"],
  "response unexpected_status": ["http_status", "{status}", "nothing"],
  "response keyword_missing": ["keyword_missing", "keyword not found", "words"],
  "response json_mismatch": ["json_mismatch", "JSON condition not met", "words"],
  "response json_missing": ["json_mismatch", "JSON condition not met", "words"],
  "response json_invalid": ["json_invalid", "JSON condition not met", "words"],
  "response keyword_present": ["keyword_present", "unwanted keyword found", "words"],
};

/** By stage, for reasons without an entry. The code becomes the stage and the reason. */
const STAGE_HEADLINES: Readonly<Record<Fault["stage"], string>> = {
  dns: "DNS look-up failed",
  connect: "connection failed",
  tls: "TLS handshake failed",
  request: "request failed",
  response: "bad response",
};

/** Reasons of TLS faults that are about the certificate. */
const CERTIFICATE_FAULTS: ReadonlySet<string> = new Set([
  "malformed",
  "expired",
  "not_yet_valid",
  "self_signed",
  "missing_intermediate",
  "untrusted_root",
  "untrusted",
  "bad_signature",
  "not_a_ca",
  "path_too_long",
  "name_constraints",
  "no_valid_policy",
  "wrong_usage",
  "unknown_critical_extension",
  "weak_signature",
  "weak_key",
  "revoked",
  "hostname_mismatch",
]);

/** Reasons of DNS answers that arrived and are not as the monitor expects. */
const DNS_CONDITIONS: ReadonlySet<string> = new Set([
  "no_records",
  "records_differ",
  "record_missing",
  "record_present",
  "alias_loop",
  "dnssec_bogus",
  "dnssec_insecure",
]);

/** Endings of reasons that a router or a firewall sends by ICMP. */
const ICMP_ENDINGS = ["unreachable", "prohibited", "exceeded"];

/** Finds the rule of a fault. `reason` is a snake_case word. */
function findRule(checkType: string, stage: Fault["stage"], reason: string): Rule {
  const own = kindOf(checkType).words.causes[`${stage} ${reason}`];
  if (own !== undefined) return { ...own, headline: () => own.headline };
  const entry = ENTRIES[`${stage} ${reason}`];
  if (entry !== undefined) {
    const [code, headline, shows] = entry;
    const isMeasured = code === "response_incomplete";
    return { code, headline: (facts) => fill(headline, facts), shows, isMeasured };
  }
  const rule: Rule = { code: `${stage}_${reason}`, headline: () => STAGE_HEADLINES[stage], shows: "words" };
  if (stage === "tls" && CERTIFICATE_FAULTS.has(reason)) {
    // The handshake itself has succeeded.
    const headline = (): string => "certificate not trusted";
    return { ...rule, code: `tls_certificate_${reason}`, headline, isMeasured: true };
  }
  if (stage === "dns" && DNS_CONDITIONS.has(reason)) return { ...rule, headline: () => "DNS answer not as expected" };
  if (stage === "connect" && ICMP_ENDINGS.some((ending) => reason.endsWith(ending))) {
    const words = reason === "unreachable" ? "host unreachable" : reason.replaceAll("_", " ");
    return { ...rule, headline: () => words, shows: "nothing" };
  }
  return rule;
}

function fill(headline: string, facts: Facts): string {
  switch (headline) {
    case "{status}":
      return describeStatus(facts.words);
    default:
      // A function: in replacement text, "$&" of a target would have a meaning.
      return headline.replace("{host}", () => facts.host).replace("{timeout}", String(facts.timeoutSeconds));
  }
}

const STATUS = /^expected ([\d ,.-]{3,80}), got (\d{3})(?= after a redirect was followed|$)/;

/** Reads messages such as "expected 200, got 503". */
function describeStatus(words: string): string {
  const [, expected, got] = STATUS.exec(words) ?? [];
  return got === undefined ? "unexpected HTTP status" : `HTTP ${got} instead of ${expected}`;
}

/** Says what the words about a status add to it: that a redirect was followed, where one is expected; "" if nothing. */
function explainStatus(words: string): string {
  const [found] = STATUS.exec(words) ?? [];
  const rest = found === undefined ? "" : words.slice(found.length).trim();
  return rest === "" ? "" : `, ${rest}`;
}
