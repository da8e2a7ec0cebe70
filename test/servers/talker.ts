import { createServer, type AddressInfo, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Issued } from "#test/servers/pki.ts";

/** What a server does with a line of the client: its answer (latin1; "": none), or anything with the connection. */
export type Reaction = string | ((socket: Socket) => void);

/** A server of a protocol of lines. */
export interface TalkerScript {
  /** Said on connect, or once TLS has begun where that is implicit. */
  readonly greeting?: Reaction;
  /** Reactions by the beginning of a line. A line without one gets no answer. */
  readonly on?: Readonly<Record<string, Reaction>>;
  /** The line after whose reaction TLS begins; "": with the first octet. */
  readonly tlsAfter?: string;
  /** Certificate chain, leaf first. */
  readonly chain?: readonly Issued[];
}

/** A running server. */
export interface Talker {
  readonly port: number;
  /** Received lines. Lines under TLS begin with "tls: ". */
  readonly lines: readonly string[];
  /** Number of accepted connections. */
  accepted(): number;
  /** Connections open now. */
  open(): number;
  close(): Promise<void>;
}

/** Starts a server on loopback that follows its script on every connection. */
export async function startTalker({ greeting = "", on = {}, tlsAfter, chain = [] }: TalkerScript): Promise<Talker> {
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  let accepted = 0;
  const react = (socket: Socket, reaction: Reaction): void => {
    if (typeof reaction === "function") reaction(socket);
    else if (reaction !== "") socket.write(Buffer.from(reaction, "latin1"));
  };
  const secure = (socket: Socket): TLSSocket => {
    const secured = new TLSSocket(socket, {
      isServer: true,
      cert: chain.map(({ pem }) => pem).join(""),
      key: chain[0]?.keyPem,
    });
    secured.on("error", () => socket.destroy());
    return secured;
  };
  const talk = (socket: Socket, isSecured: boolean): void => {
    let held = "";
    const read = (chunk: Buffer): void => {
      held += chunk.toString("latin1");
      for (let end = held.indexOf("\n"); end >= 0; end = held.indexOf("\n")) {
        const line = held.slice(0, end).replace(/\r$/, "");
        held = held.slice(end + 1);
        lines.push(isSecured ? `tls: ${line}` : line);
        const [, reaction = ""] = Object.entries(on).find(([start]) => line.startsWith(start)) ?? [];
        react(socket, reaction);
        if (isSecured || tlsAfter === undefined || tlsAfter === "" || !line.startsWith(tlsAfter)) continue;
        socket.off("data", read);
        talk(secure(socket), true);
      }
    };
    socket.on("data", read);
  };
  const server = createServer((socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    const first = tlsAfter === "" ? secure(socket) : socket;
    talk(first, first !== socket);
    react(first, greeting);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    lines,
    accepted: () => accepted,
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
