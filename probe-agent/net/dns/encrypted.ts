import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import type { ServerAddress } from "#probe-agent/net/dns/server-address.ts";

/** A resolver with TLS. */
export interface EncryptedServer extends ServerAddress {
  /**
   * Name (or the address itself) that the certificate must contain. Null accepts any certificate, because only the
   * address is known: the opportunistic profile of RFC 8310 section 5.
   */
  readonly name: string | null;
  /** Path of a DNS over HTTPS service. */
  readonly path: string;
}

/** Connects with TLS 1.2 or later. The socket queues writes until it is open, and reports failures as its `error`. */
export function dialEncrypted(server: EncryptedServer, alpn: readonly string[], roots?: readonly string[]): TLSSocket {
  const { ip, port, name } = server;
  return connect({
    host: ip,
    port,
    // RFC 6066 section 3: no SNI is sent for an IP address. Without SNI, Node looks for `host` in the certificate.
    servername: name !== null && isIP(name) === 0 ? name : "",
    rejectUnauthorized: name !== null,
    minVersion: "TLSv1.2",
    ALPNProtocols: [...alpn],
    ...(roots === undefined ? {} : { ca: [...roots] }),
  });
}
