import type { SentEvent } from "#control-plane/notify/deliveries/delivery.ts";
import { placelessOf, type MonitorEventData } from "#control-plane/notify/events/monitor-event.ts";
import type { VisualEventData } from "#control-plane/notify/events/visual-event.ts";
import type { ExpiryEventData } from "#control-plane/notify/events/expiry-event.ts";
import type { WebhookEventData } from "#control-plane/notify/events/webhook-event.ts";
import { describeExpiry } from "#control-plane/notify/mail/content/expiry.ts";
import type { NoticeText } from "#control-plane/notify/mail/content/notice-text.ts";
import { describeNoData } from "#control-plane/notify/mail/content/no-data.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";

const MOST_ADDRESS = 200;

/** Writes about a webhook that the service made inactive. `name` is that of the webhook. */
function describeDeactivated(data: WebhookEventData, name: string): NoticeText {
  const { webhook, reason, failing_since: since, failures } = data;
  const cause =
    reason === "gone"
      ? "The receiver answered 410: it takes no more events"
      : `${failures ?? 0} attempts failed in a row`;
  return {
    label: "Webhook turned off",
    counted: "webhooks turned off",
    headline: `The webhook ${name} was turned off. It gets no events until you turn it on again.`,
    facts: [
      ["Cause", cause],
      ...(since === null ? [] : ([["Failing since", formatTime(new Date(since))]] as const)),
      ["Receiver", toPlainLine(webhook.address, MOST_ADDRESS)],
    ],
  };
}

/** Writes about a monitor that is flapping, or no longer is; null for other events. `name` is that of the monitor. */
function describeFlapping(
  type: string,
  { phase, status = "unknown" }: Pick<Partial<MonitorEventData>, "phase" | "status">,
  name: string,
): NoticeText | null {
  if (type !== "flapping") return null;
  const facts = [["Status", status]] as const;
  switch (phase) {
    case "ends":
      return {
        label: `No longer flapping, ${status}`,
        counted: "no longer flapping",
        headline: `${name} is no longer flapping. It is ${status}.`,
        facts,
      };
    case "lasts":
      return {
        label: "Still flapping",
        counted: "still flapping",
        headline: `${name} is still flapping. Now it is ${status}.`,
        facts,
      };
    default:
      return {
        label: "Flapping",
        counted: "flapping",
        headline: `${name} is flapping: it changed more than 4 times within an hour. Now it is ${status}.`,
        facts,
      };
  }
}

const MOST_TEXT = 300;

/** Writes about what people should know about a monitor that is up. `name` is that of the monitor. */
function describeAdvisory({ advisory, cause }: Partial<MonitorEventData>, name: string): NoticeText {
  const message = advisory === undefined ? "" : toPlainLine(advisory.message, MOST_TEXT);
  return {
    label: "Advisory",
    counted: "advisories",
    headline: `${name} is up, with an advisory. ${message}`.trim(),
    facts: [
      ...(cause == null ? [] : ([["Cause", toPlainLine(cause.message, MOST_TEXT)]] as const)),
      ...(advisory === undefined ? [] : ([["Since", formatTime(new Date(advisory.since))]] as const)),
    ],
  };
}

/** An event about a monitor or a webhook, as mails show it. Strings are printable and bounded. */
export interface Notice {
  readonly kind: "down" | "up" | "degraded" | "not_degraded" | "reminder" | "visual" | "other";
  readonly eventId: string;
  /** Type of the event. */
  readonly type: string;
  readonly at: Date;
  readonly monitorId: number | null;
  readonly name: string;
  /** null if it has none, or none is known. */
  readonly target: string | null;
  /** Whether the monitor waits for pings. */
  readonly isHeartbeat: boolean;
  /** One sentence; null if nothing is known. */
  readonly cause: string | null;
  /** The newest cause of an outage, if it is not the first; else null. */
  readonly causeNow: string | null;
  /** Stable word for the cause; null if there is none. */
  readonly causeCode: string | null;
  readonly startedAt: Date | null;
  readonly durationSeconds: number | null;
  readonly responseMs: number | null;
  /** Response time above which the monitor is slow, milliseconds; null: not known, or it is about something else. */
  readonly limitMs: number | null;
  readonly isFlapping: boolean;
  readonly incidentId: number | null;
  /** How a page has changed; null for notices about anything else. */
  readonly page: {
    /** Pixels that differ, and the limit, percent. */
    readonly ratio: number;
    readonly threshold: number;
    readonly location: string;
    /** Pictures before and after, and what differs. The address needs a key. */
    readonly pictures: readonly NoticePicture[];
  } | null;
  /** About a webhook, to which no monitor belongs. */
  readonly webhookId: number | null;
  /** About a certificate, a registration or a webhook; null: about something else. */
  readonly text: NoticeText | null;
  /** Failing locations; a heartbeat has none. */
  readonly locations: readonly { readonly location: string; readonly fault: string; readonly since: Date | null }[];
}

/** A picture of a changed page. */
export interface NoticePicture {
  /** Part of its address and of a file's name. */
  readonly name: "latest" | "accepted" | "difference";
  readonly label: string;
  readonly pictureId: number;
  readonly url: string;
}

/** Maximum length of a monitor's name in a mail, and of any name in a subject, characters. */
export const MOST_NAME = 120;
const MOST_LOCATIONS = 50;

/** Data of every type of event. */
type AnyData = Partial<MonitorEventData> &
  Partial<Omit<ExpiryEventData, "monitor" | "cause">> &
  Partial<WebhookEventData>;

/** Reads the body of an event. Fields that an older release did not write are missing. */
export function readNotice({ id, type, body }: SentEvent): Notice {
  const parsed = JSON.parse(body) as { readonly created_at: string; readonly data: AnyData };
  const { data } = parsed;
  const { monitor, cause, webhook } = data;
  const placeless = monitor === undefined ? null : placelessOf(monitor.check_type);
  const name =
    toPlainLine((monitor ?? webhook)?.name ?? "", MOST_NAME) ||
    `${webhook === undefined ? "monitor" : "webhook"} ${(monitor ?? webhook)?.id ?? ""}`.trim();
  return {
    kind: noticeKindOf(type, data),
    eventId: id,
    type,
    at: new Date(parsed.created_at),
    monitorId: monitor?.id ?? null,
    name,
    target: monitor === undefined ? null : describeTarget(monitor, data.port ?? null),
    webhookId: webhook?.id ?? null,
    text:
      type === "webhook.deactivated"
        ? describeDeactivated(data as WebhookEventData, name)
        : type === "monitor.advisory"
          ? describeAdvisory(data, name)
          : (describeNoData(type, data, name) ??
            describeFlapping(type, data, name) ??
            describeExpiry(type, withCause(data), name)),
    isHeartbeat: placeless?.waitsForPings === true,
    cause: cause == null ? null : lineOf(cause),
    causeNow: data.cause_now == null || data.cause_now.message === cause?.message ? null : lineOf(data.cause_now),
    causeCode: cause?.code ?? null,
    startedAt: toDate(data.started_at),
    durationSeconds: data.duration_seconds ?? null,
    responseMs: data.response_time_ms ?? null,
    limitMs: data.degraded_ms ?? null,
    isFlapping: data.flapping ?? false,
    incidentId: data.incident_id ?? null,
    page: type === "visual.changed" ? readPage(body) : null,
    locations: placeless === null ? listLocations(data) : [],
  };
}

function lineOf({ message }: { readonly message: string }): string {
  return toPlainLine(message, MOST_TEXT);
}

function readPage(body: string): Notice["page"] {
  const { data } = JSON.parse(body) as { readonly data: VisualEventData };
  const { ratio, threshold_percent: threshold, location, accepted, latest, difference } = data;
  return {
    ratio,
    threshold,
    location: toPlainLine(location, MOST_NAME),
    pictures: [
      { name: "accepted", label: "Accepted picture", pictureId: accepted.picture_id, url: accepted.url },
      { name: "latest", label: "New picture", pictureId: latest.picture_id, url: latest.url },
      ...(difference === null
        ? []
        : [
            {
              name: "difference",
              label: "Difference",
              pictureId: difference.picture_id,
              url: difference.url,
            } as const,
          ]),
    ],
  };
}

/** The cause of an outage is null where there is none; that of an expiry is missing. */
function withCause({ monitor: _monitor, webhook: _webhook, cause, ...data }: AnyData): Partial<ExpiryEventData> {
  return cause == null ? data : { ...data, cause };
}

function describeTarget({ url, check_type: type }: MonitorEventData["monitor"], port: number | null): string | null {
  if (placelessOf(type) !== null) return null;
  return `${toPlainLine(url, MOST_TEXT)}${port === null ? "" : ` port ${port}`} (${type})`;
}

function listLocations({ locations = [] }: Partial<MonitorEventData>): Notice["locations"] {
  return locations.slice(0, MOST_LOCATIONS).map(({ location, error, since }) => ({
    location: toPlainLine(location, MOST_NAME),
    fault: error === null ? "no details" : withoutStop(toPlainLine(error.message, MOST_TEXT)),
    since: toDate(since),
  }));
}

/** Words follow the fault in its line. */
function withoutStop(sentence: string): string {
  return sentence.endsWith(".") ? sentence.slice(0, -1) : sentence;
}

function noticeKindOf(type: string, { previous_status: previous }: Partial<MonitorEventData>): Notice["kind"] {
  switch (type) {
    case "monitor.down":
      return "down";
    case "monitor.up":
      return previous === "degraded" ? "not_degraded" : "up";
    case "monitor.degraded":
      return "degraded";
    case "reminder":
      return "reminder";
    case "visual.changed":
      return "visual";
    default:
      return "other";
  }
}

function toDate(text: string | null | undefined): Date | null {
  return text == null ? null : new Date(text);
}
