import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createHttp2Server, performServerHandshake, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";

/** What a server without TLS makes of HTTP/2. */
export type H2cBehaviour =
  /** HTTP/2 from the first octet on and nothing else. */
  | "prior_knowledge"
  /** HTTP/1.1, and HTTP/2 by Upgrade (RFC 7540 section 3.2). */
  | "upgrade"
  /** Responds with 101 and continues in HTTP/1.1. */
  | "agrees_only"
  /** Responds with 101 and begins with GOAWAY instead of SETTINGS, which must be first (RFC 9113 section 3.4). */
  | "other_frame"
  /** Says 101 to another protocol. */
  | "other_protocol"
  /** Says 101 and then nothing. */
  | "silent";

/** A running server. */
export interface H2cServer {
  readonly port: number;
  /** Origin without a final slash. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a server that speaks HTTP/2 in the clear, or claims to. */
export async function startH2cServer(behaviour: H2cBehaviour): Promise<H2cServer> {
  const sockets = new Set<Socket>();
  const server: Server = behaviour === "prior_knowledge" ? priorKnowledge() : upgrading(behaviour);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function priorKnowledge(): Server {
  const server = createHttp2Server();
  server.on("sessionError", () => undefined);
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("error", () => undefined);
    stream.respond({ ":status": 200, "content-type": "text/plain" });
    stream.end("hello over h2c\n");
  });
  return server;
}

function upgrading(behaviour: H2cBehaviour): Server {
  const server = createServer((_request, response) => void response.end("hello over HTTP/1.1\n"));
  server.on("upgrade", (request, socket: Socket) => {
    const protocol = behaviour === "other_protocol" ? "websocket" : String(request.headers.upgrade);
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`);
    if (behaviour === "upgrade") performServerHandshake(socket).on("error", () => undefined);
    else if (behaviour === "other_frame") socket.end(Buffer.from([0, 0, 0, 7, 0, 0, 0, 0, 0]));
    else if (behaviour !== "silent") socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  return server;
}
