import type { MailServer } from "#shared/settings/mail-server.ts";
import type { RawMail, SmtpResult } from "#shared/process/smtp-result.ts";
import { openSession, type SmtpSession } from "#shared/process/smtp-session.ts";

/** Sends mails over sessions that it keeps open for a while. */
export interface SmtpPool {
  /** Sends a mail. Its number of calls at the same time is the number of sessions. */
  send(mail: RawMail, signal: AbortSignal): Promise<SmtpResult>;
  /** Ends the sessions that are not in use. */
  close(): void;
}

/** Time for connecting, TLS and signing in, and for the answer to RSET, milliseconds. */
const OPEN_MS = 15_000;
const RESET_MS = 5_000;
/** A session without mails is closed after this time, milliseconds. */
const IDLE_MS = 10_000;
/** Maximum number of mails over one session. */
const MOST_MAILS = 100;

interface KeptSession {
  readonly session: SmtpSession;
  mails: number;
  timer: NodeJS.Timeout | undefined;
}

/** Creates an empty pool. `name` introduces this client to the server. */
export function createSmtpPool(server: MailServer, name: string): SmtpPool {
  const idle: KeptSession[] = [];
  let isClosed = false;

  /** Takes a session that the server has not forgotten; undefined if there is none. */
  async function takeIdle(signal: AbortSignal): Promise<KeptSession | undefined> {
    for (let kept = idle.pop(); kept !== undefined; kept = idle.pop()) {
      clearTimeout(kept.timer);
      if (await kept.session.reset(AbortSignal.any([signal, AbortSignal.timeout(RESET_MS)]))) return kept;
    }
    return undefined;
  }

  function keep(kept: KeptSession): void {
    kept.mails += 1;
    if (isClosed || kept.mails >= MOST_MAILS) return kept.session.close();
    kept.timer = setTimeout(() => {
      remove(kept);
      kept.session.close();
    }, IDLE_MS);
    kept.timer.unref();
    idle.push(kept);
  }

  function remove(kept: KeptSession): void {
    const at = idle.indexOf(kept);
    if (at !== -1) idle.splice(at, 1);
  }

  return {
    async send(mail, signal) {
      let kept = await takeIdle(signal);
      if (kept === undefined) {
        const opened = await openSession(server, name, AbortSignal.any([signal, AbortSignal.timeout(OPEN_MS)]));
        if (!opened.ok) return { ok: false, fault: opened.fault };
        const fresh: KeptSession = { session: opened.session, mails: 0, timer: undefined };
        opened.session.onEnd(() => {
          clearTimeout(fresh.timer);
          remove(fresh);
        });
        kept = fresh;
      }
      const result = await kept.session.send(mail, signal);
      // After a reply, also a refusal, the session continues.
      if (result.ok || result.fault.replyCode !== null) keep(kept);
      return result;
    },
    close() {
      isClosed = true;
      for (const kept of idle.splice(0)) {
        clearTimeout(kept.timer);
        kept.session.close();
      }
    },
  };
}
