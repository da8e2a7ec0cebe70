import { createServer, type AddressInfo, type Socket } from "node:net";
import { TLSSocket, type TlsOptions } from "node:tls";
import type { Issued } from "#test/servers/pki.ts";

/** Action of the server at one point: octets (latin1) that it sends, how it ends the connection, or nothing. */
export type Say =
  | string
  | { readonly text?: string; readonly afterMs?: number; readonly ending?: "close" | "reset" }
  | ((socket: Socket) => void);

/** Script of a mail server. The defaults are those of an ordinary server. */
export interface SmtpScript {
  readonly greeting?: Say;
  readonly ehlo?: Say;
  readonly helo?: Say;
  readonly starttls?: Say;
  /** Certificate chain of TLS, leaf first. Without it, the server does not answer the handshake. */
  readonly chain?: readonly Issued[];
  readonly tls?: TlsOptions;
  /** Replaces the handshake. */
  readonly handshake?: (socket: Socket) => void;
  /** Reply to EHLO under TLS. Default: `ehlo` without STARTTLS. */
  readonly ehloSecured?: Say;
  readonly quit?: Say;
  /** Whether TLS comes before the greeting. */
  readonly implicit?: boolean;
  /** Address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  readonly port?: number;
}

/** A scripted mail server. */
export interface SmtpServer {
  readonly port: number;
  /** Received lines. Lines under TLS begin with "tls: ". */
  readonly commands: readonly string[];
  /** Number of accepted connections. */
  accepted(): number;
  close(): Promise<void>;
}

/** Default greeting. */
export const GREETING = "220 mail.example.test ESMTP Postfix\r\n";
/** Default reply to EHLO, with STARTTLS. */
export const EHLO =
  "250-mail.example.test at your service\r\n250-PIPELINING\r\n250-SIZE 35882577\r\n250-STARTTLS\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n";

/** Starts a mail server on loopback that follows its script on every connection. */
export async function startSmtpServer(script: SmtpScript = {}): Promise<SmtpServer> {
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  let accepted = 0;

  const say = (socket: Socket, what: Say): void => {
    if (typeof what === "function") return what(socket);
    const { text = "", afterMs = 0, ending } = typeof what === "string" ? { text: what } : what;
    const speak = (): void => {
      if (text !== "") socket.write(Buffer.from(text, "latin1"));
      if (ending === "close") socket.end();
      if (ending === "reset") (socket instanceof TLSSocket ? rawOf(socket) : socket).resetAndDestroy();
    };
    if (afterMs === 0) return speak();
    const timer = setTimeout(speak, afterMs);
    timers.add(timer);
  };

  const upgrade = (socket: Socket): TLSSocket | null => {
    const { chain, tls } = script;
    if (chain === undefined) return null;
    const secured = new TLSSocket(socket, {
      isServer: true,
      ciphers: "ALL:@SECLEVEL=0",
      cert: chain.map(({ pem }) => pem).join(""),
      key: chain[0]?.keyPem,
      ...tls,
    });
    raws.set(secured, socket);
    secured.on("error", () => socket.destroy());
    return secured;
  };

  const talk = (socket: Socket, secured: boolean): void => {
    let held = "";
    const read = (chunk: Buffer): void => {
      held += chunk.toString("latin1");
      for (let end = held.indexOf("\r\n"); end >= 0; end = held.indexOf("\r\n")) {
        const line = held.slice(0, end);
        held = held.slice(end + 2);
        commands.push(secured ? `tls: ${line}` : line);
        answer(line.split(" ", 1)[0]?.toUpperCase() ?? "");
      }
    };
    const answer = (verb: string): void => {
      const ehlo = script.ehlo ?? EHLO;
      const withoutStartTls = typeof ehlo === "string" ? ehlo.replace("250-STARTTLS\r\n", "") : ehlo;
      switch (verb) {
        case "EHLO":
          return say(socket, secured && script.implicit !== true ? (script.ehloSecured ?? withoutStartTls) : ehlo);
        case "HELO":
          return say(socket, script.helo ?? "250 mail.example.test\r\n");
        case "STARTTLS": {
          const reply = script.starttls ?? "220 2.0.0 Ready to start TLS\r\n";
          const text = typeof reply === "object" ? (reply.text ?? "") : reply;
          say(socket, reply);
          if (typeof text === "string" && text.startsWith("220")) beginTls();
          return;
        }
        case "QUIT":
          return say(socket, script.quit ?? { text: "221 Bye\r\n", ending: "close" });
        default:
          return say(socket, "502 Command not implemented\r\n");
      }
    };
    const beginTls = (): void => {
      socket.off("data", read);
      if (script.handshake !== undefined) return script.handshake(socket);
      const upgraded = upgrade(socket);
      if (upgraded !== null) talk(upgraded, true);
    };
    socket.on("data", read);
  };

  const server = createServer((socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    const greeting = script.greeting ?? GREETING;
    if (script.implicit !== true) {
      talk(socket, false);
      return say(socket, greeting);
    }
    if (script.handshake !== undefined) return script.handshake(socket);
    const secured = upgrade(socket);
    if (secured === null) return;
    talk(secured, true);
    // Octets written before the end of the handshake wait for it.
    say(secured, greeting);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(script.port ?? 0, script.host ?? "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    accepted: () => accepted,
    close: async () => {
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

const raws = new WeakMap<TLSSocket, Socket>();

function rawOf(secured: TLSSocket): Socket {
  return raws.get(secured) ?? secured;
}
