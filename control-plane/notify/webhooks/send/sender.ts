import type { Egress } from "#shared/internet/egress.ts";
import { literalFamily } from "#shared/egress/addresses.ts";
import type { App } from "#control-plane/core/app.ts";
import type { ClaimedDelivery, Outcome, SentEvent, Sender } from "#control-plane/notify/deliveries/delivery.ts";
import { OVERTAKEN_CODE, readLaterEvents } from "#control-plane/notify/deliveries/later.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { isDatabaseAway } from "#control-plane/core/database/database-away.ts";
import type { EventType } from "#control-plane/notify/events/event.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { readKeyOf } from "#control-plane/notify/webhooks/alert-keys.ts";
import { isOvertaken } from "#control-plane/notify/webhooks/formats/dedup.ts";
import type { FormatEvent } from "#control-plane/notify/webhooks/formats/format.ts";
import { FORMATS } from "#control-plane/notify/webhooks/formats/formats.ts";
import { createExchanger, type Exchanged, type Exchanger } from "#control-plane/notify/webhooks/send/exchange.ts";
import type { SendFault } from "#control-plane/notify/webhooks/send/fault.ts";
import { signRequest } from "#control-plane/notify/webhooks/send/headers.ts";
import { createLookup, type Lookup } from "#control-plane/notify/webhooks/send/lookup.ts";
import { failWith, toOutcome } from "#control-plane/notify/webhooks/send/outcome.ts";
import type { StoredWebhook } from "#control-plane/notify/webhooks/webhook.ts";
import { LRUCache } from "lru-cache";
import { openSecrets, type WebhookSecrets } from "#control-plane/notify/webhooks/secrets.ts";
import { readWebhooks } from "#control-plane/notify/webhooks/store.ts";

const MOST_KEPT = 1_000;

/**
 * Creates a function that decrypts the secrets of subscriptions. Those that were used last are kept: a tenth of the time
 * of a delivery was their decryption.
 */
function createSecretReader(
  encryption: Encryption,
): (webhook: Pick<StoredWebhook, "id" | "secrets">) => WebhookSecrets {
  const kept = new LRUCache<number, { readonly sealed: Uint8Array; readonly opened: WebhookSecrets }>({
    max: MOST_KEPT,
  });
  return ({ id, secrets: sealed }) => {
    const known = kept.get(id);
    // Each change of the secrets is sealed anew, with another nonce.
    if (known !== undefined && Buffer.compare(known.sealed, sealed) === 0) return known.opened;
    const opened = openSecrets(encryption, sealed);
    kept.set(id, { sealed, opened });
    return opened;
  };
}

/** Settings of the sender. */
interface SenderSettings {
  /** Delays before the attempts, milliseconds. */
  readonly schedule: readonly number[];
  /** Time limit of one attempt, milliseconds. */
  readonly timeoutMs: number;
  /** Before this time the legacy signature is sent too. */
  readonly legacyUntil: Date;
  /** DNS servers; null: those of the system. */
  readonly dnsServers: readonly string[] | null;
  readonly userAgent: string;
  /** Address of the service, for links. */
  readonly baseUrl: string;
}

/** Dependencies of the sender. */
interface WebhookSenderDeps extends Pick<App, "sql" | "clock" | "log"> {
  readonly encryption: Encryption;
  /** Id of the installation, with which keys of alerts begin. */
  readonly installation: string;
  readonly egress: Egress;
  /** Makes a subscription inactive whose receiver takes no more events, unless it was changed since it was read. */
  readonly markGone: (attempted: StoredWebhook) => Promise<void>;
  readonly settings: SenderSettings;
}

/** Maximum number of attempts at the same time, of one replica and for one receiver. */
const CONCURRENCY = 512;
const PER_RECEIVER = 16;
/** The same for all receivers that are failing, together: those that work have the rest. */
const PROBES = 128;
/** Address family that is tried first. */
const FIRST_FAMILY = "ipv4";

/** Creates the sender of webhooks, which is closed when its queue has stopped. */
export function createWebhookSender(deps: WebhookSenderDeps): Sender & { close(): void } {
  const { sql, clock, encryption, egress, log, settings } = deps;
  const readSecrets = createSecretReader(encryption);
  const reader = createSubscriptionReader(sql);
  const lookup = createLookup(settings.dnsServers);
  const exchanger = createExchanger();

  async function attempt(webhook: StoredWebhook, delivery: ClaimedDelivery, signal: AbortSignal): Promise<Outcome> {
    const secrets = readSecrets(webhook);
    const format = FORMATS[webhook.format];
    const event = toFormatEvent(delivery.events[0]);
    if (format.keepsAlerts === true && delivery.attempt > 1) {
      const later = await readLaterEvents(sql, delivery);
      if (isOvertaken(event, later.map(toFormatEvent))) return OVERTAKEN;
    }
    const keyOf =
      format.keepsAlerts === true
        ? await readKeyOf(sql, deps.installation, { webhookId: webhook.id, event })
        : (key: string) => key;
    const target = { url: webhook.url, options: secrets.format_options, pageUrl: settings.baseUrl, keyOf };
    const request = format.build(event, target);
    const vetted = await vetTarget(request.url, { egress, lookup });
    if (!vetted.ok) return failWith(vetted.fault);
    const { body } = request;
    const signed = signRequest({ delivery, secrets, body, now: clock.now(), legacyUntil: settings.legacyUntil });
    const written = { ...signed, ...request.headers };
    const headers = joinHeaders(secrets.headers, written, { "user-agent": settings.userAgent });
    const exchanged = await sendToAny(exchanger, vetted, { headers, body }, signal);
    return toOutcome(exchanged, clock.now(), format);
  }

  async function markGone(webhook: StoredWebhook): Promise<void> {
    try {
      await deps.markGone(webhook);
    } catch (error) {
      // Its next event is answered with 410 too.
      log[isDatabaseAway(error) ? "debug" : "error"](
        { err: error, webhook_id: webhook.id },
        "webhooks: one is still active",
      );
    }
  }

  return {
    channel: "webhook",
    schedule: settings.schedule,
    timeoutMs: settings.timeoutMs,
    concurrency: CONCURRENCY,
    perReceiver: PER_RECEIVER,
    probes: PROBES,
    async send(delivery, signal) {
      const webhook = await reader.read(delivery.receiverId);
      if (webhook === null) return GONE;
      const isTest = delivery.events[0].type === "test";
      if (!webhook.is_active && !isTest) return INACTIVE;
      const outcome = await attempt(webhook, delivery, signal);
      if (outcome.kind === "refused" && outcome.code === "gone") await markGone(webhook);
      // A test is one attempt.
      return isTest && outcome.kind === "retry" ? { ...outcome, kind: "refused" } : outcome;
    },
    close: () => exchanger.close(),
  };
}

const GONE: Outcome = {
  kind: "refused",
  isOwn: true,
  responseCode: null,
  code: "webhook_deleted",
  message: "The webhook was deleted before this attempt.",
};

const INACTIVE: Outcome = {
  kind: "refused",
  isOwn: true,
  responseCode: null,
  code: "webhook_inactive",
  message: "The webhook was inactive at the time of this attempt.",
};

const OVERTAKEN: Outcome = {
  kind: "refused",
  isOwn: true,
  responseCode: null,
  code: OVERTAKEN_CODE,
  message: "A later event about the same alert was delivered before this attempt.",
};

/** Reads an event for a format. The standard format sends its bytes as they are. */
function toFormatEvent({ id, type, body }: SentEvent): FormatEvent {
  const { created_at, data } = JSON.parse(body) as { readonly created_at: string; readonly data: unknown };
  return { id, type: type as EventType, createdAt: created_at, body, data };
}

/**
 * Returns the header fields of a request, each name once: the fields of the service take the place of own ones, such as the
 * authorization of a format, and own ones that of the defaults. Those of the service and the defaults are in lower case.
 */
function joinHeaders(own: Headers, written: Headers, defaults: Headers): Headers {
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  return {
    ...Object.fromEntries(Object.entries(defaults).filter(([name]) => !names.has(name))),
    ...Object.fromEntries(Object.entries(own).filter(([name]) => !Object.hasOwn(written, name.toLowerCase()))),
    ...written,
  };
}

type Headers = Readonly<Record<string, string>>;

/** The address of a receiver with the addresses that may be connected to, or why there are none. */
type Vetted =
  | { readonly ok: true; readonly url: URL; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly fault: SendFault };

/** Looks a receiver up and checks all its addresses: one that is not allowed refuses the receiver. */
async function vetTarget(
  raw: string,
  { egress, lookup }: { readonly egress: Egress; readonly lookup: Lookup },
): Promise<Vetted> {
  const checked = egress.checkUrl(raw);
  if (!checked.ok || checked.url.protocol !== "https:") return { ok: false, fault: NOT_ALLOWED };
  const { url } = checked;
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  if (literalFamily(host) !== null) return { ok: true, url, addresses: [host] };
  const looked = await lookup.addressesOf(host);
  if (!looked.ok) return { ok: false, fault: looked.reason === "failed" ? DNS_FAILED : NO_ADDRESS };
  const { addresses } = looked;
  if (!addresses.every((address) => egress.allowsAddress(address))) return { ok: false, fault: NOT_ALLOWED };
  const first = addresses.filter((address) => literalFamily(address) === FIRST_FAMILY);
  return { ok: true, url, addresses: [...first, ...addresses.filter((address) => !first.includes(address))] };
}

/** Sends to the first address that takes the connection. A request that was sent is not sent to another. */
async function sendToAny(
  exchanger: Exchanger,
  { url, addresses }: Extract<Vetted, { readonly ok: true }>,
  request: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  signal: AbortSignal,
): Promise<Exchanged> {
  let last: Exchanged = { ok: false, fault: DNS_FAILED };
  for (const address of addresses) {
    last = await exchanger.post({ ...request, url, address }, signal);
    if (last.ok || signal.aborted || !NOT_CONNECTED.has(last.fault.code)) return last;
  }
  return last;
}

const NOT_CONNECTED: ReadonlySet<string> = new Set(["connection_refused", "unreachable"]);

const NOT_ALLOWED: SendFault = {
  code: "target_not_allowed",
  message: "The receiver has an address that webhooks cannot reach.",
};
const DNS_FAILED: SendFault = { code: "dns_failed", message: "The host name could not be looked up." };
const NO_ADDRESS: SendFault = { code: "dns_failed", message: "The host name has no address." };

/** Reads subscriptions for attempts: those that begin at the same moment with one statement. */
interface SubscriptionReader {
  /** Returns a subscription as it is now; null if it was deleted. Rejects while the database is away. */
  read(id: number): Promise<StoredWebhook | null>;
}

/** Creates the reader of one replica. */
function createSubscriptionReader(sql: Sql): SubscriptionReader {
  let waiting: { readonly ids: Set<number>; readonly found: Promise<ReadonlyMap<number, StoredWebhook>> } | null = null;

  async function readAll(ids: ReadonlySet<number>): Promise<ReadonlyMap<number, StoredWebhook>> {
    // Attempts of one claim begin in the same turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    waiting = null;
    const rows = await readWebhooks(sql, [...ids]);
    return new Map(rows.map((row) => [row.id, row]));
  }

  return {
    async read(id) {
      if (waiting === null) {
        const ids = new Set<number>();
        waiting = { ids, found: readAll(ids) };
      }
      waiting.ids.add(id);
      return (await waiting.found).get(id) ?? null;
    },
  };
}
