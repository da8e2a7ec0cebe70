import { createServer, type AddressInfo, type Socket } from "node:net";
import type { Clock } from "#shared/clock.ts";
import type { Egress } from "#shared/egress.ts";
import { refused, type Outcome } from "#shared/outcome.ts";
import {
  greetingReply,
  readGreeting,
  readRequest,
  REPLY,
  requestReply,
  urlHost,
  type Destination,
  type Parsed,
} from "#probe-agent/net/browser/socks.ts";
import { dial } from "#probe-agent/net/http/dial.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";
import type { Resolved } from "#probe-agent/port/address.ts";
import type { DnsPort } from "#probe-agent/port/dns.ts";

/** What one browser may use of the network. */
export interface GateBounds {
  /** Octets of both directions together. */
  readonly bytes: number;
  readonly connections: number;
  readonly atOnce: number;
  /** To say where to go, and for the connection there, milliseconds each. */
  readonly patienceMs: number;
}

/** More than any page that a measurement of it would help (the 90th percentile of pages weighs 10 MB). */
export const GATE_BOUNDS: GateBounds = { bytes: 96 * 1024 * 1024, connections: 1000, atOnce: 200, patienceMs: 10_000 };

/** What a gate is made of. */
export interface GateOptions {
  readonly egress: Egress;
  readonly dns: Pick<DnsPort, "resolve">;
  readonly clock: Clock;
  readonly limits: JobLimits;
  readonly bounds?: GateBounds;
}

/** The one way of a browser to the network. */
export interface Gate {
  readonly port: number;
  /** What kept the last connection to that place from standing; null: it stood, or nobody asked. */
  obstacle(host: string, port: number): Outcome<never> | null;
  /** Connections refused by the rules. */
  refusals(): number;
  /** The bounds were reached; since then nothing passes. */
  cut(): boolean;
  /** Places asked for, host:port, at most 1000. */
  asked(): readonly string[];
  close(): void;
}

/** Names and addresses remembered. */
const MAX_PLACES = 1000;

/**
 * Opens a SOCKS5 proxy (RFC 1928) on loopback for one browser and one job. The browser looks nothing up by itself: each
 * name is vetted, looked up once and pinned, each address vetted before and after connecting, as for every other port.
 */
export async function openGate(options: GateOptions): Promise<Gate> {
  const { egress, dns, clock, limits } = options;
  const bounds = options.bounds ?? GATE_BOUNDS;
  const sockets = new Set<Socket>();
  const lookups = new Map<string, Promise<Outcome<Resolved>>>();
  const obstacles = new Map<string, Outcome<never> | null>();
  let [bytes, connections, refusals, cut] = [0, 0, 0, false];

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy()).once("close", () => sockets.delete(socket));
  };
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > bounds.bytes) stop();
  };
  const stop = (): void => {
    cut = true;
    for (const socket of sockets) socket.destroy();
  };
  const lookUp = (host: string): Promise<Outcome<Resolved>> => {
    const known = lookups.get(host) ?? dns.resolve(host);
    if (lookups.size < MAX_PLACES) lookups.set(host, known);
    return known;
  };

  async function connect({ host, port }: Destination): Promise<Outcome<Socket>> {
    const named = egress.checkHost(host, { connects: true });
    if (!named.ok || !egress.checkUrl(`http://${urlHost(named.host)}:${port}/`).ok) return refused;
    const resolved = await lookUp(named.host);
    if (resolved.status !== "ok") return resolved;
    const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(bounds.patienceMs)]);
    const deadline = Math.min(limits.deadline, clock.monotonic() + bounds.patienceMs);
    const dialed = await dial(resolved.data.allowed, port, { clock, signal, deadline, egress });
    return dialed.status === "ok" ? { status: "ok", data: dialed.data.socket } : dialed;
  }

  async function serve(client: Socket): Promise<void> {
    client.setTimeout(bounds.patienceMs, () => client.destroy());
    const buffer = { octets: Buffer.alloc(0) };
    const greeting = await take(client, buffer, readGreeting);
    if (greeting === null) return void client.destroy();
    client.write(greetingReply(greeting));
    if (!greeting) return void client.end();
    const destination = await take(client, buffer, readRequest);
    if (destination === null) return void client.end(requestReply(REPLY.commandNotSupported));
    client.setTimeout(0);
    const outcome = await connect(destination);
    const place = `${destination.host}:${destination.port}`;
    const obstacle = outcome.status === "ok" ? null : outcome;
    if (obstacles.size < MAX_PLACES || obstacles.has(place)) obstacles.set(place, obstacle);
    if (outcome.status === "refused") refusals += 1;
    if (outcome.status !== "ok") return void client.end(requestReply(replyTo(outcome)));
    const upstream = outcome.data;
    keep(upstream);
    if (client.destroyed || cut) return void upstream.destroy();
    client.write(requestReply(REPLY.succeeded));
    join(client, upstream, buffer.octets, count);
  }

  const server = createServer({ noDelay: true }, (client) => {
    connections += 1;
    keep(client);
    if (cut || connections > bounds.connections) stop();
    else if (sockets.size > 2 * bounds.atOnce) client.destroy();
    else serve(client).catch(() => client.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    obstacle: (host, port) => obstacles.get(`${host}:${port}`) ?? null,
    refusals: () => refusals,
    cut: () => cut,
    asked: () => [...obstacles.keys()],
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The next message of the handshake; null where the client speaks something else or goes away. */
function take<T>(client: Socket, buffer: { octets: Buffer }, read: (octets: Buffer) => Parsed<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const settle = (value: T | null): void => {
      client.off("data", more).off("close", gone).pause();
      resolve(value);
    };
    const gone = (): void => settle(null);
    const look = (): void => {
      const parsed = read(buffer.octets);
      if (parsed.kind === "more") return;
      if (parsed.kind === "bad") return settle(null);
      buffer.octets = buffer.octets.subarray(parsed.used);
      settle(parsed.value);
    };
    const more = (chunk: Buffer): void => {
      buffer.octets = Buffer.concat([buffer.octets, chunk]);
      look();
    };
    client.on("data", more).once("close", gone).resume();
    look();
  });
}

function join(client: Socket, upstream: Socket, first: Buffer, count: (chunk: Buffer) => void): void {
  if (first.length > 0) upstream.write(first);
  count(first);
  client.on("data", count).pipe(upstream);
  upstream.on("data", count).pipe(client);
  client.once("close", () => upstream.destroy());
  upstream.once("close", () => client.destroy());
}

function replyTo(outcome: Outcome<never>): (typeof REPLY)[keyof typeof REPLY] {
  if (outcome.status === "refused") return REPLY.notAllowed;
  return outcome.status === "failed" && outcome.reason === "refused" ? REPLY.connectionRefused : REPLY.hostUnreachable;
}
