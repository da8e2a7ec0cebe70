import type { Socket } from "node:net";
import type { HelloAnswer } from "#probe-agent/net/port/tls.ts";
import { createHelloReader, type HelloReader } from "#probe-agent/net/tls/hello/decode.ts";

/** What one hello brought; `aborted` where the signal ended the wait. */
export interface Exchange {
  readonly reader: HelloReader;
  readonly ending: HelloAnswer["ending"];
  readonly aborted: boolean;
}

/** Sends a hello over a connected socket, reads the answer and drops the connection. */
export async function exchangeHello(
  socket: Socket,
  hello: Uint8Array,
  options: { readonly flight: boolean; readonly signal: AbortSignal },
): Promise<Exchange> {
  const reader = createHelloReader(options.flight);
  const { promise, resolve } = Promise.withResolvers<Omit<Exchange, "reader">>();
  const abort = (): void => resolve({ ending: "open", aborted: true });
  options.signal.addEventListener("abort", abort, { once: true });
  socket.on("data", (chunk: Buffer) => {
    if (reader.push(chunk)) resolve({ ending: "open", aborted: false });
  });
  socket.once("end", () => resolve({ ending: "closed", aborted: false }));
  socket.on("error", () => resolve({ ending: "reset", aborted: false }));
  socket.once("close", () => resolve({ ending: "closed", aborted: false }));
  socket.write(hello);
  if (options.signal.aborted) abort();
  const ended = await promise;
  options.signal.removeEventListener("abort", abort);
  socket.destroy();
  return { reader, ...ended };
}
