import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Failed } from "#shared/contracts/outcome.ts";
import { exchangeFailure } from "#probe-agent/net/http/failure.ts";
import { createOctets } from "#probe-agent/net/octets.ts";
import type { StreamEnd } from "#probe-agent/port/stream.ts";

/** The received octets of one side of a connection. */
export interface Inbox {
  received(): Buffer;
  /** Stream.more. */
  more(): Promise<StreamEnd | null>;
  /** Removes the first `count` octets. */
  drop(count: number): void;
  /** Stops reading, so that another reader can take the socket. */
  detach(): void;
}

/**
 * Starts to read a socket, up to `maxBytes` octets. Octets that arrived before an error are kept. Destroying the socket
 * with an error (as the deadline does) ends every wait. `where` names the peer in messages.
 */
export function openInbox(socket: Socket | TLSSocket, maxBytes: number, where: string): Inbox {
  const octets = createOctets();
  let total = 0;
  let seen = 0;
  let end: StreamEnd | null = null;
  let wake = (): void => undefined;
  const data = (chunk: Buffer): void => {
    const kept = chunk.subarray(0, maxBytes - total);
    octets.append(kept);
    total += kept.length;
    if (total >= maxBytes) {
      socket.pause();
      end ??= "full";
    }
    wake();
  };
  const closed = (): void => finish("closed");
  const fail = (error: unknown): void => finish(exchangeFailure(error, "response", where));
  function finish(how: "closed" | Failed): void {
    end ??= how;
    wake();
  }
  // The listener for errors is never removed, because a late error without a listener would end the process.
  socket.on("data", data).on("end", closed).on("close", closed).on("error", fail);
  if (socket.errored !== null) fail(socket.errored);
  else if (socket.destroyed) closed();
  const next = (): StreamEnd | null | "wait" => {
    if (octets.length > seen) {
      seen = octets.length;
      return null;
    }
    return end ?? "wait";
  };
  return {
    received: () => octets.view(),
    more() {
      const { promise, resolve } = Promise.withResolvers<StreamEnd | null>();
      wake = () => {
        const found = next();
        if (found === "wait") return;
        wake = () => undefined;
        resolve(found);
      };
      wake();
      return promise;
    },
    drop(count) {
      octets.drop(count);
      seen = Math.max(0, seen - count);
    },
    detach() {
      socket.off("data", data).off("end", closed).off("close", closed);
      socket.pause();
    },
  };
}
