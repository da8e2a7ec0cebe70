import { isIP } from "node:net";
import { connect } from "node:tls";
import ipaddr from "ipaddr.js";
import type { buildConnector } from "undici";

/** Time for the connection and its TLS handshake, milliseconds. */
const CONNECT_MS = 10_000;

/** Error of a connection that another address than the vetted one has answered. */
export const WRONG_PEER = "VANTAGE_WRONG_PEER";
/** Error of a connection that took longer than its time limit. */
export const SLOW_CONNECT = "VANTAGE_SLOW_CONNECT";

/**
 * Creates the connector of one pool: TLS to an address that was vetted, never to one that is looked up again. The server
 * has to prove that it is `hostname`. RFC 6066, section 3: an address is no server name.
 */
export function createPinnedConnector(hostname: string, address: string): buildConnector.connector {
  const servername = isIP(hostname) === 0 ? { servername: hostname } : {};
  /** The newest session, so that a further connection needs no full handshake. */
  let session: Buffer | undefined;
  return ({ port }, callback) => {
    const socket = connect({
      host: address,
      port: port === "" ? 443 : Number(port),
      ALPNProtocols: ["http/1.1"],
      ...servername,
      ...(session === undefined ? {} : { session }),
    });
    socket.setNoDelay(true);
    socket.on("session", (newest) => {
      session = newest;
    });
    let isEnded = false;
    const end = (error: Error | null): void => {
      if (isEnded) return;
      isEnded = true;
      clearTimeout(timer);
      socket.off("error", end);
      if (error === null) return callback(null, socket);
      socket.on("error", () => {});
      socket.destroy();
      callback(error, null);
    };
    const timer = setTimeout(() => end(failure(SLOW_CONNECT)), CONNECT_MS);
    socket.on("error", end);
    socket.once("close", () => end(failure("ECONNRESET")));
    socket.once("secureConnect", () => {
      end(isSameAddress(socket.remoteAddress ?? "", address) ? null : failure(WRONG_PEER));
    });
  };
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Reports whether two literals are one address. A dual-stack socket writes IPv4 addresses as mapped ones. */
function isSameAddress(one: string, other: string): boolean {
  return ipaddr.isValid(one) && ipaddr.process(one).toString() === ipaddr.process(other).toString();
}
