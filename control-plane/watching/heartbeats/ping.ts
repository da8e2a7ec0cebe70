/** Kinds of pings; exit: the run ended with an exit code. */
export const PING_KINDS = ["success", "start", "fail", "log", "exit"] as const;
/** One of these kinds. */
export type PingKind = (typeof PING_KINDS)[number];

/** What a ping says, exit codes included: 0 is a success. */
export const PING_RESULTS = ["success", "fail", "start", "log"] as const;
/** One of these. */
export type PingResult = (typeof PING_RESULTS)[number];

/** Which of the stored pings of a heartbeat are wanted; null: all. */
export interface PingSearch {
  readonly result: PingResult | null;
  /** The newest with a smaller number than this; null: the newest of all, or those after `after`. */
  readonly before: number | null;
  /** The oldest with a larger number than this. */
  readonly after: number | null;
}

/** What a ping reports. */
export interface PingSignal {
  readonly kind: PingKind;
  /** -2147483648 to 4294967295 of a ping of kind exit; null for other kinds. */
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

/** Smallest and largest exit code: those of signed and of unsigned numbers of 32 bits, which Windows has. */
export const EXIT_CODES = { least: -2_147_483_648, most: 4_294_967_295 } as const;
const INTEGER = /^-?\d+$/;
const FAILURES: ReadonlySet<string> = new Set(["down", "fail", "failed", "error"]);
const MOST_RID = 100;
const MOST_USER_AGENT = 300;

/**
 * Splits the decoded path of a ping behind /api/heartbeat/ into the token and the tail, without the slash between them and
 * without one at the end. An encoded slash is one: no token contains it, and what follows it must not be missed.
 */
export function splitPingPath(path: string): { readonly token: string; readonly tail: string } {
  const slash = path.indexOf("/");
  return slash < 0
    ? { token: path, tail: "" }
    : { token: path.slice(0, slash), tail: path.slice(slash + 1).replace(/\/$/, "") };
}

/**
 * Reads what follows the token in the path of a ping: nothing, start, fail, log, success (in upper or lower case), or an
 * exit code. null: anything else.
 */
export function readTail(tail: string): PingSignal | null {
  const word = tail.toLowerCase();
  switch (word) {
    case "":
    case "success":
      return { kind: "success", exitCode: null };
    case "start":
    case "fail":
    case "log":
      return { kind: word, exitCode: null };
    default: {
      const exitCode = readExitCode(tail);
      return exitCode === null ? null : { kind: "exit", exitCode };
    }
  }
}

/**
 * Reads what the query of a ping without a tail reports: `exit` is an exit code, and `status` or `state` can say that the
 * job failed. Other values are ignored. Of several ones a failure counts.
 */
export function readQuerySignal({ exit, status, state }: Readonly<Record<string, unknown>>): PingSignal {
  const codes = textsOf(exit).flatMap((text) => readExitCode(text) ?? []);
  const exitCode = codes.find((code) => code !== 0) ?? codes[0] ?? null;
  const isFailure = [...textsOf(status), ...textsOf(state)].some((text) => FAILURES.has(text.toLowerCase()));
  if (isFailure && (exitCode ?? 0) === 0) return { kind: "fail", exitCode: null };
  return { kind: exitCode === null ? "success" : "exit", exitCode };
}

function readExitCode(text: string): number | null {
  // -0 is 0.
  const code = INTEGER.test(text) ? Number(text) + 0 : null;
  return code !== null && code >= EXIT_CODES.least && code <= EXIT_CODES.most ? code : null;
}

function textsOf(given: unknown): readonly string[] {
  return [given].flat().filter((one) => typeof one === "string");
}

/** Returns the id of a run from a query, printable and cut; null if there is none. */
export function readRunId(given: unknown): string | null {
  const [text = ""] = textsOf(given);
  return text === "" ? null : toPlainText(text, MOST_RID);
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
