import { isIP } from "node:net";

/** A name server: an IP address (a zone id is allowed on IPv6) and a port. */
export interface ServerAddress {
  readonly ip: string;
  readonly port: number;
}

/**
 * Parses `address`, `v4:port`, `[v6]:port` or `address#port`. Uses `defaultPort` if no port is given. Returns null for
 * anything else.
 */
export function parseServer(text: string, defaultPort = 53): ServerAddress | null {
  const [, bracketed, colon, plain, hash] =
    /^(?:\[([^\]]*)\](?::(\d{1,5}))?|([^#]*?)(?:#(\d{1,5}))?)$/.exec(text.trim()) ?? [];
  const bare = /^([\d.]+):(\d{1,5})$/.exec(plain ?? "");
  const ip = bracketed ?? bare?.[1] ?? plain ?? "";
  const port = Number(colon ?? bare?.[2] ?? hash ?? defaultPort);
  if (isIP(ip) === 0 || port < 1 || port > 65_535 || (bracketed !== undefined && isIP(ip) !== 6)) return null;
  return { ip, port };
}

/** Formats a server as results show it: address#port. */
export function formatServer(server: ServerAddress): string {
  return `${server.ip}#${server.port}`;
}
