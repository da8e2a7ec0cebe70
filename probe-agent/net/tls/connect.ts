import { connect, type Socket } from "node:net";
import { failed, type Failed } from "#shared/contracts/outcome.ts";

/** Reasons and messages for failed TCP connections by errno name; other errors are "connection_failed". */
const REASONS: Readonly<Record<string, readonly [reason: string, message: string]>> = {
  ECONNREFUSED: ["refused", "The connection was refused"],
  ECONNRESET: ["reset", "The connection was reset during setup"],
  ETIMEDOUT: ["timeout", "The connection timed out"],
  EHOSTUNREACH: ["unreachable", "The host cannot be reached"],
  ENETUNREACH: ["unreachable", "The network cannot be reached"],
  EHOSTDOWN: ["unreachable", "The host is down"],
  EACCES: ["prohibited", "A firewall prohibits the connection"],
  EPERM: ["prohibited", "A firewall prohibits the connection"],
};

/** Errors of this host: descriptors, memory or ports are exhausted, or there is no network. */
const OURS = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EADDRNOTAVAIL", "ENETDOWN", "EAFNOSUPPORT"]);

/** Opens a TCP connection to an address literal. If `signal` ends the attempt, the caller knows the cause. */
export function connectTcp(ip: string, port: number, signal: AbortSignal): Promise<Socket | Failed | "aborted"> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve("aborted");
      return;
    }
    const socket = connect({ host: ip, port, noDelay: true });
    const settle = (value: Socket | Failed | "aborted"): void => {
      signal.removeEventListener("abort", abort);
      socket.off("connect", connected).off("error", fail);
      if (value !== socket) {
        socket.on("error", () => undefined);
        socket.destroy();
      }
      resolve(value);
    };
    const abort = (): void => settle("aborted");
    const connected = (): void => settle(socket);
    const fail = (error: NodeJS.ErrnoException): void => settle(connectFailure(error));
    signal.addEventListener("abort", abort, { once: true });
    socket.once("connect", connected).once("error", fail);
  });
}

function connectFailure(error: NodeJS.ErrnoException): Failed {
  const code = error.code ?? "";
  if (OURS.has(code)) return failed("connect", "probe", "local_error", `The probe could not connect: ${code}`);
  const [reason, message] = REASONS[code] ?? ["connection_failed", `The connection failed: ${code || "unknown"}`];
  return failed("connect", "target", reason, message);
}
