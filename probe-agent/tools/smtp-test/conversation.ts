import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest } from "#shared/tools/smtp-test/contract.ts";
import type { Phase, SmtpSession } from "#probe-agent/tools/smtp-test/session.ts";
import type { SmtpLoss, SmtpTls } from "#probe-agent/port/smtp.ts";

/** Maximum number of lines in a transcript. */
export const MAX_TRANSCRIPT = 150;

/** One line of the transcript. */
export type TranscriptLine = ResultOf<typeof smtpTest>["transcript"][number];

/** Record of a conversation with a mail server. */
export interface Conversation {
  readonly session: SmtpSession;
  /** Whether TLS began before the greeting. */
  readonly implicit: boolean;
  /** null if TLS was not tried. */
  readonly tls: SmtpTls | null;
  /** Phase in which no reply came, with the octets received in it; null if the server replied to everything. */
  readonly loss: {
    readonly phase: Phase;
    readonly loss: SmtpLoss;
    readonly received: string;
    readonly bytes: number;
  } | null;
  /** Time of each phase until its reply, in milliseconds; of starttls until the TLS handshake completed. */
  readonly timings: Readonly<Partial<Record<Phase, number>>>;
  readonly transcript: readonly TranscriptLine[];
}
