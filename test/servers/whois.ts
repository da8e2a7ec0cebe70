import type { Socket } from "node:net";
import { drip, startWireServer, writeForever, type WireServer } from "#test/servers/wire.ts";

/** How a test WHOIS server treats a query. A text is sent, then the connection is closed. */
export type WhoisBehaviour =
  | string
  | Uint8Array
  /** Pieces of text without end. */
  | { readonly endless: string }
  /** One character each `everyMs`, then silence. */
  | { readonly slow: string; readonly everyMs: number }
  /** This much, then a reset. */
  | { readonly reset: string }
  /** Not a word; closed at once, or left open. */
  | { readonly nothing: "closed" | "open" };

/** A running WHOIS server. */
export interface WhoisServer {
  readonly port: number;
  /** `127.0.0.1:port`, as referrals name it. */
  readonly address: string;
  /** Received queries without their CRLF. */
  queries(): readonly string[];
  /** Octets of the first segment of each connection, latin1. */
  readonly received: readonly string[];
  open(): number;
  close(): Promise<void>;
}

/** Starts a WHOIS server that answers each query as `answer` says; undefined: "No match". */
export async function startWhoisServer(
  answer: (query: string) => WhoisBehaviour | undefined,
  options: { readonly host?: string; readonly port?: number } = {},
): Promise<WhoisServer> {
  const wire: WireServer = await startWireServer((socket, received) => {
    behave(socket, answer(received.replace(/\r\n$/, "")) ?? "No match.\r\n");
  }, options);
  return {
    port: wire.port,
    address: `${options.host ?? "127.0.0.1"}:${wire.port}`,
    queries: () => wire.received.map((line) => line.replace(/\r\n$/, "")),
    received: wire.received,
    open: () => wire.open(),
    close: () => wire.close(),
  };
}

function behave(socket: Socket, behaviour: WhoisBehaviour): void {
  if (typeof behaviour === "string" || behaviour instanceof Uint8Array) socket.end(behaviour);
  else if ("endless" in behaviour) writeForever(socket, behaviour.endless);
  else if ("slow" in behaviour) drip(socket, behaviour.slow, behaviour.everyMs);
  else if ("nothing" in behaviour) void (behaviour.nothing === "closed" && socket.end());
  else socket.write(behaviour.reset, () => setTimeout(() => socket.resetAndDestroy(), 50));
}
