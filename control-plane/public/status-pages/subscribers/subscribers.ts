import type { App } from "#control-plane/core/app.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { deleteInSteps, startUpkeep } from "#control-plane/core/database/upkeep.ts";
import type { Sender } from "#control-plane/notify/deliveries/delivery.ts";
import type { ReceiverSource, NewEvent, Receiver } from "#control-plane/notify/events/event.ts";
import { storeEvents } from "#control-plane/notify/events/events.ts";
import { spellMailAddress } from "#control-plane/core/mail-address.ts";
import { findLimits, recordMails } from "#control-plane/notify/mail/ledger.ts";
import type { Mailer } from "#control-plane/notify/mail/mailer.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { createPageUrls } from "#control-plane/public/status-pages/page-url.ts";
import {
  LINK_HOURS,
  makeLinkToken,
  readLinkToken,
  type LinkKind,
} from "#control-plane/public/status-pages/subscribers/links.ts";
import { createSubscriberSender } from "#control-plane/public/status-pages/subscribers/sender.ts";
import {
  askSubscriber,
  confirmSubscriber,
  countSubscribers,
  deleteOfPage,
  deleteSubscriber,
  deleteUnconfirmed,
  findSubscriber,
  listOfPage,
  listSubscribers,
  lockSubscriptions,
  type PageSubscriber,
  type Subscriber,
  findReceivers,
  type EventSubjects,
} from "#control-plane/public/status-pages/subscribers/store.ts";

/** Subscriptions to status pages by mail. */
export interface Subscribers {
  /** Finds the subscribers of events. */
  readonly source: ReceiverSource;
  /** Mails to subscribers; null if there is no mail server, so that nobody can subscribe. */
  readonly sender: Sender | null;
  /**
   * Mails a link to an address, by which its owner subscribes to a page, unless it is subscribed or the limits of
   * confirmation mails are reached. Returns false only if the text is no mail address: nobody learns who is subscribed.
   */
  subscribe(page: { readonly id: number; readonly accountId: number }, email: string): Promise<boolean>;
  /** Finds the subscriber of a link in a mail; null if the link is not valid, has expired, or is not needed any more. */
  findLink(kind: LinkKind, token: string): Promise<Subscriber | null>;
  /** Confirms the subscription of a link; null as for findLink. */
  confirm(token: string): Promise<Subscriber | null>;
  /** Ends the subscription of a link; null as for findLink. */
  unsubscribe(token: string): Promise<Subscriber | null>;
  /** Counts the confirmed subscribers of an account's pages, by the id of the page; a page without one is missing. */
  counts(accountId: number): Promise<ReadonlyMap<number, number>>;
  /** Lists the subscribers of a page of an account, newest first, and their total number. */
  list(
    sql: Queryable,
    page: { readonly accountId: number; readonly pageId: number },
    limits: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly subscribers: readonly PageSubscriber[]; readonly total: number }>;
  /** Removes a subscriber of a page of an account. Returns false if the page has none with this id. */
  remove(
    tx: Transaction,
    subscriber: { readonly accountId: number; readonly pageId: number; readonly id: number },
  ): Promise<boolean>;
  /** Returns the subscribers of an account's pages for its data export. */
  export(sql: Queryable, accountId: number): Promise<unknown>;
  /** Runs one round of the housekeeping. Several replicas can run it at the same time. */
  upkeep(): Promise<void>;
  /** Stops the housekeeping. */
  close(): void;
}

/** Maximum number of confirmed subscribers of a page. */
const MOST_SUBSCRIBERS = 50_000;
/** Time in milliseconds for which a link to confirm works, and after which an unconfirmed address is deleted. */
const LINK_MS = LINK_HOURS * 3_600_000;
const UPKEEP_MS = 3_600_000;
const DELETED_AT_ONCE = 1_000;
const MOST_EXPORTED = 100_000;

/** Opens the subscriptions of one replica. `baseUrl` is the address of the service, without a slash at its end. */
export function createSubscribers(
  deps: Pick<App, "sql" | "clock" | "random" | "log" | "timers"> & {
    readonly encryption: Encryption;
    readonly baseUrl: string;
    readonly mailer: Mailer | null;
  },
): Subscribers {
  const { sql, clock, random, encryption, baseUrl, mailer, log, timers } = deps;

  const urlOf = createPageUrls(baseUrl);

  function urlsOf({ id, ...page }: Pick<Subscriber, "id" | "slug" | "domain" | "domainState">) {
    const service = `${baseUrl}/status/${page.slug}`;
    const link = (at: string, kind: LinkKind): string => `${at}/${kind}/${makeLinkToken(encryption, kind, id)}`;
    const shown = urlOf(page);
    return {
      page: shown,
      confirm: link(shown, "confirm"),
      unsubscribe: link(shown, "unsubscribe"),
      // At the service: it works for as long as mails are kept, also when the domain belongs to somebody else.
      oneClick: link(service, "unsubscribe"),
    };
  }

  async function findLink(kind: LinkKind, token: string): Promise<Subscriber | null> {
    const id = readLinkToken(encryption, kind, token);
    const found = id === null ? null : await findSubscriber(sql, id);
    if (found === null || kind === "unsubscribe" || found.isConfirmed) return found;
    return found.askedAt.getTime() + LINK_MS < clock.now().getTime() ? null : found;
  }

  function upkeep(): Promise<void> {
    const before = new Date(clock.now().getTime() - LINK_MS);
    return deleteInSteps(DELETED_AT_ONCE, (limit) => deleteUnconfirmed(sql, before, limit));
  }

  const rounds = startUpkeep({
    everyMs: UPKEEP_MS,
    round: upkeep,
    name: "subscribers: housekeeping",
    log,
    timers,
  });

  return {
    source: createSubscriberSource(mailer !== null),
    sender: mailer === null ? null : createSubscriberSender({ sql, mailer, urlsOf, host: new URL(baseUrl).hostname }),
    async subscribe({ id: pageId, accountId }, given) {
      const email = spellMailAddress(given);
      if (email === null) return false;
      if (mailer === null) return true;
      await transact(sql, async (tx) => {
        const now = clock.now();
        const slug = await lockSubscriptions(tx, { pageId, accountId });
        if (slug === null) return;
        const asked = [{ purpose: "confirmation", accountId, email, page: slug, caller: null }] as const;
        const [limit] = await findLimits(tx, encryption, asked, now);
        if (limit !== null) return;
        const id = await askSubscriber(tx, { pageId, email }, now, MOST_SUBSCRIBERS);
        if (id === null) return;
        await recordMails(tx, encryption, asked, now);
        const event = {
          accountId,
          type: "page.confirm",
          createdAt: now,
          data: { page_id: pageId },
          monitorId: null,
          incidentId: null,
          isFlapping: false,
        } as const;
        const receiver = { channel: "page", receiverId: id, recipient: email, isReleased: true } as const;
        await storeEvents(tx, random, [{ event, receivers: [receiver] }]);
      });
      return true;
    },
    findLink,
    async confirm(token) {
      const found = await findLink("confirm", token);
      if (found !== null && !found.isConfirmed) await confirmSubscriber(sql, found.id, clock.now());
      return found;
    },
    async unsubscribe(token) {
      const found = await findLink("unsubscribe", token);
      if (found !== null) await deleteSubscriber(sql, found.id);
      return found;
    },
    counts: (accountId) => countSubscribers(sql, accountId),
    list: listOfPage,
    remove: deleteOfPage,
    export: (on, accountId) => listSubscribers(on, accountId, MOST_EXPORTED),
    upkeep,
    close: () => rounds.stop(),
  };
}

/** The parts of an event's data on which its receivers depend. */
interface SubjectData {
  readonly previous_status?: string;
  readonly monitor_ids?: readonly number[];
  readonly page_ids?: readonly number[];
  readonly tags?: readonly string[];
}

/**
 * Creates the source of the subscribers of status pages. They get outages and recoveries of monitors on their page, and
 * what people write for it.
 */
function createSubscriberSource(isConfigured: boolean): ReceiverSource {
  return {
    channel: "page",
    // An outage of many monitors is one mail.
    isBundled: true,
    async find(tx, events) {
      const receivers = events.map((): Receiver[] => []);
      const subjects = subjectsOf(events);
      if (!isConfigured || subjects.monitors.length + subjects.pages.length + subjects.tags.length === 0) {
        return receivers;
      }
      for (const { event, id, email, afterMinutes } of await findReceivers(tx, subjects)) {
        const isOutage = events[event]?.type === "monitor.down" && afterMinutes > 0;
        const waitMs = isOutage ? afterMinutes * 60_000 : null;
        receivers[event]?.push({ receiverId: id, recipient: email, waitMs });
      }
      return receivers;
    },
  };
}

function subjectsOf(events: readonly NewEvent[]): EventSubjects {
  const told = events.map((event, index) => ({ ...event, index })).filter(isForSubscribers);
  return {
    monitors: told.flatMap(({ index, monitorId, data }) => {
      const ids = monitorId === null ? ((data as SubjectData).monitor_ids ?? []) : [monitorId];
      return ids.map((id) => ({ event: index, monitorId: id }));
    }),
    pages: told.flatMap(({ index, data }) =>
      ((data as SubjectData).page_ids ?? []).map((pageId) => ({ event: index, pageId })),
    ),
    tags: told.flatMap(({ index, accountId, data }) =>
      ((data as SubjectData).tags ?? []).map((tag) => ({ event: index, accountId, tag })),
    ),
  };
}

/** Slowness, and its end, is no incident. */
function isForSubscribers({ type, data }: NewEvent): boolean {
  switch (type) {
    case "monitor.down":
    case "page.incident":
    case "page.update":
    case "page.maintenance":
      return true;
    case "monitor.up":
      return (data as SubjectData).previous_status !== "degraded";
    default:
      return false;
  }
}
