import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { startDnsWorld } from "#test/lab/parity/dns-world.ts";
import { writeFiles, type At } from "#test/lab/parity/places.ts";
import { startTlsWorld } from "#test/lab/parity/tls-world.ts";
import { response, serveWeb } from "#test/lab/parity/web.ts";
import { startGrpcServer } from "#test/servers/grpc-health.ts";
import { headers200, frame, startFrameServer, word } from "#test/servers/h2-frames.ts";
import { startH2cServer } from "#test/servers/h2c.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { createPki, daysFromNow } from "#test/servers/pki.ts";
import { startSilentPort } from "#test/servers/silent.ts";
import { startTalker } from "#test/servers/talker.ts";
import { startSocketServer } from "#test/servers/wire-tls.ts";
import { startWireServer } from "#test/servers/wire.ts";
import { freePort } from "#test/support/free-port.ts";
import { identityOf } from "#test/support/http-engine.ts";

/** Servers and files by the names that cases use: `host:port` or a path. */
export interface World {
  readonly places: Readonly<Record<string, string>>;
  /** The certificates that both exporters trust. */
  readonly rootsFile: string;
  /** Removes the files whose names begin with "gone", which the exporters must have seen at their start. */
  removeFiles(): void;
  close(): Promise<void>;
}

/** What is to be closed at the end. */
type Close = () => unknown;

/** Starts every server. `folder` gets the files that modules name. */
export async function startWorld(folder: string): Promise<World> {
  const closes: Close[] = [];
  const at: At = (server, host = "127.0.0.1") => {
    closes.push(() => server.close());
    return `${host}:${server.port}`;
  };
  const pki = await createPki();
  const leaf = await pki.issue({ dns: ["localhost", "site.example"], ip: ["127.0.0.1", "127.0.0.2", "::1"] });
  const identity = identityOf(leaf, pki.intermediate);
  const stale = identityOf(await pki.issue({ ip: ["127.0.0.1"], notAfter: daysFromNow(-1) }), pki.intermediate);
  const serve = (socket: Socket): void => serveWeb(socket);
  const frames = async (...all: readonly Uint8Array[]): Promise<string> => {
    const server = await startFrameServer((socket) => void socket.write(Buffer.concat(all)), identity);
    closes.push(() => server.close());
    return new URL(server.url).host;
  };
  const h2 = (only: boolean) =>
    startHttpServer({
      tls: identity,
      h2: only ? "only" : true,
      handler(request, reply) {
        if (request.url !== "/moved") return false;
        reply.writeHead(302, { location: "/bytes/10" }).end();
        return true;
      },
    });
  const folders = writeFiles(folder, { "basic.txt": "secret", "token.txt": "filetoken\n", "gonesecret.txt": "x" });
  const places: Record<string, string> = {
    ...folders,
    web: at(await startSocketServer(serve, null)),
    web2: at(await startWebAt("127.0.0.2"), "127.0.0.2"),
    secure: at(await startSocketServer(serve, { ...identity, alpn: ["http/1.1"] })),
    h2: at(await h2(false)),
    h2only: at(await h2(true)),
    h2reset: await frames(frame("rst_stream", 0, 1, word(2))),
    h2goaway: await frames(frame("goaway", 0, 0, word(0, 1))),
    h2cut: await frames(headers200(100), frame("data", 1, 1, Buffer.from("short"))),
    h2plain: at(await startH2cServer("prior_knowledge")),
    proxy: at(await startProxy()),
    proxyrefusing: at(await startWireServer("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")),
    proxyclosing: at(await startWireServer("")),
    closed: `127.0.0.1:${await freePort()}`,
    filtered: at(await startSilentPort()),
    hush: at(await startWireServer(() => undefined)),
    hangup: at(await startWireServer("", { atOnce: true })),
    ...(await startDialogues(at, leaf, pki.intermediate)),
    ...(await startGrpc(closes, at, identity, stale)),
    ...(await startTlsWorld(folder, pki, at)),
    ...(await startDnsWorld(at, leaf, pki.intermediate)),
  };
  if (await hasIpv6()) places["web6"] = at(await startWebAt("::1"), "[::1]");
  // The ports alone, for targets with a name.
  for (const name of ["web", "secure", "dot", "grpc", "grpctls"]) {
    places[`${name}port`] = places[name]?.split(":").at(-1) ?? "";
  }
  const rootsFile = join(folder, "roots.pem");
  writeFileSync(rootsFile, pki.root.pem);
  return {
    places,
    rootsFile,
    removeFiles() {
      for (const [name, path] of Object.entries(places)) if (name.startsWith("gone")) rmSync(path);
    },
    async close() {
      await Promise.all(closes.map((close) => close()));
    },
  };
}

/** Whether ::1 can be used here. */
export async function hasIpv6(): Promise<boolean> {
  const server = createTcpServer().listen(0, "::1");
  const works = await Promise.race([
    once(server, "listening").then(() => true),
    once(server, "error").then(() => false),
  ]).catch(() => false);
  server.close();
  return works;
}

async function startWebAt(host: string) {
  const server = createTcpServer(serveWeb).listen(0, host);
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

/**
 * A proxy that forwards requests with a field of its own and opens tunnels, unless credentials are not me:secret or a
 * toll is unpaid. It takes names for loopback.
 */
async function startProxy() {
  const sockets = new Set<Socket>();
  const to = (authority: string, then: (upstream: Socket) => void, failed: () => void): void => {
    const port = Number(authority.split(":").at(-1));
    const upstream = connect(port, "127.0.0.1", () => then(upstream));
    sockets.add(upstream);
    upstream.on("error", failed);
  };
  const server = createServer((request: IncomingMessage) => {
    const { socket } = request;
    const fail = (): void => void socket.end(response("", [], "502 Bad Gateway"), "latin1");
    if (!/^http:\/\/[^/]+:\d/.test(request.url ?? "")) return fail();
    const { host } = new URL(request.url ?? "");
    const fields = request.rawHeaders.flatMap((name, index) =>
      index % 2 === 0 ? [`${name}: ${request.rawHeaders[index + 1] ?? ""}`] : [],
    );
    const head = [`${request.method} ${request.url} HTTP/1.1`, ...fields, "X-Proxied: yes"].join("\r\n");
    const forward = (upstream: Socket): void => {
      upstream.write(`${head}\r\n\r\n`);
      request.pipe(upstream, { end: false }).pipe(socket);
    };
    to(host, forward, fail);
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
  });
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    const { "proxy-authorization": credentials = "Basic bWU6c2VjcmV0", "x-toll": toll } = request.headers;
    if (credentials !== "Basic bWU6c2VjcmV0" || toll === "unpaid") {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      return;
    }
    to(
      request.url ?? "",
      (upstream) => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      },
      () => socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

async function startDialogues(
  at: At,
  ...chain: readonly Parameters<typeof identityOf>[0][]
): Promise<Record<string, string>> {
  const EHLO = { EHLO: "250-mx\r\n250 STARTTLS\r\n", QUIT: "221 bye\r\n" };
  const mail = { greeting: "220 mx.site.example ESMTP\r\n", chain };
  const STARTTLS = { ...EHLO, STARTTLS: "220 go on\r\n" };
  return {
    smtp: at(await startTalker({ ...mail, on: STARTTLS, tlsAfter: "STARTTLS" })),
    smtpplain: at(await startTalker({ ...mail, on: { ...EHLO, STARTTLS: "502 no\r\n" } })),
    smtpfalse: at(await startTalker({ ...mail, on: { ...EHLO, STARTTLS: "220 go on\r\n220 and on\r\n" } })),
    ssh: at(await startTalker({ greeting: "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", on: { "SSH-2.0": "ok\r\n" } })),
    irc: at(
      await startTalker({
        on: {
          USER: ":server 020 * :hello\r\n:server 001 me :welcome\r\n",
          PING: (socket) => void socket.end("PONG\r\n"),
          BYE: (socket) => void socket.end(),
          RESET: (socket) => void socket.resetAndDestroy(),
          LONG: `${"z".repeat(100_000)}\r\n`,
          HALF: (socket) => void socket.end("no line end"),
          BINARY: "\xff\xfe\x00 binary\r\n",
          EMPTY: "\r\n\r\nthird\r\n",
          CR: "one\rtwo\r\n",
          GET: "HTTP/1.0 200 OK\r\n\r\n",
        },
      }),
    ),
    echo: at(await startEcho()),
    tlsdialogue: at(
      await startTalker({ greeting: "* OK IMAP\r\n", on: { a1: "a1 OK done\r\n" }, tlsAfter: "", chain }),
    ),
  };
}

/** Repeats each line that begins with ECHO; knows USER and BINARY as well. */
async function startEcho() {
  return startWireServer((socket, first) => {
    const react = (text: string): void => {
      for (const line of text.split("\n").filter((each) => each !== "")) {
        if (line.startsWith("ECHO")) socket.write(`echoed: ${line.slice(5)}\r\n`, "latin1");
        else
          socket.write(
            line.startsWith("USER") ? ":server 020 * :hello\r\n:server 001 me\r\n" : "\xff\xfe binary\r\n",
            "latin1",
          );
      }
    };
    react(first);
    socket.on("data", (chunk: Buffer) => react(chunk.toString("latin1")));
  });
}

async function startGrpc(
  closes: Close[],
  at: At,
  identity: ReturnType<typeof identityOf>,
  stale: ReturnType<typeof identityOf>,
): Promise<Record<string, string>> {
  const one = async (...given: Parameters<typeof startGrpcServer>): Promise<string> => {
    const server = await startGrpcServer(...given);
    closes.push(() => server.close());
    return `127.0.0.1:${server.port}`;
  };
  const error = (code: number) => ({ code, details: "told to" });
  const tls = { tls: identity };
  return {
    grpc: await one(1),
    grpcdown: await one(2),
    grpcstrange: await one(3),
    grpcunset: await one(0),
    grpcodd: await one(7),
    grpcmissing: await one(1, { path: "/other.Service/Check" }),
    grpcnotfound: await one(error(5)),
    grpcunavailable: await one(error(14)),
    grpcinternal: await one(error(13)),
    grpcdenied: await one(error(7)),
    grpctls: await one(1, tls),
    grpctlsdown: await one(2, tls),
    grpctlsmissing: await one(1, { ...tls, path: "/other.Service/Check" }),
    grpcexpired: await one(1, { tls: stale }),
    grpcgarbage: at(await startWireServer("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")),
  };
}
