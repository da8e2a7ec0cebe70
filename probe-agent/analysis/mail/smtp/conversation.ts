import type { ResultOf } from "#shared/tools/define.ts";
import type { smtpTest } from "#shared/tools/smtp-test.ts";
import type { Phase, SmtpSession } from "#probe-agent/analysis/mail/smtp/session.ts";
import type { SmtpLoss, SmtpTls } from "#probe-agent/port/smtp.ts";

/** Lines kept. */
export const MAX_TRANSCRIPT = 150;

/** One line of the transcript. */
export type Spoken = ResultOf<typeof smtpTest>["transcript"][number];

/** Everything a conversation showed. */
export interface Conversation {
  readonly session: SmtpSession;
  /** TLS was begun before the greeting. */
  readonly implicit: boolean;
  readonly tls: SmtpTls | null;
  /** What was waited for when nothing more came; null where all was answered. */
  readonly loss: {
    readonly phase: Phase;
    readonly loss: SmtpLoss;
    readonly received: string;
    readonly bytes: number;
  } | null;
  /** Milliseconds each phase took until its answer; starttls until TLS stood. */
  readonly timings: Readonly<Partial<Record<Phase, number>>>;
  readonly transcript: readonly Spoken[];
}
