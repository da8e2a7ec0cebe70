import type { Outcome } from "#control-plane/notify/deliveries/delivery.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import type { SmtpFault, SmtpResult, SmtpStage } from "#shared/process/smtp-result.ts";

/** Words of a stage: the code of a delivery that failed in it, and a sentence for people. */
type StageWords = readonly [code: string, message: string];

const WORDS: Readonly<Record<SmtpStage, StageWords>> = {
  connect: ["smtp_unreachable", "The mail server cannot be reached."],
  tls: ["smtp_tls", "TLS with the mail server failed."],
  greeting: ["smtp_greeting", "The mail server did not accept the connection."],
  auth: ["smtp_auth", "The mail server did not accept the user and password, or offers no way to use them."],
  sender: ["smtp_sender_refused", "The mail server refused the sender."],
  recipient: ["smtp_recipient_refused", "The mail server refused the recipient."],
  message: ["smtp_message_refused", "The mail server refused the message."],
  lost: ["smtp_connection_lost", "The connection to the mail server was lost before its answer."],
};

/** Codes of faults that say nothing about one recipient: they are over when the server has taken any other mail. */
export const SERVER_FAULTS: readonly string[] = [
  "timeout",
  ...Object.entries(WORDS).flatMap(([stage, [code]]) => (stage === "recipient" || stage === "message" ? [] : code)),
];

const MOST_TEXT = 300;
/** Replies that are about this client, not about the recipient: bad sequence, authentication required. */
const OWN_FAULT: ReadonlySet<number> = new Set([503, 530]);

/**
 * Decides what a result means for a delivery. Only a permanent reply (5yz) to the recipient or to the message ends it:
 * everything else is a state of the server, or a mistake that the operator corrects, and is tried again.
 */
export function toOutcome(result: SmtpResult): Outcome {
  if (result.ok) return { kind: "delivered", responseCode: result.replyCode };
  const { stage, replyCode } = result.fault;
  const isFinal =
    (stage === "recipient" || stage === "message") &&
    replyCode !== null &&
    replyCode >= 500 &&
    !OWN_FAULT.has(replyCode);
  return {
    kind: isFinal ? "refused" : "retry",
    responseCode: replyCode,
    code: WORDS[stage][0],
    message: describe(result.fault),
  };
}

/** Adds the server's reply. Replies to a password are left out, because they can repeat it. */
function describe({ stage, replyCode, text }: SmtpFault): string {
  const [, message] = WORDS[stage];
  return replyCode === null || stage === "auth" ? message : `${message} Reply: ${toPlainLine(text, MOST_TEXT)}`;
}
