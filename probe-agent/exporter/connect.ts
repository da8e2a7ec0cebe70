import { connect, isIPv4, type Socket } from "node:net";
import { describeError } from "#shared/contracts/error-code.ts";
import { DeadlineError } from "#probe-agent/net/http/failure.ts";
import type { Probe, ProberContext } from "#probe-agent/exporter/probe.ts";

/** The end to connect to, an address that was vetted. */
interface Endpoint {
  readonly ip: string;
  readonly port: number;
  /** Address of our end; null: the kernel chooses. */
  readonly source: string | null;
}

/**
 * Opens a TCP connection, or returns why there is none. The socket is destroyed when the probe ends; until the caller
 * reads it, it is paused. A late error of it is dropped, because it would end the process.
 */
export function openConnection(
  { ip, port, source }: Endpoint,
  probe: Probe,
  context: ProberContext,
): Promise<Socket | { readonly fault: string }> {
  const where = `${isIPv4(ip) ? ip : `[${ip}]`}:${port}`;
  return new Promise((resolve) => {
    const fail = (why: string): void => {
      socket.destroy();
      resolve({ fault: `dial tcp ${where}: ${why}` });
    };
    const socket = connect({ host: ip, port, noDelay: true, ...(source === null ? {} : { localAddress: source }) });
    socket.on("error", (error) => fail(describeError(error)));
    const end = (): void => {
      if (socket.destroyed) return;
      resolve({ fault: `dial tcp ${where}: i/o timeout` });
      socket.destroy(new DeadlineError());
    };
    if (probe.signal.aborted) return end();
    probe.signal.addEventListener("abort", end, { once: true });
    socket.once("close", () => probe.signal.removeEventListener("abort", end));
    socket.once("connect", () => {
      // The address was vetted before; a NAT of this host could still lead elsewhere.
      const peer = socket.remoteAddress;
      if (peer === undefined || !context.allows(peer)) return fail("the peer's address is not allowed");
      resolve(socket);
    });
  });
}

/**
 * Splits "host:port" as Go's net.SplitHostPort: null where there is no port or the brackets of an IPv6 address are
 * missing. The port is a number.
 */
export function splitTarget(target: string): { readonly host: string; readonly port: number } | null {
  const match = /^(?:\[([^[\]]{0,255})\]|([^:[\]]{0,255})):(\d{1,5})$/.exec(target);
  if (match === null) return null;
  const port = Number(match[3]);
  return port > 65_535 ? null : { host: match[1] ?? match[2] ?? "", port };
}
