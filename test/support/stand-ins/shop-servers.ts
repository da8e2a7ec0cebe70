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

/** Where and how they are started; port 0 is any free one. `shown` are the ports that pages name, asked at each request. */
export interface ShopPlan {
  readonly host: string;
  readonly http: number;
  readonly https: number;
  readonly identity: Identity;
  readonly shown: () => Ports;
}

/** HTTP, HTTPS with HTTP/2, and QUIC on the port of HTTPS. Rejects, with nothing left open, where a port is taken. */
export async function startShop({ host, http, https, identity, shown }: ShopPlan): Promise<ShopServers> {
  // UDP first: sockets of name look-ups hold ports on every address, TCP listeners hardly ever do.
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

/** The same at the IPv6 loopback address on the same ports; null where this machine has none, or they are taken there. */
export async function startShopOverIpv6({ web, plain }: ShopServers, plan: ShopPlan): Promise<ShopServers | null> {
  return await startShop({ ...plan, host: "::1", http: plain.port, https: web.port }).catch(() => null);
}
