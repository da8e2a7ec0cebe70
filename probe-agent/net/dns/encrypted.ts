import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import type { ServerAddress } from "#probe-agent/net/dns/server-address.ts";

/** A resolver behind TLS. */
export interface EncryptedServer extends ServerAddress {
  /**
   * Name (or the address itself) the certificate must carry. null: whoever answers at the address will do, the
   * opportunistic profile of RFC 8310 section 5, for the address is all that is known.
   */
  readonly name: string | null;
  /** Path of a DNS over HTTPS service. */
  readonly path: string;
}

/** Dials TLS 1.2 or later; the socket queues writes until it stands and reports failures as its `error`. */
export function dialEncrypted(server: EncryptedServer, alpn: readonly string[], roots?: readonly string[]): TLSSocket {
  const { ip, port, name } = server;
  return connect({
    host: ip,
    port,
    // RFC 6066 section 3: literals are sent no SNI. Without one Node looks for `host` in the certificate.
    servername: name !== null && isIP(name) === 0 ? name : "",
    rejectUnauthorized: name !== null,
    minVersion: "TLSv1.2",
    ALPNProtocols: [...alpn],
    ...(roots === undefined ? {} : { ca: [...roots] }),
  });
}
