import type { PingKind } from "#control-plane/monitors/heartbeat-port.ts";

/** What a ping reports. */
export interface PingSignal {
  readonly kind: PingKind;
  /** 0 to 255 of a ping of kind exit; null for other kinds. */
  readonly exitCode: number | null;
}

/** A received ping. */
export interface Ping extends PingSignal {
  /** Unix milliseconds of its arrival. */
  readonly receivedAt: number;
  /** Id of the run that it belongs to; null: none was given. */
  readonly rid: string | null;
  readonly method: string;
  readonly remoteAddr: string;
  readonly userAgent: string | null;
  /** null: none, or it was not kept. */
  readonly body: string | null;
  readonly isBodyTruncated: boolean;
}

const EXIT_CODE = /^\d{1,3}$/;
const MOST_EXIT_CODE = 255;
const MOST_RID = 100;
const MOST_USER_AGENT = 300;

/** Reads what follows the token in the path of a ping: "", start, fail, log, or an exit code. null: anything else. */
export function readSignal(tail: string): PingSignal | null {
  switch (tail) {
    case "":
      return { kind: "success", exitCode: null };
    case "start":
    case "fail":
    case "log":
      return { kind: tail, exitCode: null };
    default: {
      const code = EXIT_CODE.test(tail) ? Number(tail) : MOST_EXIT_CODE + 1;
      return code <= MOST_EXIT_CODE ? { kind: "exit", exitCode: code } : null;
    }
  }
}

/** Returns the id of a run from a query, printable and cut; null if there is none. */
export function readRunId(given: unknown): string | null {
  const text = Array.isArray(given) ? (given as readonly unknown[])[0] : given;
  return typeof text === "string" && text !== "" ? toPlainText(text, MOST_RID) : null;
}

/** Returns the name of a client, printable and cut; null if there is none. */
export function readUserAgent(given: string | undefined): string | null {
  return given === undefined || given === "" ? null : toPlainText(given, MOST_USER_AGENT);
}

/** Returns the bytes of a body as text for the database, which stores no NUL. */
export function readBodyText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8").replaceAll("\0", "\u{FFFD}");
}

function toPlainText(text: string, most: number): string {
  return text
    .slice(0, most)
    .toWellFormed()
    .replace(/\p{Cc}/gu, " ");
}
