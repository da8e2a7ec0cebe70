import { failed, ok, type Outcome } from "#shared/outcome.ts";
import type { Net } from "#probe-agent/net/port.ts";
import type { DnsQuestion } from "#probe-agent/net/port/dns.ts";
import type { JobInput } from "#probe-agent/tools/implement.ts";

/** The server a job names in place of the agent's resolvers, vetted, and how it is asked. */
export interface ChosenServer {
  /** Parts of every question to it. */
  readonly question: Pick<DnsQuestion, "server" | "transport" | "serverName" | "path">;
  readonly ip: string;
  /** Milliseconds its name took to look up; 0 for an address. */
  readonly resolveMs: number;
}

const PORTS = { udp: 53, tcp: 53, dot: 853, doh: 443 } as const;
type Transport = keyof typeof PORTS;

/**
 * Reads and vets the server of a job's input; null where it names none. Its address is held against the egress rules
 * like any target's (decisions 12). Failures are those of `resolve`; stage dns, probe, for what cannot be read.
 */
export async function chooseServer(net: Net, input: JobInput): Promise<Outcome<ChosenServer | null>> {
  const { server, transport = "udp" } = input;
  if (server === undefined) return ok(null);
  const kind = typeof transport === "string" && transport in PORTS ? (transport as Transport) : null;
  const place = typeof server === "string" && kind !== null ? readPlace(server, kind) : null;
  if (place === null || kind === null)
    return failed("dns", "probe", "bad_server", "the server's address is unreadable");
  const resolved = await net.dns.resolve(place.host);
  if (resolved.status !== "ok") return resolved;
  const [address] = resolved.data.allowed;
  if (address === undefined) throw new Error("resolved to no allowed address");
  const encrypted = kind === "dot" || kind === "doh" ? { serverName: place.host } : {};
  return ok({
    question: {
      server: address.version === 6 ? `[${address.ip}]:${place.port}` : `${address.ip}:${place.port}`,
      transport: kind,
      ...encrypted,
      ...(place.path === null ? {} : { path: place.path }),
    },
    ip: address.ip,
    resolveMs: resolved.data.elapsedMs,
  });
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly path: string | null;
}

/** host, host:port, [v6], [v6]:port; for doh an https URL. */
function readPlace(server: string, transport: Transport): Place | null {
  if (transport === "doh") {
    const url = URL.parse(server);
    if (url?.protocol !== "https:") return null;
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    return { host, port: url.port === "" ? PORTS.doh : Number(url.port), path: `${url.pathname}${url.search}` };
  }
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(server) ?? [];
  const bare = plain === undefined && bracketed === undefined && /^[0-9a-f:.]+$/i.test(server) ? server : undefined;
  const host = bracketed ?? plain ?? bare;
  const number = port === undefined ? PORTS[transport] : Number(port);
  return host === undefined || number < 1 || number > 65_535 ? null : { host, port: number, path: null };
}
