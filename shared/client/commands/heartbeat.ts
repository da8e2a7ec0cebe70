import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { failWith } from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { spawn, type ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { hasErrorCode, describeError } from "#shared/contracts/error-code.ts";
import { openCall, readAnswer } from "#shared/client/call.ts";
import { withoutTrailing } from "#shared/text/strip-trailing.ts";

/** The variable with the address of a heartbeat: its token is a secret, and other users can see flags. */
const URL_VARIABLE = "VTG_HEARTBEAT_URL";

/** Adds `deploy/vantage heartbeat run`, which reports a job of cron to its heartbeat. It needs no API key. */
export function addHeartbeat(program: Command, context: CommandContext): void {
  const heartbeat = program
    .command("heartbeat")
    .description("report the runs of a job to its heartbeat")
    .enablePositionalOptions();
  heartbeat
    .command("run")
    .argument("<command>", "command to run; write -- before it")
    .argument("[arguments...]", "its arguments")
    .description(
      "run a command, ping its start and its exit code with the end of its output, and end as it did. The command runs also if the service is away",
    )
    .summary("run a command and report it")
    .option(
      "--url <url>",
      `heartbeat_url of the monitor; other users of this machine can see flags: prefer ${URL_VARIABLE}`,
    )
    .option("--no-output", "do not send the last 10 KB of the output with the ping")
    // Flags behind the command are its own, also without --.
    .passThroughOptions()
    .action(
      async (command: string, words: readonly string[], flags: { readonly url?: string; readonly output: boolean }) => {
        const given = (flags.url ?? context.environment[URL_VARIABLE] ?? "").trim();
        const url = URL.parse(given);
        if (url === null || !/^https?:$/.test(url.protocol)) {
          const line = `${given === "" ? "no address" : "not an address of a heartbeat"}: give heartbeat_url of the monitor with --url, or set ${URL_VARIABLE}`;
          return failWith(context, "heartbeat run", { line });
        }
        if (command === "") return failWith(context, "heartbeat run", { line: "the command must not be empty" });
        const { input, stdout, stderr, complain } = context;
        const run = { heartbeat: url, command, words, rid: randomUUID(), sendsOutput: flags.output };
        context.exit(await runWithPings({ ...run, isTerminal: input.isTerminal, stdout, stderr, complain }));
      },
    );
}

/** Signals that end or control a job; what is sent to this process is passed on to the command. */
const SIGNALS = ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const;
/** A terminal sends these to the command itself: passed on, they would arrive twice. */
const OF_TERMINAL: ReadonlySet<string> = new Set(["SIGINT", "SIGQUIT"]);
/** How long the output of a command that has ended is waited for before its ping, milliseconds. */
const DRAIN_MS = 1_000;
/** Exit statuses of shells for a command that is not there, and for one that cannot be run. */
const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;

/** A command to run, and the heartbeat to which it reports. */
interface RunOptions {
  readonly heartbeat: URL;
  readonly command: string;
  readonly words: readonly string[];
  /** Tells runs at the same time apart. */
  readonly rid: string;
  /** The end of the output is sent with the last ping. */
  readonly sendsOutput: boolean;
  /** Standard input is a terminal. */
  readonly isTerminal: boolean;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly complain: (line: string) => void;
}

/**
 * Runs a command, pings its start and its exit code, and passes on its output and the signals that this process gets.
 * Resolves with the exit status: that of the command, or 128 and the number of the signal that killed it. Pings that fail
 * change nothing but a line for each.
 */
async function runWithPings(options: RunOptions): Promise<number> {
  const { heartbeat, rid, sendsOutput, complain } = options;
  const stop = new AbortController();
  const started = sendPing(pingUrl(heartbeat, "start", rid), { stop: stop.signal });
  const output = keepEnd(MOST_BODY_BYTES);
  const { child, status, closed } = startCommand(options, output.add);
  let hasEnded = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (hasEnded) stop.abort();
    else if (!(options.isTerminal && OF_TERMINAL.has(signal))) child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const code = await status;
  hasEnded = true;
  // A process that the command has left can hold its output open.
  await Promise.race([closed, sleep(DRAIN_MS, undefined, { ref: false })]);
  // A start that arrives after the end would open a run that nothing ends.
  report("start", await started, complain);
  const body = sendsOutput ? { body: output.read() } : {};
  report("end", await sendPingSurely(pingUrl(heartbeat, String(code), rid), { ...body, stop: stop.signal }), complain);
  // An output that is still open keeps this process alive and is passed on: a closed pipe would kill what writes to it.
  for (const signal of SIGNALS) process.off(signal, onSignal);
  return code;
}

function report(what: string, pinged: Pinged, complain: (line: string) => void): void {
  if (!pinged.ok) complain(`vantage heartbeat: the ${what} was not reported: ${pinged.reason}`);
}

/** A command that was started. */
interface Started {
  readonly child: ChildProcess;
  /** Its exit status, as a shell has it. */
  readonly status: Promise<number>;
  /** Its output has ended. */
  readonly closed: Promise<unknown>;
}

function startCommand({ command, words, stdout, stderr, complain }: RunOptions, add: (chunk: Buffer) => void): Started {
  // Without `env` it gets the environment of this process as it is.
  const child = spawn(command, words, { stdio: ["inherit", "pipe", "pipe"] });
  passOn(child.stdout, stdout, add);
  passOn(child.stderr, stderr, add);
  const status = new Promise<number>((resolve) => {
    child.once("error", (error) => {
      if (child.pid !== undefined) return;
      const isAbsent = hasErrorCode(error, "ENOENT");
      const line = `vantage heartbeat: ${command} ${isAbsent ? "is not found" : "cannot be run"}`;
      add(Buffer.from(`${line}\n`));
      complain(line);
      resolve(isAbsent ? NOT_FOUND : NOT_RUNNABLE);
    });
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
  const closed = new Promise((resolve) => child.once("close", resolve));
  return { child, status, closed };
}

/** Passes bytes on as they come, at the pace of their reader. */
function passOn(from: Readable, to: Writable, add: (chunk: Buffer) => void): void {
  from.on("data", add);
  from.pipe(to, { end: false });
  // The reader has gone: the command learns it as it would without a program between them.
  to.once("error", () => from.destroy());
}

/** The end of a text that arrives in parts. */
interface End {
  readonly add: (chunk: Buffer) => void;
  readonly read: () => Buffer;
}

/** Keeps the last `most` bytes of an output; if it is longer, its last whole lines, or characters of one long line. */
export function keepEnd(most: number): End {
  let chunks: Buffer[] = [];
  let length = 0;
  let isCut = false;
  return {
    add(chunk) {
      chunks.push(chunk);
      length += chunk.length;
      if (length <= 2 * most + 65_536) return;
      const kept = Buffer.concat(chunks).subarray(-(most + 1));
      chunks = [Buffer.from(kept)];
      length = kept.length;
      isCut = true;
    },
    read() {
      const all = Buffer.concat(chunks);
      if (!isCut && all.length <= most) return all;
      // One byte more shows whether a line begins at the first byte.
      const end = all.subarray(-(most + 1));
      const line = end.subarray(0, -1).indexOf("\n");
      if (line !== -1) return end.subarray(line + 1);
      let first = 1;
      // Continuation bytes of UTF-8 are 10xxxxxx.
      while (first < 4 && ((end[first] ?? 0) & 0xc0) === 0x80) first++;
      return end.subarray(first);
    },
  };
}

/** How long a ping waits for its answer, milliseconds. */
const WAIT_MS = 10_000;
/** Waits before the second and the third attempt of a ping that must arrive, milliseconds. */
const RETRY_WAITS_MS = [1_000, 3_000] as const;
/** What a control plane keeps of the body of a ping, bytes. */
const MOST_BODY_BYTES = 10_240;

/** Whether a ping has arrived, or why not. */
type Pinged = { readonly ok: true } | { readonly ok: false; readonly reason: string; readonly isFinal: boolean };

/** Options of a ping. */
interface PingOptions {
  readonly body?: Buffer;
  /** Ends waits and attempts. */
  readonly stop: AbortSignal;
}

/**
 * Returns the address of a ping: the heartbeat's, followed by `start` or an exit code. `rid` tells runs at the same time
 * apart; one in the address stays. Pure.
 */
export function pingUrl(heartbeat: URL, tail: string, rid: string): URL {
  const url = new URL(heartbeat);
  url.pathname = `${withoutTrailing(url.pathname, (one) => one === "/")}/${tail}`;
  if (!url.searchParams.has("rid")) url.searchParams.set("rid", rid);
  return url;
}

/** Sends a ping once. POST, because a heartbeat can be set to count no other method. Never rejects. */
async function sendPing(url: URL, { body = Buffer.alloc(0), stop }: PingOptions): Promise<Pinged> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(WAIT_MS)]);
  const headers = { "content-type": "text/plain", "user-agent": "vantage-heartbeat" };
  try {
    const response = await openCall(url.href, { method: "POST", headers, body, signal });
    const status = response.statusCode ?? 0;
    await readAnswer(response);
    // 429: the ping is recorded, its body is not.
    if ((status >= 200 && status < 300) || status === 429) return { ok: true };
    return { ok: false, reason: `${url.host} answered ${status}`, isFinal: status < 500 };
  } catch (error) {
    const isLate = signal.aborted && !stop.aborted;
    return {
      ok: false,
      reason: isLate ? `no answer within ${WAIT_MS / 1_000} s` : describeError(error),
      isFinal: false,
    };
  }
}

/** Sends a ping up to three times, until it arrives or can never arrive. */
async function sendPingSurely(url: URL, options: PingOptions): Promise<Pinged> {
  let pinged = await sendPing(url, options);
  for (const wait of RETRY_WAITS_MS) {
    if (pinged.ok || pinged.isFinal || options.stop.aborted) return pinged;
    await sleep(wait, undefined, { signal: options.stop }).catch(() => {});
    pinged = await sendPing(url, options);
  }
  return pinged;
}
