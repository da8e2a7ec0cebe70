import { connect, type Socket } from "node:net";
import { loopbackAddress } from "#test/support/heartbeats/send-ping.ts";
import { below, createDice } from "#test/fleet/random.ts";

/** Requests a client may send from one address. */
const PER_ADDRESS = 30;

/** What is sent, by class. */
export interface TokenRun {
  readonly port: number;
  /** Tokens with a heartbeat. */
  readonly valid: readonly string[];
  /** Tokens with a heartbeat that has no ping yet; each is used once. As many as freshTokensFor says. */
  readonly fresh: readonly string[];
  readonly invalid: readonly string[];
  /** Number of requests of each class. */
  readonly count: number;
  readonly seed: number;
  /** Number of the first client address. */
  readonly from: number;
}

/** An answer, when it arrived and how long it took. */
interface Measured {
  readonly head: string;
  readonly body: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly ms: number;
}

/** Sends pings to tokens of both classes in a random order, one after the other, over kept-alive connections. */
export async function measureTokens(run: TokenRun): Promise<{
  readonly valid: readonly Measured[];
  readonly invalid: readonly Measured[];
}> {
  const dice = createDice(run.seed);
  const answers = { valid: [] as Measured[], invalid: [] as Measured[] };
  const fresh = [...run.fresh];
  let socket: Socket | null = null;
  let sent = 0;
  while (answers.valid.length < run.count || answers.invalid.length < run.count) {
    // In pairs of both classes in a random order, so that both have the same number of requests at any time.
    const order = below(dice, 2) === 0 ? (["valid", "invalid"] as const) : (["invalid", "valid"] as const);
    const [method, tail, body] = SHAPES[below(dice, SHAPES.length)] ?? FIRST;
    const isFirst = below(dice, FIRST_EVERY) === 0;
    for (const kind of order) {
      if (socket === null || sent % PER_ADDRESS === 0) {
        socket?.destroy();
        socket = await open(run.port, loopbackAddress(run.from + Math.floor(sent / PER_ADDRESS)));
      }
      sent += 1;
      const tokens = run[kind];
      const known = tokens[below(dice, tokens.length)];
      const token = isFirst && kind === "valid" ? fresh.pop() : known;
      if (token === undefined) throw new Error("there are too few tokens");
      answers[kind].push(await ask(socket, `${method} /api/heartbeat/${token}${tail}`, body));
    }
  }
  socket?.destroy();
  return answers;
}

const FIRST = ["GET", "", ""] as const;
/** Methods, tails and bodies. Among them are failures, after which a success changes the status once more. */
const SHAPES = [
  FIRST,
  ["GET", "?rid=run-1", ""],
  ["POST", "", "x".repeat(300)],
  ["POST", "/0", "done"],
  ["POST", "/log", "x".repeat(2_000)],
  ["GET", "/fail", ""],
  ["POST", "/1", "x".repeat(300)],
] as const;
/** One of so many pings is the first of its heartbeat. */
const FIRST_EVERY = 10;

/** Returns how many fresh tokens a run needs at most, with more than enough certainty. */
export function freshTokensFor(count: number): number {
  return Math.ceil((count / FIRST_EVERY) * 1.2) + 40;
}

function open(port: number, localAddress: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress, noDelay: true }, () => resolve(socket));
    socket.on("error", reject);
  });
}

function ask(socket: Socket, line: string, body: string): Promise<Measured> {
  const length = body === "" ? "" : `content-length: ${body.length}\r\n`;
  return new Promise((resolve, reject) => {
    let text = "";
    const began = performance.now();
    const read = (chunk: Buffer): void => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      const expected = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (end < 0 || text.length < end + 4 + expected) return;
      socket.off("data", read).off("close", lose);
      const ms = performance.now() - began;
      resolve({ head: text.slice(0, end), body: text.slice(end + 4), at: Date.now(), ms });
    };
    const lose = (): void => reject(new Error(`no answer to ${line}`));
    socket.on("data", read).on("close", lose);
    socket.write(`${line} HTTP/1.1\r\nhost: vantage\r\n${length}\r\n${body}`);
  });
}

/** Returns an answer without what differs between any two: its id, its date and the digits of its time. */
export function shapeOf({ head, body }: Pick<Measured, "head" | "body">): string {
  return `${head}\r\n\r\n${body}`
    .replace(/(\r\nx-request-id: )[^\r]+/i, "$1*")
    .replace(/(\r\ndate: )[^\r]+/i, "$1*")
    .replace(/("next_ping_expected":)\d{10}\b/, "$1*");
}

/** Returns the period that an answer claims, in seconds. */
export function periodOf({ body, at }: Pick<Measured, "body" | "at">): number {
  const { next_ping_expected: expected } = JSON.parse(body) as { readonly next_ping_expected: number };
  return expected - at / 1_000;
}
