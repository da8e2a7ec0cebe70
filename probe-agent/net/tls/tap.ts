import { Duplex } from "node:stream";
import type { Socket } from "node:net";
import { createOctets } from "#probe-agent/net/octets.ts";

/** Maximum number of received octets kept. OpenSSL itself refuses Certificate messages above 100 KiB. */
const MAX_RECORDED = 524_288;

/**
 * A stream over a TCP socket that keeps a copy of the received octets. Node shows certificates only as a chain linked
 * by issuer: it loses order, repeats and unrelated ones, and all of them if the handshake fails. The octets contain
 * them.
 */
export class Tap extends Duplex {
  readonly #socket: Socket;
  readonly #recorded = createOctets();
  #ending: "open" | "closed" | "reset" = "open";

  constructor(socket: Socket) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      if (this.#recorded.length < MAX_RECORDED) this.#recorded.append(chunk);
      if (!this.push(chunk)) socket.pause();
    });
    socket.on("end", () => {
      if (this.#ending === "open") this.#ending = "closed";
      this.push(null);
    });
    socket.on("error", (error) => {
      if (this.#ending === "open") this.#ending = "reset";
      this.destroy(error);
    });
  }

  /** Returns everything received so far, up to half a megabyte. */
  received(): Uint8Array {
    return this.#recorded.view();
  }

  /** Returns how the server ended the connection; "open" while it has not. */
  ending(): "open" | "closed" | "reset" {
    return this.#ending;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
