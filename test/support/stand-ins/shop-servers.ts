import { startHttpServer, type HttpServer, type Identity } from "#test/servers/http.ts";
import { startQuicServer } from "#test/servers/quic.ts";
import type { Ports } from "#test/support/stand-ins/places.ts";
import { plainShop, secureShop } from "#test/support/stand-ins/shop.ts";

/** The shop's servers at one address. */
export interface ShopServers {
  readonly web: HttpServer;
  readonly plain: HttpServer;
  close(): Promise<void>;
}

/**
 * Where and how to start them. Port 0 is any free port. `shown` returns the ports that pages name, called at each
 * request.
 */
export interface ShopPlan {
  readonly host: string;
  readonly http: number;
  readonly https: number;
  readonly identity: Identity;
  readonly shown: () => Ports;
}

/**
 * Starts HTTP, HTTPS with HTTP/2, and QUIC on the port of HTTPS. Rejects and leaves nothing open if a port is in use.
 */
export async function startShop({ host, http, https, identity, shown }: ShopPlan): Promise<ShopServers> {
  // UDP first, because sockets of name lookups take ports on every address and TCP listeners rarely do.
  const quic = await startQuicServer({ host, port: https });
  const started = await Promise.allSettled([
    startHttpServer({ host, port: quic.port, tls: identity, h2: true, handler: secureShop(shown) }),
    startHttpServer({ host, port: http, handler: plainShop(shown) }),
  ]);
  const [web, plain] = started.map((one) => (one.status === "fulfilled" ? one.value : null));
  const close = async (): Promise<void> => {
    await Promise.all([quic.close(), web?.close(), plain?.close()]);
  };
  if (web && plain) return { web, plain, close };
  await close();
  throw new Error(`the shop could not be opened at ${host}`);
}

/**
 * Starts the same at the IPv6 loopback address on the same ports; null if this machine has none, or if the ports are in
 * use.
 */
export async function startShopOverIpv6({ web, plain }: ShopServers, plan: ShopPlan): Promise<ShopServers | null> {
  return await startShop({ ...plan, host: "::1", http: plain.port, https: web.port }).catch(() => null);
}
