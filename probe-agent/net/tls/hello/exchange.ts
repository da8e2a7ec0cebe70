import type { Socket } from "node:net";
import type { HelloAnswer } from "#probe-agent/port/tls.ts";

/** How the answer to a hello ended; `aborted` if the signal ended the wait. */
interface Exchange {
  readonly ending: HelloAnswer["ending"];
  readonly aborted: boolean;
}

/**
 * Sends a hello over a connected socket, passes the answer to `push` until `push` returns true, and closes the socket.
 */
export async function exchangeHello(
  socket: Socket,
  hello: Uint8Array,
  options: { readonly push: (chunk: Uint8Array) => boolean; readonly signal: AbortSignal },
): Promise<Exchange> {
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const abort = (): void => resolve({ ending: "open", aborted: true });
  options.signal.addEventListener("abort", abort, { once: true });
  socket.on("data", (chunk: Buffer) => {
    if (options.push(chunk)) resolve({ ending: "open", aborted: false });
  });
  socket.once("end", () => resolve({ ending: "closed", aborted: false }));
  socket.on("error", () => resolve({ ending: "reset", aborted: false }));
  socket.once("close", () => resolve({ ending: "closed", aborted: false }));
  socket.write(hello);
  if (options.signal.aborted) abort();
  const ended = await promise;
  options.signal.removeEventListener("abort", abort);
  socket.destroy();
  return ended;
}
