import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer } from "smtp-server";
import type { Issued } from "#test/servers/pki.ts";
import { parseMail, type ReceivedMail } from "#test/support/received-mail.ts";

/** What the server does with a recipient or a message: accepts it, or answers with a code. */
type Verdict = "accept" | number;

/** How the server behaves. */
export interface MailSinkOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Default: none. starttls and implicit need a chain, the leaf first. */
  readonly tls?: "none" | "starttls" | "implicit";
  readonly chain?: readonly Issued[];
  /** The user that must sign in; default: no one. */
  readonly user?: { readonly name: string; readonly password: string };
  /** Default: accepts everyone. */
  onRecipient?(address: string): Verdict | Promise<Verdict>;
  /**
   * Called with a whole message, before the answer to it. drop: the message is kept and the connection is closed
   * without an answer. Default: accepts it.
   */
  onMessage?(mail: ReceivedMail): Verdict | "drop" | Promise<Verdict | "drop">;
}

/** A mail server that keeps what it gets. */
export interface MailSink {
  readonly port: number;
  /** Every message that was received whole and not refused, in the order of their ends. */
  readonly mails: readonly ReceivedMail[];
  /** Number of connections so far, and of those that are open. */
  connections(): { readonly total: number; readonly open: number };
  /** Users that signed in, each with whether the connection was encrypted. */
  readonly signedIn: readonly { readonly user: string; readonly isSecure: boolean }[];
  close(): Promise<void>;
}

/** Starts a mail server. */
export async function startMailSink(options: MailSinkOptions = {}): Promise<MailSink> {
  const { host = "127.0.0.1", port = 0, tls = "none", chain = [], user } = options;
  const mails: ReceivedMail[] = [];
  const signedIn: { user: string; isSecure: boolean }[] = [];
  let total = 0;
  const server = new SMTPServer({
    secure: tls === "implicit",
    ...(chain[0] === undefined ? {} : { key: chain[0].keyPem, cert: chain.map(({ pem }) => pem).join("") }),
    hideSTARTTLS: tls !== "starttls",
    authOptional: user === undefined,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 100,
    maxClients: 1_000,
    onConnect(_session, done) {
      total += 1;
      done();
    },
    onAuth(auth, session, done) {
      signedIn.push({ user: auth.username ?? "", isSecure: session.secure });
      const isRight = user !== undefined && auth.username === user.name && auth.password === user.password;
      done(isRight ? null : refusal(535), isRight ? { user: user.name } : undefined);
    },
    onRcptTo({ address }, _session, done) {
      void (async () => {
        done(toError((await options.onRecipient?.(address)) ?? "accept"));
      })();
    },
    onData(stream, session, done) {
      void (async () => {
        const { mailFrom, rcptTo } = session.envelope;
        const sender = mailFrom === false ? "" : mailFrom.address;
        const raw = await text(stream).catch(() => null);
        // The client has closed the connection in the middle of the message.
        if (raw === null) return;
        const mail = parseMail(sender, rcptTo[0]?.address ?? "", raw);
        const verdict = (await options.onMessage?.(mail)) ?? "accept";
        if (verdict === "accept" || verdict === "drop") mails.push(mail);
        if (verdict !== "drop") return done(toError(verdict));
        for (const connection of server.connections) {
          if (connection.session === session) connection.close();
        }
      })();
    },
  });
  server.on("error", () => {});
  server.listen(port, host);
  await once(server.server, "listening");
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    signedIn,
    connections: () => ({ total, open: server.connections.size }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

function toError(verdict: Verdict): Error | null {
  return verdict === "accept" ? null : refusal(verdict);
}

function refusal(code: number): Error {
  return Object.assign(new Error(`test ${code}`), { responseCode: code });
}
