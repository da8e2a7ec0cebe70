import type { Sql } from "#control-plane/core/database/connect.ts";
import type { ClaimedDelivery, Outcome, Sender, SentEvent } from "#control-plane/notify/deliveries/delivery.ts";
import { hiddenIncidents } from "#control-plane/outages/incidents/published/published.ts";
import type { Letter } from "#control-plane/notify/mail/content/letter.ts";
import type { MailHead } from "#control-plane/notify/mail/headers.ts";
import { MAIL_SCHEDULE, MAIL_TIMEOUT_MS, type Mailer } from "#control-plane/notify/mail/mailer.ts";
import {
  writePageConfirmation,
  writePageLetter,
  type PageNotice,
} from "#control-plane/public/status-pages/subscribers/letters.ts";
import { subjectOf, toPageNotice } from "#control-plane/public/status-pages/subscribers/notices.ts";
import {
  findSubscriber,
  readShownNames,
  type Subscriber,
} from "#control-plane/public/status-pages/subscribers/store.ts";

/** Addresses that mails to one subscriber link to. */
interface SubscriberUrls {
  readonly page: string;
  readonly confirm: string;
  readonly unsubscribe: string;
  /** Address to which mail programs post (RFC 8058). */
  readonly oneClick: string;
}

/** Dependencies of the sender. */
interface SubscriberSenderDeps {
  readonly sql: Sql;
  readonly mailer: Mailer;
  readonly urlsOf: (subscriber: Pick<Subscriber, "id" | "slug" | "domain" | "domainState">) => SubscriberUrls;
  /** Host of the service. */
  readonly host: string;
}

/** Maximum number of mails to subscribers at the same time; alerts have their own. */
const CONCURRENCY = 4;

/** Creates the sender of mails to the subscribers of status pages. */
export function createSubscriberSender(deps: SubscriberSenderDeps): Sender {
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
      if (subscriber === null || !subscriber.isPublic) return NOT_NEEDED;
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
  const { showCauses } = subscriber;
  return events.flatMap((event) => {
    const notice = toPageNotice(event, { names, hidden, showCauses });
    return notice === null ? [] : [{ notice, head: { kind: event.type, incidentId: subjectOf(event).incidentId } }];
  });
}
