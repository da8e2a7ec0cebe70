import type { Logger } from "pino";
import type { App } from "#control-plane/core/app.ts";
import type { ClaimedDelivery, Outcome } from "#control-plane/notify/deliveries/delivery.ts";
import { composeMail, parseMailbox, type Attachment } from "#control-plane/notify/mail/compose.ts";
import { renderHtml, renderText, type Letter } from "#control-plane/notify/mail/content/letter.ts";
import { messageIdFor, messageIdOf, threadsOf } from "#control-plane/notify/mail/headers.ts";
import { toOutcome } from "#control-plane/notify/mail/outcome.ts";
import type { SmtpPool } from "#control-plane/notify/mail/smtp-pool.ts";

/** A letter with the header fields of its mail. */
interface AddressedLetter {
  readonly letter: Letter;
  readonly to: string;
  /** The incident that it is about, so that mail programs show its mails together; null: none, or several. */
  readonly incidentId: number | null;
  /** The incidents of a digest, for the same reason. Default: none. */
  readonly incidentIds?: readonly number[];
  /** Further header fields, ASCII. */
  readonly headers: Readonly<Record<string, string>>;
  /** Default: none. */
  readonly attachments?: readonly Attachment[];
}

/** Sends letters to the mail server. */
export interface Mailer {
  /** Sends the letter of a delivery, with the same Message-ID on every attempt. */
  send(delivery: ClaimedDelivery, addressed: AddressedLetter, signal: AbortSignal): Promise<Outcome>;
  /** Sends a letter that is no delivery of an event. Only the failure of a first attempt has a line in the log. */
  sendAlone(mail: LoneLetter, signal: AbortSignal): Promise<Outcome>;
}

/** A letter that is no delivery of an event. */
interface LoneLetter {
  /** What its Message-ID is made of: unique, of letters, digits, points and hyphens. */
  readonly name: string;
  readonly letter: Letter;
  readonly to: string;
  readonly isFirst: boolean;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Attempts an hour apart: with the earlier ones they take 24 h at most, without the random addition to each delay. */
const HOURLY = 23;
/** Delays before the attempts to deliver a mail, milliseconds: short ones first, because a mail is an alarm. */
export const MAIL_SCHEDULE: readonly number[] = [
  0,
  10 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  ...Array.from({ length: HOURLY }, () => HOUR),
];
/** Time limit of one attempt, milliseconds. */
export const MAIL_TIMEOUT_MS = MINUTE;
/** The same for a mail that a user sends to test it, and waits for. */
export const TEST_MAIL_MS = 25 * SECOND;

/**
 * Creates the mailer of one replica. `from` is the sender of the mails, as the setting has it. `baseUrl` is the address
 * of the service, without a slash at its end.
 */
export function createMailer({
  clock,
  log,
  pool,
  baseUrl,
  ...deps
}: Pick<App, "clock" | "log"> & { readonly pool: SmtpPool; readonly from: string; readonly baseUrl: string }): Mailer {
  const from = parseMailbox(deps.from);
  const host = new URL(baseUrl).hostname;

  return {
    async send(delivery, { letter, to, incidentId, incidentIds = [], headers, attachments = [] }, signal) {
      const raw = await composeMail({
        from,
        to,
        subject: letter.subject,
        text: renderText(letter),
        html: String(renderHtml(letter)),
        date: clock.now(),
        messageId: messageIdOf(delivery, host),
        references: threadsOf(incidentId === null ? incidentIds : [incidentId], host),
        headers,
        attachments,
      });
      const result = await pool.send({ from: from.address, to, raw }, signal);
      const outcome = toOutcome(result);
      if (outcome.kind !== "delivered" && delivery.attempt === 1) logFailure(log, delivery, outcome);
      return outcome;
    },
    async sendAlone({ name, letter, to, isFirst }, signal) {
      const raw = await composeMail({
        from,
        to,
        subject: letter.subject,
        text: renderText(letter),
        html: String(renderHtml(letter)),
        date: clock.now(),
        messageId: messageIdFor(name, host),
        references: [],
        headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
        attachments: [],
      });
      const outcome = toOutcome(await pool.send({ from: from.address, to, raw }, signal));
      if (outcome.kind !== "delivered" && isFirst) {
        const { code, responseCode, message } = outcome;
        log.warn({ code, mail: name, reply_code: responseCode }, `a mail was not accepted: ${message}`);
      }
      return outcome;
    },
  };
}

/**
 * Logs that the first attempt of a mail failed. The message has the server's answer, cut and as one line; that to a
 * password is left out, because it can repeat it. Later attempts have no line: what lasts is an operator warning.
 */
function logFailure(
  log: Logger,
  { id, accountId, events }: ClaimedDelivery,
  { responseCode, code, message }: Exclude<Outcome, { readonly kind: "delivered" }>,
): void {
  const fields = { code, delivery_id: id, account_id: accountId, event: events[0].type, reply_code: responseCode };
  log.warn(fields, `a mail was not accepted: ${message}`);
}
