import type { App } from "#control-plane/core/app.ts";
import type { MailConfig } from "#control-plane/core/config.ts";
import type { Sql, Queryable } from "#control-plane/core/database/connect.ts";
import { startUpkeep } from "#control-plane/core/database/upkeep.ts";
import type { Sender, ClaimedDelivery, Outcome } from "#control-plane/notify/deliveries/delivery.ts";
import type { ReceiverSource } from "#control-plane/notify/events/event.ts";
import {
  createRecipients,
  type AccountEmails,
  type Recipients,
} from "#control-plane/notify/mail/recipients/recipients.ts";
import { createUnsubscriptions, type Unsubscriptions } from "#control-plane/notify/mail/recipients/unsubscriptions.ts";
import {
  createMailer,
  type Mailer,
  MAIL_SCHEDULE,
  MAIL_TIMEOUT_MS,
  TEST_MAIL_MS,
} from "#control-plane/notify/mail/mailer.ts";
import { createSmtpPool } from "#control-plane/notify/mail/smtp-pool.ts";
import { clientName } from "#shared/process/smtp-session.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import type { Attachment } from "#control-plane/notify/mail/compose.ts";
import { writeConfirmation } from "#control-plane/notify/mail/content/confirmation.ts";
import { writeDigest } from "#control-plane/notify/mail/content/digest.ts";
import { readNotice, type Notice } from "#control-plane/notify/mail/content/event-body.ts";
import type { HeartbeatFacts } from "#control-plane/notify/mail/content/heartbeat.ts";
import type { Letter } from "#control-plane/notify/mail/content/letter.ts";
import { writeNotice } from "#control-plane/notify/mail/content/notice.ts";
import { headersOf, type MailHead } from "#control-plane/notify/mail/headers.ts";
import { openToken, queueConfirmations } from "#control-plane/notify/mail/recipients/confirmations.ts";
import { findSealedToken } from "#control-plane/notify/mail/recipients/confirmations-store.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

/** Mail of one replica. */
export interface Mail {
  readonly recipients: Recipients;
  readonly unsubscriptions: Unsubscriptions;
  /** Finds whom events are mailed to: no one if there is no mail server. */
  readonly source: ReceiverSource;
  /** Sends mails; null if there is no mail server. */
  readonly sender: Sender | null;
  /** Sends other mails; null if there is no mail server. */
  readonly mailer: Mailer | null;
  /** Closes the sessions with the mail server. Call it when no mail is being sent any more. */
  close(): void;
}

/** What mails are written with. */
interface MailDeps extends Pick<App, "sql"> {
  /** Address of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly encryption: Encryption;
  /** Returns the lines about the evidence of an incident; null if there are none. */
  readonly evidenceLines: EvidenceLines;
  /** Returns what is known about a heartbeat as of an instant; null if the monitor is none any more. */
  readonly heartbeatFacts: ReadHeartbeatFacts;
  readonly pageLink: PageLink;
  readonly readPicture: ReadPicture;
}

const UPKEEP_MS = 3_600_000;

/**
 * Opens mail. It connects to the mail server when there is something to send; there is none if `config` is null.
 * `accountEmails` returns the accounts' own addresses by account; one without an address is missing.
 */
export function openMail(
  deps: MailDeps &
    Pick<App, "clock" | "random" | "log" | "timers"> & {
      readonly config: MailConfig | null;
      readonly accountEmails: AccountEmails;
    },
): Mail {
  const { config, baseUrl, log, timers } = deps;
  const recipients = createRecipients(deps);
  const unsubscriptions = createUnsubscriptions(deps);
  const pool = config === null ? null : createSmtpPool(config.server, clientName(baseUrl));
  const mailer = config === null || pool === null ? null : createMailer({ ...deps, pool, from: config.from });
  const upkeep = startUpkeep({
    everyMs: UPKEEP_MS,
    round: () => recipients.sweep(),
    name: "mail: housekeeping",
    log,
    timers,
  });
  return {
    recipients,
    unsubscriptions,
    source: {
      channel: "mail",
      isBundled: true,
      async find(tx, events) {
        if (pool === null) return events.map(() => []);
        const wanted = events.map(({ accountId, mailTo }) => ({
          accountId,
          emails: mailTo === undefined ? [] : mailTo,
        }));
        return recipients.recipientsOf(tx, wanted);
      },
    },
    sender:
      mailer === null ? null : createMailSender({ ...deps, mailer, unsubscribeUrl: (id) => unsubscriptions.urlOf(id) }),
    mailer,
    close() {
      upkeep.stop();
      pool?.close();
    },
  };
}

/** Returns what has changed and where it fails, one line each; null if no evidence was gathered. */
type EvidenceLines = (
  sql: Queryable,
  incidentId: number,
) => Promise<{ readonly changed: string; readonly where: string } | null>;

/** Returns what is known about a heartbeat as of an instant; null if the monitor is none any more. */
type ReadHeartbeatFacts = (sql: Queryable, monitorId: number, at: Date) => Promise<HeartbeatFacts | null>;

/** Returns the address of the page of a notice for one recipient, which needs no key. */
type PageLink = (mail: {
  /** null: the event belongs to no incident. */
  readonly incidentId: number | null;
  readonly eventId: string;
  readonly recipientId: number;
  readonly createdAt: Date;
}) => string;

/** Maximum number of sessions with the mail server. */
const SESSIONS = 10;
/** Creates the sender of mails. `unsubscribeUrl` returns the address by which a recipient unsubscribes. */
function createMailSender(
  deps: MailDeps &
    Pick<App, "clock" | "random"> & {
      readonly mailer: Mailer;
      readonly unsubscribeUrl: (recipientId: number) => string;
    },
): Sender {
  const { mailer, baseUrl } = deps;
  const host = new URL(baseUrl).hostname;
  return {
    channel: "mail",
    schedule: MAIL_SCHEDULE,
    timeoutMs: MAIL_TIMEOUT_MS,
    concurrency: SESSIONS,
    // One after the other, so that mails arrive in the order of their events.
    perReceiver: 1,
    // What fails is mostly the mail server, not the receiver: it is noted, and nothing is deferred.
    probes: null,
    notesFailures: true,
    prepare: () => queueConfirmations(deps),
    async send(delivery, signal) {
      const { recipient } = delivery;
      const written = await write(deps, delivery);
      if (written === null || recipient === null) return SUPERSEDED;
      const { head } = written;
      const url = head.kind === "confirm" || head.kind === "test" ? null : deps.unsubscribeUrl(delivery.receiverId);
      const letter = url === null ? written.letter : withLink(written.letter, ["Unsubscribe", url]);
      const { attachments = [], incidentIds = [] } = written;
      const headers = headersOf(head, host, url);
      const addressed = { letter, to: recipient, incidentId: head.incidentId, incidentIds, headers, attachments };
      if (head.kind !== "test") return mailer.send(delivery, addressed, signal);
      // A test is one attempt, and a user waits for it.
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(TEST_MAIL_MS)]);
      const outcome = await mailer.send(delivery, addressed, inTime);
      return outcome.kind === "retry" ? { ...outcome, kind: "refused" } : outcome;
    },
  };
}

function withLink(letter: Letter, link: Letter["links"][number]): Letter {
  return { ...letter, links: [...letter.links, link] };
}

/** Outcome of a confirmation mail that is no longer needed. */
const SUPERSEDED: Outcome = {
  kind: "refused",
  isOwn: true,
  responseCode: null,
  code: "not_needed",
  message: "The address was confirmed or removed before this mail was sent.",
};

/** Writes the mail of a delivery; null if it is no longer needed. */
async function write(
  { sql, encryption, baseUrl, evidenceLines, heartbeatFacts, pageLink, readPicture }: MailDeps,
  { events, count, receiverId, createdAt }: ClaimedDelivery,
): Promise<{
  readonly letter: Letter;
  readonly head: MailHead;
  readonly attachments?: readonly Attachment[];
  /** The incidents of a digest. */
  readonly incidentIds?: readonly number[];
} | null> {
  const [event] = events;
  if (event.type === "confirm") {
    const sealed = await findSealedToken(sql, receiverId);
    const token = sealed === null ? null : openToken(encryption, sealed);
    return token === null
      ? null
      : { letter: writeConfirmation(token, baseUrl), head: { kind: "confirm", incidentId: null } };
  }
  if (event.type === "test") {
    return { letter: writeTestMail(event.body, baseUrl), head: { kind: "test", incidentId: null } };
  }
  const [first, ...others] = [readNotice(event), ...events.slice(1).map(readNotice)] as const;
  const linkOf = ({ incidentId, eventId }: Notice): string =>
    pageLink({ incidentId, eventId, recipientId: receiverId, createdAt });
  if (count === 1) {
    const { kind, incidentId, monitorId, isHeartbeat, at } = first;
    // The evidence of a heartbeat is its pings.
    const hasEvidence = kind === "down" && !isHeartbeat;
    const evidence = hasEvidence && incidentId !== null ? await evidenceLines(sql, incidentId) : null;
    const heartbeat = isHeartbeat && monitorId !== null ? await heartbeatFacts(sql, monitorId, at) : null;
    const letter = writeNotice(first, baseUrl, { evidence, heartbeat, link: linkOf(first) });
    const head = { kind: first.type, incidentId: first.incidentId };
    return { head, ...(await attachPictures(sql, { notice: first, letter }, readPicture)) };
  }
  const isFlapping =
    [first, ...others].every(({ monitorId }) => monitorId === first.monitorId) &&
    events.some(({ type }) => type === "flapping");
  const kind = isFlapping ? "flapping" : "digest";
  const letter = writeDigest([first, ...others], count, { baseUrl, linkOf });
  const incidentIds = [first, ...others].flatMap(({ incidentId }) => incidentId ?? []);
  return { letter, head: { kind, incidentId: null }, incidentIds };
}

/** Reads a picture of a monitor, PNG; null if it was deleted. */
type ReadPicture = (sql: Sql, monitorId: number, id: number) => Promise<{ readonly content: Uint8Array } | null>;

/** Largest picture that is attached, octets. Mail servers refuse large mails. */
const MOST_OCTETS = 1_000_000;

/** Attaches the pictures of a changed page to its letter. One that is too large is named: the page of the mail has it. */
async function attachPictures(
  sql: Sql,
  { notice, letter }: { readonly notice: Notice; readonly letter: Letter },
  readPicture: ReadPicture,
): Promise<{ readonly letter: Letter; readonly attachments: readonly Attachment[] }> {
  const attachments: Attachment[] = [];
  const omitted: string[] = [];
  for (const { name, label, pictureId } of notice.page?.pictures ?? []) {
    const content = (await readPicture(sql, notice.monitorId ?? 0, pictureId))?.content ?? null;
    if (content === null) continue;
    if (content.length > MOST_OCTETS) omitted.push(`${label} (${(content.length / 1e6).toFixed(1)} MB)`);
    else attachments.push({ name: `${name}.png`, type: "image/png", content });
  }
  const paragraphs = omitted.length === 0 ? [] : [`Too large to attach: ${omitted.join(", ")}. The link shows it.`];
  return { letter: { ...letter, paragraphs: [...letter.paragraphs, ...paragraphs] }, attachments };
}

/** Maximum length of a monitor's name, characters. */
const MOST_NAME = 120;

/** Writes the mail by which a user tests whether the mails about a monitor arrive. `body` is that of the event. */
function writeTestMail(body: string, baseUrl: string): Letter {
  const { data } = JSON.parse(body) as { readonly data: { readonly monitor: { readonly name: string } } };
  const name = toPlainLine(data.monitor.name, MOST_NAME);
  return {
    subject: `Test: ${name}`,
    headline: `This is a test: nothing has happened to ${name}.`,
    paragraphs: ["A user of its account has asked for this mail. Alerts about this monitor are sent to this address."],
    facts: [],
    list: null,
    links: [],
    footer: `This address gets the notices of this monitor from Vantage at ${baseUrl}.`,
  };
}
