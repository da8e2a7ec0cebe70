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
  readonly invalid: readonly string[];
  /** Number of requests of each class. */
  readonly count: number;
  readonly seed: number;
  /** Number of the first client address. */
  readonly from: number;
}

/** An answer and how long it took. */
interface Measured {
  readonly head: string;
  readonly body: string;
  readonly ms: number;
}

/** Sends pings to tokens of both classes in a random order, one after the other, over kept-alive connections. */
export async function measureTokens(run: TokenRun): Promise<{
  readonly valid: readonly Measured[];
  readonly invalid: readonly Measured[];
}> {
  const dice = createDice(run.seed);
  const answers = { valid: [] as Measured[], invalid: [] as Measured[] };
  let socket: Socket | null = null;
  let sent = 0;
  while (answers.valid.length < run.count || answers.invalid.length < run.count) {
    // In pairs of both classes in a random order, so that both have the same number of requests at any time.
    const order = below(dice, 2) === 0 ? (["valid", "invalid"] as const) : (["invalid", "valid"] as const);
    const [method, tail, body] = SHAPES[below(dice, SHAPES.length)] ?? ["GET", "", ""];
    for (const kind of order) {
      if (socket === null || sent % PER_ADDRESS === 0) {
        socket?.destroy();
        socket = await open(run.port, loopbackAddress(run.from + Math.floor(sent / PER_ADDRESS)));
      }
      sent += 1;
      const tokens = run[kind];
      const token = tokens[below(dice, tokens.length)] ?? "";
      answers[kind].push(await ask(socket, `${method} /api/heartbeat/${token}${tail}`, body));
    }
  }
  socket?.destroy();
  return answers;
}

/** Methods, tails and bodies; those that change a status do other work, which is not compared. */
const SHAPES = [
  ["GET", "", ""],
  ["GET", "?rid=run-1", ""],
  ["POST", "", "x".repeat(300)],
  ["POST", "/0", "done"],
  ["POST", "/log", "x".repeat(2_000)],
] as const;

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
      resolve({ head: text.slice(0, end), body: text.slice(end + 4), ms: performance.now() - began });
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

/** Returns the period that an answer claims, in seconds, as of a time in Unix milliseconds. */
export function periodOf({ body }: Pick<Measured, "body">, now: number): number {
  const { next_ping_expected: expected } = JSON.parse(body) as { readonly next_ping_expected: number };
  return expected - now / 1_000;
}
