import type { Logger } from "pino";
import type { Clock, Random } from "#shared/clock.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import type { ClaimedDelivery, Outcome, Sender } from "#control-plane/deliveries/delivery.ts";
import { composeMail, parseMailbox } from "#control-plane/mail/compose.ts";
import { writeConfirmation } from "#control-plane/mail/content/confirmation.ts";
import { writeDigest } from "#control-plane/mail/content/digest.ts";
import { readNotice } from "#control-plane/mail/content/event-body.ts";
import { renderHtml, renderText, type Letter } from "#control-plane/mail/content/letter.ts";
import { writeNotice } from "#control-plane/mail/content/notice.ts";
import { headersOf, messageIdOf, threadOf, type MailHead } from "#control-plane/mail/headers.ts";
import { toOutcome } from "#control-plane/mail/outcome.ts";
import { openToken, queueConfirmations } from "#control-plane/mail/recipients/confirmations.ts";
import { findSealedToken } from "#control-plane/mail/recipients/store.ts";
import type { SmtpPool } from "#control-plane/mail/smtp/pool.ts";
import type { SmtpFault } from "#control-plane/mail/smtp/result.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";

/** Dependencies of the sender. */
interface MailSenderDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly encryption: Encryption;
  readonly pool: SmtpPool;
  /** Sender of the mails, as the setting has it. */
  readonly from: string;
  /** Address of the service, without a trailing slash. */
  readonly baseUrl: string;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Delays before the attempts to deliver a mail, milliseconds. */
const MAIL_SCHEDULE: readonly number[] = [0, 30 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR];
/** Maximum number of sessions with the mail server. */
const SESSIONS = 10;
/** Shortest time between two log lines about the mail server, milliseconds. */
const WARN_EVERY_MS = 60_000;

/** Creates the sender of mails. */
export function createMailSender(deps: MailSenderDeps): Sender {
  const { clock, log, pool, baseUrl } = deps;
  const from = parseMailbox(deps.from);
  let warnedAt = Number.NEGATIVE_INFINITY;

  /** Logs that the server takes no mail at all, which the operator must know. */
  function warn({ stage, replyCode, text }: SmtpFault): void {
    if (stage === "recipient" || stage === "message" || clock.monotonic() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = clock.monotonic();
    const detail = stage === "auth" ? {} : { reply: text.slice(0, 300) };
    log.warn({ code: "mail_server", stage, reply_code: replyCode, ...detail }, "the mail server accepts no mail");
  }

  return {
    channel: "mail",
    schedule: MAIL_SCHEDULE,
    timeoutMs: MINUTE,
    concurrency: SESSIONS,
    // One after the other, so that mails arrive in the order of their events.
    perReceiver: 1,
    prepare: () => queueConfirmations(deps),
    async send(delivery, signal) {
      const { recipient } = delivery;
      const written = await write(deps, delivery);
      if (written === null || recipient === null) return SUPERSEDED;
      const { letter, head } = written;
      const host = new URL(baseUrl).hostname;
      const raw = await composeMail({
        from,
        to: recipient,
        subject: letter.subject,
        text: renderText(letter),
        html: renderHtml(letter),
        date: clock.now(),
        messageId: messageIdOf(delivery, host),
        references: threadOf(head, host),
        headers: headersOf(head, host),
      });
      const result = await pool.send({ from: from.address, to: recipient, raw }, signal);
      if (!result.ok && !signal.aborted) warn(result.fault);
      return toOutcome(result);
    },
  };
}

/** Outcome of a confirmation mail that is no longer needed. */
const SUPERSEDED: Outcome = {
  kind: "refused",
  responseCode: null,
  code: "not_needed",
  message: "The address was confirmed or removed before this mail was sent.",
};

/** Writes the mail of a delivery; null if it is no longer needed. */
async function write(
  { sql, encryption, baseUrl }: MailSenderDeps,
  { events, count, receiverId }: ClaimedDelivery,
): Promise<{ readonly letter: Letter; readonly head: MailHead } | null> {
  const [event] = events;
  if (event.type === "confirm") {
    const sealed = await findSealedToken(sql, receiverId);
    const token = sealed === null ? null : openToken(encryption, sealed);
    return token === null
      ? null
      : { letter: writeConfirmation(token, baseUrl), head: { kind: "confirm", incidentId: null } };
  }
  const [first, ...others] = [readNotice(event), ...events.slice(1).map(readNotice)] as const;
  if (count === 1) {
    return { letter: writeNotice(first, baseUrl), head: { kind: first.type, incidentId: first.incidentId } };
  }
  return { letter: writeDigest([first, ...others], count, baseUrl), head: { kind: "digest", incidentId: null } };
}
