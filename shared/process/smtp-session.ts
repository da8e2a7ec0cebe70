import { connect, isIP } from "node:net";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { MailServer } from "#shared/settings/mail-server.ts";
import type { RawMail, SmtpFault, SmtpResult, SmtpStage } from "#shared/process/smtp-result.ts";

/** A session with the mail server. It sends one mail after the other. */
export interface SmtpSession {
  /** Sends a mail. */
  send(mail: RawMail, signal: AbortSignal): Promise<SmtpResult>;
  /** Prepares for the next mail. Returns false if the session is no longer usable. */
  reset(signal: AbortSignal): Promise<boolean>;
  /** Calls a function when the session ends by itself. */
  onEnd(listener: () => void): void;
  /** Ends the session: with QUIT if nothing is in progress. */
  close(): void;
}

/** An open session, or why there is none. */
type OpenedSession =
  | { readonly ok: true; readonly session: SmtpSession }
  | { readonly ok: false; readonly fault: SmtpFault };

/** Milliseconds of silence after which the library itself gives up; the signal usually ends a session earlier. */
const SILENCE_MS = 120_000;
/** Time for QUIT, milliseconds. */
const QUIT_MS = 1_000;

/** Opens a session: connects, starts TLS and signs in as the server's settings say. `name` introduces this client. */
export async function openSession(server: MailServer, name: string, signal: AbortSignal): Promise<OpenedSession> {
  const { host, port, tls, isVerified, credentials } = server;
  const socket = connect({ host, port });
  const connection = new SMTPConnection({
    connection: socket,
    host,
    port,
    name,
    secure: tls === "implicit",
    requireTLS: tls === "required",
    ignoreTLS: tls === "never",
    tls: { rejectUnauthorized: isVerified, ...(isIP(host) === 0 ? { servername: host } : {}) },
    greetingTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
  });
  const broken = Promise.withResolvers<never>();
  // Without a step in progress no one waits for it.
  broken.promise.catch(() => {});
  const breakOff = (error: unknown): void => {
    broken.reject(error);
    socket.destroy();
  };
  socket.on("error", breakOff);
  socket.on("close", () => breakOff(new Error("the connection was closed")));
  connection.on("error", breakOff);
  connection.on("end", () => breakOff(new Error("the connection was closed")));

  /** Runs one step of the dialogue. Rejects if it fails, if the connection breaks, and when the signal is aborted. */
  async function step<T>(until: AbortSignal, run: (done: (error: unknown, value?: T) => void) => void): Promise<T> {
    const finished = Promise.withResolvers<T>();
    finished.promise.catch(() => {});
    const abort = (): void => breakOff(new Error("the time is up"));
    if (until.aborted) abort();
    until.addEventListener("abort", abort, { once: true });
    try {
      run((error, value) => (error ? finished.reject(error) : finished.resolve(value as T)));
      return await Promise.race([finished.promise, broken.promise]);
    } finally {
      until.removeEventListener("abort", abort);
    }
  }

  try {
    await step<void>(signal, (done) => void socket.once("connect", () => done(null)));
    await step<void>(signal, (done) => connection.connect(done));
    if (credentials !== null) {
      if (!connection.allowsAuth) throw new AuthMissing();
      const auth = { user: credentials.user, pass: credentials.password };
      await step<boolean>(signal, (done) => connection.login({ ...auth, credentials: auth }, done));
    }
  } catch (error) {
    const fault = toFault(error, openingStage(connection));
    socket.destroy();
    return { ok: false, fault };
  }

  return {
    ok: true,
    session: {
      async send({ from, to, raw }, until) {
        try {
          const info = await step<{ readonly response?: string }>(until, (done) =>
            connection.send({ from, to: [to], size: raw.length }, raw, done),
          );
          return { ok: true, replyCode: replyCodeOf(info.response ?? "") ?? 250 };
        } catch (error) {
          return { ok: false, fault: toFault(error, "lost") };
        }
      },
      async reset(until) {
        try {
          await step<boolean>(until, (done) => connection.reset(done));
          return true;
        } catch {
          breakOff(new Error("the session cannot be used again"));
          return false;
        }
      },
      onEnd: (listener) => void broken.promise.catch(listener),
      close() {
        connection.quit();
        setTimeout(() => socket.destroy(), QUIT_MS).unref();
      },
    },
  };
}

/** Returns the name with which a client at this URL introduces itself to mail servers (RFC 5321, section 4.1.4). */
export function clientName(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  if (hostname.startsWith("[")) return `[IPv6:${hostname.slice(1, -1)}]`;
  // Servers refuse names without a dot.
  if (hostname === "localhost") return "[127.0.0.1]";
  return isIP(hostname) === 4 ? `[${hostname}]` : hostname;
}

/** Returns how far a session got that could not be opened. */
function openingStage({ upgrading, stage }: SMTPConnection): SmtpStage {
  if (upgrading === true) return "tls";
  return stage === "init" ? "connect" : "greeting";
}

/** The settings name a user, but the server offers no way to sign in. */
class AuthMissing extends Error {
  override readonly name = "AuthMissing";
  override readonly message = "the server does not offer authentication on this connection";
}

/** Turns an error of the library into a fault. `otherwise` is the stage of errors that name no command. */
function toFault(error: unknown, otherwise: SmtpStage): SmtpFault {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof AuthMissing) return { stage: "auth", replyCode: null, text };
  const { code, command, responseCode, response } = error as Readonly<Record<string, unknown>>;
  const replyCode = typeof responseCode === "number" ? responseCode : null;
  const reply = typeof response === "string" ? response : text;
  return { stage: stageOf(code, command, replyCode) ?? otherwise, replyCode, text: reply };
}

function stageOf(code: unknown, command: unknown, replyCode: number | null): SmtpStage | null {
  if (code === "ETLS" || command === "STARTTLS") return "tls";
  if (code === "EAUTH" || (typeof command === "string" && command.startsWith("AUTH"))) return "auth";
  if (replyCode === null) return null;
  switch (command) {
    case "MAIL FROM":
      return "sender";
    case "RCPT TO":
      return "recipient";
    case "DATA":
      return "message";
    default:
      return null;
  }
}

function replyCodeOf(reply: string): number | null {
  const code = /^[2-5]\d\d/.exec(reply)?.[0];
  return code === undefined ? null : Number(code);
}
