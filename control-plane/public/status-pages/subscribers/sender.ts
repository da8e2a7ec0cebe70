import type { App } from "#control-plane/core/app.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import type { ClaimedDelivery, Outcome, Sender, SentEvent } from "#control-plane/notify/deliveries/delivery.ts";
import { hiddenIncidents } from "#control-plane/outages/incidents/published.ts";
import type { Letter } from "#control-plane/notify/mail/content/letter.ts";
import type { MailHead } from "#control-plane/notify/mail/headers.ts";
import { MAIL_SCHEDULE, MAIL_TIMEOUT_MS, type Mailer } from "#control-plane/notify/mail/mailer.ts";
import {
  writePageConfirmation,
  writePageLetter,
  type PageNotice,
} from "#control-plane/public/status-pages/subscribers/letters.ts";
import {
  findSubscriber,
  readShownNames,
  type Subscriber,
} from "#control-plane/public/status-pages/subscribers/store.ts";
import { writeDuration } from "#shared/text/duration.ts";
import type { MonitorEventData } from "#control-plane/notify/events/monitor-event.ts";
import type { IncidentAnnouncement } from "#control-plane/outages/incidents/announcement.ts";
import { publicCause } from "#control-plane/outages/incidents/cause/public-cause.ts";
import { outageTitle } from "#control-plane/outages/incidents/texts.ts";
import { MOST_NAME } from "#control-plane/notify/mail/content/event-body.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";
import type { MaintenanceAnnouncement } from "#control-plane/outages/maintenance/announcement.ts";

/** Addresses that mails to one subscriber link to. */
interface SubscriberUrls {
  readonly page: string;
  readonly confirm: string;
  readonly unsubscribe: string;
  /** Address to which mail programs post (RFC 8058). */
  readonly oneClick: string;
}

/** Maximum number of mails to subscribers at the same time; alerts have their own. */
const CONCURRENCY = 4;

/** Creates the sender of mails to the subscribers of status pages. `host` is that of the service. */
export function createSubscriberSender(
  deps: Pick<App, "sql"> & {
    readonly mailer: Mailer;
    readonly urlsOf: (subscriber: Pick<Subscriber, "id" | "slug" | "domain" | "domainState">) => SubscriberUrls;
    readonly host: string;
  },
): Sender {
  const { sql, mailer, urlsOf, host } = deps;
  return {
    channel: "page",
    schedule: MAIL_SCHEDULE,
    timeoutMs: MAIL_TIMEOUT_MS,
    concurrency: CONCURRENCY,
    perReceiver: 1,
    // What fails is mostly the mail server, not the receiver: it is noted, and nothing is held back.
    probes: null,
    notesFailures: true,
    async send(delivery, signal) {
      const subscriber = await findSubscriber(sql, delivery.receiverId);
      if (subscriber === null || !subscriber.is_public) return NOT_NEEDED;
      const urls = urlsOf(subscriber);
      const written = await write(sql, subscriber, urls, delivery);
      if (written === null) return NOT_NEEDED;
      const { letter, head } = written;
      const { kind, incidentId } = head;
      const headers = {
        "X-Service-Event": kind,
        ...(incidentId === null ? {} : { "X-Service-Incident": String(incidentId) }),
        "List-Id": `<${subscriber.slug}.status.${host.replaceAll(/[^0-9A-Za-z.-]/g, "-")}>`,
        // One-click unsubscription (RFC 8058).
        "List-Unsubscribe": `<${urls.oneClick}>`,
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",
      };
      return mailer.send(delivery, { letter, to: subscriber.email, incidentId, headers }, signal);
    },
  };
}

const NOT_NEEDED: Outcome = {
  kind: "refused",
  isOwn: true,
  responseCode: null,
  code: "not_needed",
  message: "The address is not subscribed any more, or the page does not show this any more.",
};

/** Writes the mail of a delivery; null if it is no longer needed. */
async function write(
  sql: Sql,
  subscriber: Subscriber,
  urls: SubscriberUrls,
  { events, count }: ClaimedDelivery,
): Promise<{ readonly letter: Letter; readonly head: MailHead } | null> {
  const { title, isConfirmed } = subscriber;
  if (events[0].type === "page.confirm") {
    const letter = writePageConfirmation(title, urls.confirm, urls.page);
    return isConfirmed ? null : { letter, head: { kind: "confirm", incidentId: null } };
  }
  const [first, ...others] = isConfirmed ? await readNotices(sql, subscriber, events) : [];
  if (first === undefined) return null;
  const total = others.length + 1 + Math.max(0, count - events.length);
  const incidentId = total === 1 ? first.head.incidentId : null;
  const page = {
    title,
    url: urls.page,
    incidentUrl: incidentId === null ? null : `${urls.page}/incidents/${incidentId}`,
    unsubscribeUrl: urls.unsubscribe,
  };
  const letter = writePageLetter([first.notice, ...others.map(({ notice }) => notice)], total, page);
  return { letter, head: total === 1 ? first.head : { kind: "digest", incidentId: null } };
}

/** Describes those of the events that the page shows, each with the head of a mail about it alone. */
async function readNotices(
  sql: Sql,
  subscriber: Subscriber,
  events: readonly SentEvent[],
): Promise<readonly { readonly notice: PageNotice; readonly head: MailHead }[]> {
  const subjects = events.map(subjectOf);
  const names = await readShownNames(
    sql,
    subscriber.pageId,
    subjects.flatMap(({ monitorId }) => monitorId ?? []),
  );
  const hidden = await hiddenIncidents(
    sql,
    subjects.flatMap(({ incidentId }) => incidentId ?? []),
    subscriber,
  );
  const { show_causes: showCauses } = subscriber;
  return events.flatMap((event) => {
    const notice = toPageNotice(event, { names, hidden, showCauses });
    return notice === null ? [] : [{ notice, head: { kind: event.type, incidentId: subjectOf(event).incidentId } }];
  });
}

/** Facts about a page on which its notices depend. */
interface NoticeContext {
  /** Names on the page by monitor; monitors that it no longer shows are missing. */
  readonly names: ReadonlyMap<number, string>;
  /** Incidents that the page does not show. */
  readonly hidden: ReadonlySet<number>;
  /** Whether visitors read the causes of outages. */
  readonly showCauses: boolean;
}

/** An announcement as it is stored: those of older releases have no monitor. */
type StoredAnnouncement = Omit<IncidentAnnouncement, "monitor"> & Partial<Pick<IncidentAnnouncement, "monitor">>;

const MOST_LINE = 300;
const MOST_LINES = 40;

/** Returns the monitor and the incident that an event is about; null: none. */
function subjectOf(event: SentEvent): { readonly monitorId: number | null; readonly incidentId: number | null } {
  const { data } = readBody(event);
  const { monitor, incident_id: incidentId } = data as Partial<MonitorEventData>;
  return { monitorId: monitor?.id ?? null, incidentId: incidentId ?? null };
}

/** Describes an event for the subscribers of a page; null if the page does not show it. */
function toPageNotice(event: SentEvent, context: NoticeContext): PageNotice | null {
  const { names, hidden } = context;
  const { incidentId } = subjectOf(event);
  if (incidentId !== null && hidden.has(incidentId)) return null;
  const { data, at } = readBody(event);
  switch (event.type) {
    case "monitor.down":
    case "monitor.up":
      return describeMonitor(data as MonitorEventData, context, at);
    case "page.incident":
    case "page.update":
      return describeIncident(data as StoredAnnouncement, names, at);
    case "page.maintenance":
      return describeMaintenance(data as MaintenanceAnnouncement, at);
    default:
      return null;
  }
}

function readBody({ body }: SentEvent): { readonly data: object; readonly at: Date } {
  const { data, created_at: at } = JSON.parse(body) as { readonly data: object; readonly created_at: string };
  return { data, at: new Date(at) };
}

function describeMonitor(data: MonitorEventData, { names, showCauses }: NoticeContext, at: Date): PageNotice | null {
  const name = names.get(data.monitor.id);
  if (name === undefined) return null;
  const since = data.started_at === null ? [] : [["Since", formatTime(new Date(data.started_at))] as const];
  if (data.status === "down") {
    return { ...headed(name, outageTitle), paragraphs: [], facts: [...causeOf(data, showCauses), ...since], at };
  }
  const lasted = data.duration_seconds === null ? "" : ` after ${writeDuration(data.duration_seconds)}`;
  const head = headed(name, (shown) => `${shown} is up again${lasted}`);
  return { ...head, paragraphs: [], facts: [["Time", formatTime(at)]], at };
}

function causeOf({ cause }: MonitorEventData, showCauses: boolean): PageNotice["facts"] {
  if (cause === null) return [];
  return [["Cause", showCauses ? toPlainLine(cause.message, MOST_LINE) : publicCause(cause.code)]];
}

/** Describes an incident. The first title of an outage has the monitor's name on the page, which can hide its own. */
function describeIncident(
  { monitor = null, title, status, impact, text }: StoredAnnouncement,
  names: ReadonlyMap<number, string>,
  at: Date,
): PageNotice | null {
  const shown = monitor === null ? title : shownTitle(title, monitor.name, names.get(monitor.id));
  if (shown === null) return null;
  return {
    ...headed(shown, (line) => `${line}: ${status}`),
    paragraphs: linesOf(text),
    facts: [
      ["Impact", impact],
      ["Time", formatTime(at)],
    ],
    at,
  };
}

/** Returns the title of an outage on a page; null if the page does not show its monitor. */
function shownTitle(title: string, monitorName: string, shownName: string | undefined): string | null {
  if (shownName === undefined) return null;
  return title === outageTitle(monitorName) ? outageTitle(shownName) : title;
}

function describeMaintenance(data: MaintenanceAnnouncement, at: Date): PageNotice {
  const { title, starts_at: startsAt, duration_seconds: duration, is_repeated: isRepeated } = data;
  return {
    ...headed(title, (line) => `Maintenance: ${line}`),
    paragraphs: isRepeated ? ["It repeats; the status page shows the next times."] : [],
    facts: [
      ["Start", formatTime(new Date(startsAt))],
      ["Duration", writeDuration(duration)],
    ],
    at,
  };
}

/** Writes a headline with a name: in full for the text, and with the name cut for the subject. */
function headed(name: string, compose: (name: string) => string): Pick<PageNotice, "headline" | "subject"> {
  return { headline: compose(toPlainLine(name, MOST_LINE)), subject: compose(toPlainLine(name, MOST_NAME)) };
}

/** Splits a text into printable lines. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/).map((line) => toPlainLine(line, 1_000));
  return lines.filter((line) => line !== "").slice(0, MOST_LINES);
}
