import { splitMessage } from "#control-plane/outages/incidents/cause/message.ts";
import { explainStatus, findRule } from "#control-plane/outages/incidents/cause/rules.ts";
import type { Fault, MonitorTarget } from "#control-plane/outages/incidents/incident.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";
import { parseTarget } from "#control-plane/outages/kinds/server-target.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

/** What a monitor connects to. */
interface Target {
  /** Host or domain name, printable. */
  readonly host: string;
  /** null if the check uses no port. */
  readonly port: number | null;
}

/** Maximum length of a name in a sentence. */
const MOST_HOST = 80;

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
