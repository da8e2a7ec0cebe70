import { createServer, type AddressInfo, type Socket, isIPv6 } from "node:net";
import { type Outcome, ok, refused } from "#shared/contracts/outcome.ts";
import type { Clock } from "#shared/time/clock.ts";
import type { Egress } from "#shared/internet/egress.ts";
import { dial } from "#probe-agent/net/http/dial.ts";
import type { Resolved } from "#probe-agent/port/address.ts";
import type { DnsPort } from "#probe-agent/port/dns.ts";
import type { JobLimits } from "#probe-agent/port/job-limits.ts";

/** Network limits of one browser. */
export interface GateBounds {
  /** Maximum number of octets, both directions together. */
  readonly bytes: number;
  readonly connections: number;
  readonly atOnce: number;
  /** Maximum wait for the handshake, and for the connection to the destination, in milliseconds each. */
  readonly patienceMs: number;
}

/** Above the needs of every page worth measuring (the 90th percentile of pages weighs 10 MB). */
export const GATE_BOUNDS: GateBounds = { bytes: 96 * 1024 * 1024, connections: 1000, atOnce: 200, patienceMs: 10_000 };

/** Options of a gate. */
interface GateOptions extends Omit<UpstreamOptions, "patienceMs"> {
  readonly bounds?: GateBounds;
  /** Called when a limit is reached; at most once. */
  readonly onCut?: () => void;
}

/** The only connection of a browser to the network. */
export interface Gate {
  readonly port: number;
  /** Returns why the last connection to that destination failed; null if it succeeded or was never requested. */
  obstacle(host: string, port: number): Outcome<never> | null;
  /** Returns the number of connections refused by the egress rules. */
  refusals(): number;
  /** Reports whether a limit was reached. From then on the gate passes nothing. */
  cut(): boolean;
  /** Returns the requested destinations as host:port, at most 1000. */
  asked(): readonly string[];
  close(): void;
}

/** Maximum number of destinations whose outcome is kept. */
const MAX_DESTINATIONS = 1000;

/** Dependencies of a browser's connections. */
interface UpstreamOptions {
  readonly egress: Egress;
  readonly dns: Pick<DnsPort, "resolve">;
  readonly clock: Clock;
  readonly limits: JobLimits;
  /** Maximum wait for one connection, in milliseconds. */
  readonly patienceMs: number;
}

/** Maximum number of host names whose addresses are kept. */
const MAX_LOOKUPS = 1000;

/**
 * Opens a SOCKS5 proxy (RFC 1928) on loopback for one browser and one job. The browser resolves no names: the gate vets
 * and connects (upstream.ts).
 */
export async function openGate(options: GateOptions): Promise<Gate> {
  const bounds = options.bounds ?? GATE_BOUNDS;
  const connect = createUpstreams({ ...options, patienceMs: bounds.patienceMs });
  const sockets = new Set<Socket>();
  const obstacles = new Map<string, Outcome<never> | null>();
  let [bytes, connections, refusals, cut] = [0, 0, 0, false];

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy()).once("close", () => sockets.delete(socket));
  };
  const stop = (): void => {
    if (!cut) options.onCut?.();
    cut = true;
    for (const socket of sockets) socket.destroy();
  };
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > bounds.bytes) stop();
  };
  const note = (key: string, obstacle: Outcome<never> | null): void => {
    if (obstacles.size < MAX_DESTINATIONS || obstacles.has(key)) obstacles.set(key, obstacle);
    if (obstacle?.status === "refused") refusals += 1;
  };

  async function serve(client: Socket): Promise<void> {
    const request = await readSocksRequest(client, bounds.patienceMs);
    if (request === null) return;
    const { destination, rest } = request;
    const outcome = await connect(destination);
    const key = `${destination.host}:${destination.port}`;
    note(key, outcome.status === "ok" ? null : outcome);
    if (outcome.status !== "ok") return void client.end(requestReply(replyTo(outcome)));
    const upstream = outcome.data;
    keep(upstream);
    if (client.destroyed || cut) return void upstream.destroy();
    client.write(requestReply(REPLY.succeeded));
    relay(client, upstream, rest, count);
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

/**
 * Creates the function that connects a browser to a destination. It vets each name, resolves it once and keeps its
 * addresses, and vets each address before and after connecting.
 */
function createUpstreams(options: UpstreamOptions): (to: Destination) => Promise<Outcome<Socket>> {
  const { egress, dns, clock, limits, patienceMs } = options;
  const lookups = new Map<string, Promise<Outcome<Resolved>>>();
  const lookUp = (host: string): Promise<Outcome<Resolved>> => {
    const known = lookups.get(host) ?? dns.resolve(host);
    if (lookups.size < MAX_LOOKUPS) lookups.set(host, known);
    return known;
  };
  return async ({ host, port }) => {
    const named = egress.checkHost(host, { connects: true });
    if (!named.ok || !egress.checkUrl(`http://${urlHost(named.host)}:${port}/`).ok) return refused;
    const resolved = await lookUp(named.host);
    if (resolved.status !== "ok") return resolved;
    const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(patienceMs)]);
    const deadline = Math.min(limits.deadline, clock.monotonic() + patienceMs);
    const dialed = await dial(resolved.data.allowed, port, { clock, signal, deadline, egress });
    return dialed.status === "ok" ? ok(dialed.data.socket) : dialed;
  };
}

/** A client's request and the octets it sent after that. */
interface SocksRequest {
  readonly destination: Destination;
  readonly rest: Buffer;
}

/**
 * Reads the SOCKS5 handshake of a client within `patienceMs`. Returns null if the client was refused, and its
 * connection closes.
 */
async function readSocksRequest(client: Socket, patienceMs: number): Promise<SocksRequest | null> {
  client.setTimeout(patienceMs, () => client.destroy());
  const buffer = { octets: Buffer.alloc(0) };
  const greeting = await take(client, buffer, readGreeting);
  if (greeting === null) {
    client.destroy();
    return null;
  }
  client.write(greetingReply(greeting));
  if (!greeting) {
    client.end();
    return null;
  }
  const destination = await take(client, buffer, readRequest);
  if (destination === null) {
    client.end(requestReply(REPLY.commandNotSupported));
    return null;
  }
  client.setTimeout(0);
  return { destination, rest: buffer.octets };
}

/**
 * Relays both directions until one side closes. `first` is what the client has already sent. `count` is called with
 * every chunk.
 */
function relay(client: Socket, upstream: Socket, first: Buffer, count: (chunk: Buffer) => void): void {
  if (first.length > 0) upstream.write(first);
  count(first);
  client.on("data", count).pipe(upstream);
  upstream.on("data", count).pipe(client);
  client.once("close", () => upstream.destroy());
  upstream.once("close", () => client.destroy());
}

/** Returns the SOCKS reply for a connection that failed. */
function replyTo(outcome: Outcome<never>): (typeof REPLY)[keyof typeof REPLY] {
  if (outcome.status === "refused") return REPLY.notAllowed;
  return outcome.status === "failed" && outcome.reason === "refused" ? REPLY.connectionRefused : REPLY.hostUnreachable;
}

/** Reads the next message of the handshake; null if the client sends something else or disconnects. */
function take<T>(client: Socket, buffer: { octets: Buffer }, read: (octets: Buffer) => Parsed<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const settle = (value: T | null): void => {
      client.off("data", more).off("close", gone).pause();
      resolve(value);
    };
    const gone = (): void => settle(null);
    const parse = (): void => {
      const parsed = read(buffer.octets);
      if (parsed.kind === "more") return;
      if (parsed.kind === "bad") return settle(null);
      buffer.octets = buffer.octets.subarray(parsed.used);
      settle(parsed.value);
    };
    const more = (chunk: Buffer): void => {
      buffer.octets = Buffer.concat([buffer.octets, chunk]);
      parse();
    };
    client.on("data", more).once("close", gone).resume();
    parse();
  });
}

/** The destination that a client of the proxy requests. */
interface Destination {
  /** A name or an address literal, as the client sent it. */
  readonly host: string;
  readonly port: number;
}

/** Result of parsing the octets received so far; `used` of them are consumed. */
type Parsed<T> =
  | { readonly kind: "more" }
  | { readonly kind: "bad" }
  | { readonly kind: "done"; readonly value: T; readonly used: number };

/** Reply codes of RFC 1928 section 6. */
const REPLY = {
  succeeded: 0,
  notAllowed: 2,
  hostUnreachable: 4,
  connectionRefused: 5,
  commandNotSupported: 7,
} as const;

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const CONNECT = 1;

/** Parses a greeting (RFC 1928 section 3); the value reports whether it offers "no authentication". */
export function readGreeting(octets: Buffer): Parsed<boolean> {
  if (octets.length >= 1 && octets[0] !== VERSION) return { kind: "bad" };
  const methods = octets[1];
  if (methods === undefined || octets.length < 2 + methods) return { kind: "more" };
  const value = octets.subarray(2, 2 + methods).includes(NO_AUTHENTICATION);
  return { kind: "done", value, used: 2 + methods };
}

/** Parses a request (section 4); the value is null for a command other than CONNECT. */
export function readRequest(octets: Buffer): Parsed<Destination | null> {
  if (octets.length >= 1 && octets[0] !== VERSION) return { kind: "bad" };
  const [, command, , type, length] = octets;
  if (length === undefined) return { kind: "more" };
  const size = { 1: 4, 3: 1 + length, 4: 16 }[type ?? 0];
  if (size === undefined) return { kind: "bad" };
  const used = 4 + size + 2;
  if (octets.length < used) return { kind: "more" };
  const address = octets.subarray(4, 4 + size);
  const host = type === 3 ? address.subarray(1).toString("latin1") : addressText(address);
  const value = command === CONNECT ? { host, port: octets.readUInt16BE(4 + size) } : null;
  return { kind: "done", value, used };
}

/** Encodes the answer to a greeting: no authentication, or no acceptable method. */
export function greetingReply(agreed: boolean): Buffer {
  return Buffer.from([VERSION, agreed ? NO_AUTHENTICATION : 0xff]);
}

/** Encodes the answer to a request (section 6), without the address of the proxy. */
export function requestReply(code: (typeof REPLY)[keyof typeof REPLY]): Buffer {
  return Buffer.from([VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]);
}

/** Returns a host as it appears in a URL. */
function urlHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

function addressText(octets: Buffer): string {
  if (octets.length === 4) return octets.join(".");
  return Array.from({ length: 8 }, (_, group) => octets.readUInt16BE(2 * group).toString(16)).join(":");
}
