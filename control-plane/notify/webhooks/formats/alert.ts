import { readNotice, type Notice } from "#control-plane/notify/mail/content/event-body.ts";
import { writeNotice } from "#control-plane/notify/mail/content/notice.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import {
  alertChange,
  type AlertChange,
  type AlertId,
  type Severity,
} from "#control-plane/notify/webhooks/formats/dedup.ts";
import type { FormatEvent, FormatTarget } from "#control-plane/notify/webhooks/formats/format.ts";
import { withoutTrailing } from "#shared/text/strip-trailing.ts";

/**
 * An event as people read it, in the words of the mail about it. Strings are single lines of bounded length without
 * control characters and characters that reorder text; what a provider takes for markup is left to its format.
 */
export interface Alert extends AlertChange {
  readonly severity: Severity;
  /** Whether a problem is over and none begins. */
  readonly isResolved: boolean;
  /** One sentence. */
  readonly title: string;
  /** The same with the cause of a problem that begins, for providers that show one text. */
  readonly summary: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** Failing locations with their errors. */
  readonly locations: readonly string[];
  /** Host that the event is about; the monitor's name if it has none. */
  readonly source: string;
  /** The page to open first, then others. */
  readonly links: readonly (readonly [label: string, url: string])[];
  /** Beginning and duration of an outage; null: the event is about something else. */
  readonly startedAt: Date | null;
  readonly durationSeconds: number | null;
}

const MOST_SOURCE = 255;

/** Describes an event for a provider. Without the address of the service, links to it are left out. */
export function describeAlert(event: FormatEvent, { pageUrl, keyOf }: Pick<FormatTarget, "pageUrl" | "keyOf">): Alert {
  const { opens, resolves } = alertChange(event);
  const keyed = (alert: AlertId): AlertId => ({ ...alert, key: keyOf(alert.key) });
  const change: AlertChange = { opens: opens === null ? null : keyed(opens), resolves: resolves.map(keyed) };
  const { cause, ...words } = event.type === "test" ? writeTest(event, pageUrl) : writeEvent(event, pageUrl);
  const isResolved = change.opens === null && change.resolves.length > 0;
  return {
    ...change,
    ...words,
    severity: change.opens?.severity ?? "info",
    isResolved,
    // The cause of a problem that is over would read as one that goes on.
    summary: cause === null || isResolved ? words.title : `${words.title} ${cause}`,
  };
}

/** Lists what is known, one line each: facts and failing locations. */
export function listLines({ facts, locations }: Pick<Alert, "facts" | "locations">): readonly string[] {
  const listed = locations.length === 0 ? [] : ["Failing locations:", ...locations.map((item) => `- ${item}`)];
  return [...facts.map(([label, value]) => `${label}: ${value}`), ...listed];
}

/** A mark that shows at a glance what to do. */
export function symbolOf({ isResolved, severity }: Pick<Alert, "isResolved" | "severity">): string {
  if (isResolved) return "🟢";
  return { critical: "🔴", warning: "🟠", info: "🔵" }[severity];
}

type Words = Omit<Alert, keyof AlertChange | "severity" | "isResolved" | "summary"> & {
  /** One sentence; null if nothing is known. */
  readonly cause: string | null;
};

function writeTest({ createdAt }: FormatEvent, pageUrl: string | null): Words {
  return {
    title: "Test from Vantage: alerts arrive here.",
    cause: null,
    facts: [["Time", formatTime(new Date(createdAt))]],
    locations: [],
    source: "vantage",
    links: pageUrl === null ? [] : [["Vantage", pageUrl]],
    startedAt: null,
    durationSeconds: null,
  };
}

function writeEvent(event: FormatEvent, pageUrl: string | null): Words {
  const notice = readNotice(event);
  const base = withoutTrailing(pageUrl ?? "", (character) => character === "/");
  const { headline, facts, list, links } = writeNotice(notice, base);
  const flapping = [["Flapping", "it changed more than 4 times within an hour"]] as const;
  return {
    title: headline,
    cause: notice.cause,
    facts: notice.isFlapping ? [...facts, ...flapping] : facts,
    locations: list?.items ?? [],
    source: sourceOf(event, notice),
    // Links of mails begin with pictures. Without the address of the service, the links to it are no addresses.
    links: links.filter(([, url]) => isWebAddress(url)).toSorted(([a], [b]) => rank(a) - rank(b)),
    startedAt: notice.startedAt,
    durationSeconds: notice.durationSeconds,
  };
}

function sourceOf({ data }: FormatEvent, { name }: Notice): string {
  const { monitor } = data as { readonly monitor?: { readonly url?: string } };
  const url = monitor?.url ?? "";
  const host = URL.canParse(url) ? new URL(url).hostname : url;
  return toPlainLine(host, MOST_SOURCE) || name;
}

function isWebAddress(url: string): boolean {
  return URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol);
}

function rank(label: string): number {
  return label === "Incident" ? 0 : label === "Monitor" ? 1 : 2;
}
