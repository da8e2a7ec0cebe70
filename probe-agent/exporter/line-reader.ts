import type { Duplex } from "node:stream";
import { describeError } from "#shared/contracts/error-code.ts";
import { createOctets } from "#probe-agent/net/octets.ts";

/** A line without its end; or that the server closed its side after the last one; or why no more can be read. */
type Line = { readonly line: string } | "closed" | { readonly fault: string };

/** Reads lines of a connection, as Go's bufio.Scanner. */
export interface LineReader {
  next(): Promise<Line>;
  /** Stops reading. Octets that arrived already are lost; later ones are left to the next reader. */
  detach(): void;
}

/** Octets of the longest line with its end, as in bufio.Scanner. */
const LONGEST_LINE = 65_536;
/** Maximum number of octets that are read in all. The exporter has no limit but the deadline; a dialogue is shorter. */
const MOST_OCTETS = 4_194_304;

/** Creates a reader of a connection that has no other one. Destroying the connection ends its wait. */
export function createLineReader(connection: Duplex): LineReader {
  const octets = createOctets();
  let total = 0;
  /** Octets at the start that have no line feed. */
  let searched = 0;
  let ending: "closed" | { readonly fault: string } | null = null;
  let wake: () => void = () => undefined;
  const take = (chunk: Buffer): void => {
    total += chunk.length;
    octets.append(chunk);
    if (octets.length >= LONGEST_LINE) connection.pause();
    wake();
  };
  const end = (why: "closed" | { readonly fault: string }): void => {
    ending ??= why;
    wake();
  };
  const onEnd = (): void => end("closed");
  const onError = (error: Error): void => end({ fault: describeError(error) });
  const onClose = (): void => end({ fault: "the connection was closed" });
  connection.on("data", take).on("end", onEnd).on("error", onError).on("close", onClose);
  return {
    async next() {
      for (;;) {
        const seen = octets.view();
        const at = seen.subarray(0, LONGEST_LINE).indexOf("\n", searched);
        if (at >= 0) {
          const line = seen.toString("utf8", 0, at > 0 && seen[at - 1] === 0x0d ? at - 1 : at);
          octets.drop(at + 1);
          searched = 0;
          return { line };
        }
        if (seen.length >= LONGEST_LINE) return { fault: "bufio.Scanner: token too long" };
        if (total > MOST_OCTETS) return { fault: "the server sent too much" };
        if (ending !== null) {
          if (ending !== "closed" || seen.length === 0) return ending;
          octets.drop(seen.length);
          return { line: seen.toString("utf8").replace(/\r$/, "") };
        }
        searched = seen.length;
        await new Promise<void>((resolve) => {
          wake = resolve;
          connection.resume();
        });
      }
    },
    detach() {
      connection.pause();
      connection.off("data", take).off("end", onEnd).off("error", onError).off("close", onClose);
    },
  };
}
