import type { Logger } from "pino";
import type { Clock } from "#shared/clock.ts";
import type { ClaimedDelivery, Outcome } from "#control-plane/deliveries/delivery.ts";
import { composeMail, parseMailbox } from "#control-plane/mail/compose.ts";
import { renderHtml, renderText, type Letter } from "#control-plane/mail/content/letter.ts";
import { messageIdOf, threadOf } from "#control-plane/mail/headers.ts";
import { toOutcome } from "#control-plane/mail/outcome.ts";
import type { SmtpPool } from "#control-plane/mail/smtp/pool.ts";
import type { SmtpFault } from "#control-plane/mail/smtp/result.ts";

/** A letter with the header fields of its mail. */
interface AddressedLetter {
  readonly letter: Letter;
  readonly to: string;
  /** The incident that it is about, so that mail programs show its mails together; null: none. */
  readonly incidentId: number | null;
  /** Further header fields, ASCII. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends letters to the mail server. */
export interface Mailer {
  /** Sends the letter of a delivery, with the same Message-ID on every attempt. */
  send(delivery: ClaimedDelivery, addressed: AddressedLetter, signal: AbortSignal): Promise<Outcome>;
}

/** Dependencies of the mailer. */
interface MailerDeps {
  readonly clock: Clock;
  readonly log: Logger;
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
export const MAIL_SCHEDULE: readonly number[] = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  10 * HOUR,
];
/** Time limit of one attempt, milliseconds. */
export const MAIL_TIMEOUT_MS = MINUTE;
/** Shortest time between two log lines about the mail server, milliseconds. */
const WARN_EVERY_MS = 60_000;

/** Creates the mailer of one replica. */
export function createMailer({ clock, log, pool, baseUrl, ...deps }: MailerDeps): Mailer {
  const from = parseMailbox(deps.from);
  const host = new URL(baseUrl).hostname;
  let warnedAt = Number.NEGATIVE_INFINITY;

  /** Logs that the server takes no mail at all, which the operator must know. */
  function warn({ stage, replyCode, text }: SmtpFault): void {
    if (stage === "recipient" || stage === "message" || clock.monotonic() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = clock.monotonic();
    const detail = stage === "auth" ? {} : { reply: text.slice(0, 300) };
    log.warn({ code: "mail_server", stage, reply_code: replyCode, ...detail }, "the mail server accepts no mail");
  }

  return {
    async send(delivery, { letter, to, incidentId, headers }, signal) {
      const raw = await composeMail({
        from,
        to,
        subject: letter.subject,
        text: renderText(letter),
        html: renderHtml(letter),
        date: clock.now(),
        messageId: messageIdOf(delivery, host),
        references: threadOf(incidentId, host),
        headers,
      });
      const result = await pool.send({ from: from.address, to, raw }, signal);
      if (!result.ok && !signal.aborted) warn(result.fault);
      return toOutcome(result);
    },
  };
}
