/** Addresses of the stand-ins: a separate one for each, so that the usual ports are free for all of them. */
export const ADDRESS = {
  shop: "127.80.0.1",
  ns1: "127.80.0.2",
  ns2: "127.80.0.3",
  mail: "127.80.0.25",
  whois: "127.80.0.43",
  /** The agent's own resolver. */
  resolver: "127.80.0.53",
  /** Public resolvers of the propagation tool. The second has an old answer, the third refuses. */
  public1: "127.80.0.61",
  public2: "127.80.0.62",
  public3: "127.80.0.63",
  /** Registries, archive, passive DNS and the other web services. */
  outside: "127.80.0.80",
} as const;

/** The old address of the shop, which a resolver with an outdated cache still returns. */
export const OLD_ADDRESS = "127.80.0.9";

/** Ports in URLs and parameters. */
export interface Ports {
  readonly http: number;
  readonly https: number;
  readonly smtp: number;
  readonly dns: number;
  readonly whois: number;
}

/** With these, names need no port. Listening on them needs root. */
export const USUAL_PORTS: Ports = { http: 80, https: 443, smtp: 25, dns: 53, whois: 43 };

/** A free port for each. */
export const FREE_PORTS: Ports = { http: 0, https: 0, smtp: 0, dns: 0, whois: 0 };

/** Returns `:port` for a URL, empty for the scheme's default port. */
export function portPart(scheme: "http" | "https", port: number): string {
  return port === (scheme === "http" ? 80 : 443) ? "" : `:${port}`;
}
