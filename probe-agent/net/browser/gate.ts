import { createServer, type AddressInfo, type Socket } from "node:net";
import { type Outcome, ok, refused } from "#shared/contracts/outcome.ts";
import { readSocksRequest, relay, replyTo } from "#probe-agent/net/browser/socks-client.ts";
import { REPLY, requestReply, urlHost, type Destination } from "#probe-agent/net/browser/socks.ts";
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
