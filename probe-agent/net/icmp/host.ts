import { type ChildProcess, fork } from "node:child_process";
import { createHostJobs, createRestartWait, type RestartBackOff } from "#probe-agent/net/icmp/host-jobs.ts";
import type {
  BoundedTrace,
  FromChild,
  IcmpCapabilities,
  JobEvent,
  MtuRequest,
  RefusalRequest,
  ToChild,
} from "#probe-agent/net/icmp/messages.ts";
import type { EchoRequest } from "#probe-agent/port/packets.ts";
import { fileURLToPath } from "node:url";

/** A job for the ICMP process. */
export type IcmpOrder =
  | { readonly kind: "echo"; readonly request: EchoRequest }
  | { readonly kind: "trace"; readonly request: BoundedTrace }
  | { readonly kind: "mtu"; readonly request: MtuRequest }
  | { readonly kind: "refusal"; readonly request: RefusalRequest };

/** The agent's side of its ICMP process. */
export interface IcmpHost {
  /**
   * Starts the process if it sleeps. Resolves after it has reported its capabilities or could not start. Never rejects.
   * Callers whose clock must not count the start wait for this before their first job.
   */
  ready(): Promise<IcmpCapabilities>;
  /** Returns the current capabilities. There are none while the process restarts; they remain while it sleeps. */
  capabilities(): IcmpCapabilities;
  /** Process id. Null while there is no process. */
  pid(): number | null;
  /**
   * Starts a job, and the process if it sleeps. Its last event ends it, also if the process dies. Returns a function that
   * cancels it without an event.
   */
  start(order: IcmpOrder, onEvent: (event: JobEvent) => void): () => void;
  /** Ends the process. Running jobs fail. */
  stop(): Promise<void>;
}

/** Options of the ICMP host. Times are in milliseconds. */
interface IcmpHostOptions {
  /** Monotonic milliseconds. */
  readonly clock: { monotonic(): number };
  /** One line for the agent's log. */
  readonly log: (line: string) => void;
  /** Called when the process died, before another one starts. */
  readonly onRestart?: () => void;
  /** The process sleeps, that is ends, when no job has begun for this time and none runs. Default: it never sleeps. */
  readonly sleepAfterMs?: number;
  /** File that the process runs. Default: main.ts of this folder. */
  readonly entry?: string;
  readonly backOffMs?: RestartBackOff;
}

const BACK_OFF_MS = { first: 250, longest: 15_000 };
const DOWN: IcmpCapabilities = { v4: false, v6: false, missing: ["the ICMP process is not running"] };

/** Receives events of the ICMP process. */
interface ChildEvents {
  message(message: FromChild): void;
  /** One line for the agent's log. */
  log(line: string): void;
  /** Called once when the process ended or could not start. `how` is a signal, an exit code or "not started". */
  ended(how: string): void;
}

/** File that the ICMP process runs. */
const ENTRY = fileURLToPath(new URL("main.ts", import.meta.url));
const STOP_WAIT_MS = 2_000;
const MOST_LOG_CHARACTERS = 500;

/**
 * Starts the ICMP process, and restarts it with back-off if it dies. One without work can sleep: the next job starts
 * another. A process that can open no raw socket is ended and not restarted, because the rights of an agent do not
 * change while it runs.
 */
export function startIcmpHost(options: IcmpHostOptions): IcmpHost {
  const { clock, log } = options;
  const nextWaitMs = createRestartWait(options.backOffMs ?? BACK_OFF_MS);
  const jobs = createHostJobs();
  let opening = Promise.withResolvers<void>();
  let child: ChildProcess | null = null;
  let capabilities: IcmpCapabilities = DOWN;
  let startedAt = 0;
  let open = false;
  let asleep = false;
  let stopped = false;
  let withoutRights = false;
  let restart: NodeJS.Timeout | undefined;
  let idle: NodeJS.Timeout | undefined;

  function launch(): void {
    startedAt = clock.monotonic();
    open = false;
    const started = startChild(options.entry ?? ENTRY, {
      message,
      log,
      // The end of a process that sleeps is no news.
      ended: (how) => child === started && ended(how),
    });
    child = started;
  }
  function message(received: FromChild): void {
    if (received.kind === "events") return received.events.forEach((event) => jobs.deliver(event));
    ({ capabilities } = received);
    open = true;
    opening.resolve();
    if (capabilities.v4 || capabilities.v6) return stayAwake();
    log(`icmp: not available here (${capabilities.missing.join("; ")})`);
    withoutRights = true;
    child?.disconnect();
  }
  function ended(how: string): void {
    child = null;
    if (!withoutRights) capabilities = DOWN;
    jobs.failAll("icmp_process_lost", "the agent's ICMP process ended");
    opening.resolve();
    if (stopped || withoutRights) return;
    const waitMs = nextWaitMs(clock.monotonic() - startedAt);
    options.onRestart?.();
    log(`icmp: process ended (${how}); restart in ${waitMs} ms`);
    restart = setTimeout(launch, waitMs);
  }
  function stayAwake(): void {
    clearTimeout(idle);
    if (options.sleepAfterMs !== undefined) idle = setTimeout(sleep, options.sleepAfterMs).unref();
  }
  function sleep(): void {
    if (jobs.count() > 0) return stayAwake();
    if (!open || child?.connected !== true) return;
    asleep = true;
    child.disconnect();
    child = null;
  }
  function wake(): void {
    if (stopped) return;
    stayAwake();
    if (!asleep) return;
    asleep = false;
    opening = Promise.withResolvers();
    launch();
  }
  const send = (order: ToChild): void => {
    if (child?.connected === true) child.send(order, () => {});
  };
  const refuse = (job: number): void => {
    const reason = withoutRights ? "unsupported" : "icmp_process_lost";
    jobs.deliver({ job, kind: "failed", reason, message: capabilities.missing.join("; ") });
  };

  launch();
  return {
    async ready() {
      wake();
      await opening.promise;
      return capabilities;
    },
    capabilities: () => capabilities,
    pid: () => child?.pid ?? null,
    start(order, onEvent) {
      const job = jobs.add(onEvent);
      wake();
      if (child?.connected === true && (capabilities.v4 || capabilities.v6)) send({ ...order, job });
      else queueMicrotask(() => refuse(job));
      return () => {
        if (jobs.remove(job)) send({ kind: "cancel", job });
      };
    },
    async stop() {
      stopped = true;
      clearTimeout(idle);
      clearTimeout(restart);
      if (child !== null) await stopChild(child);
    },
  };
}

/** What it makes lives for one packet. With the default of 16 MB for it, 15,000 echoes a second take 140 MB more. */
const MEMORY = ["--max-semi-space-size=2"];

/** Starts the ICMP process and reports its messages, its error output and its end. */
function startChild(entry: string, events: ChildEvents): ChildProcess {
  const child = fork(entry, [], { execArgv: MEMORY, stdio: ["ignore", "ignore", "pipe", "ipc"] });
  child.stderr
    ?.setEncoding("utf8")
    .on("data", (text: string) => events.log(`icmp: ${text.trim().slice(0, MOST_LOG_CHARACTERS)}`));
  child.on("message", (message: FromChild) => events.message(message));
  // An IPC write can fail while the process dies; "exit" follows. A process that did not start has no exit.
  child.on("error", (error) => {
    events.log(`icmp: ${error.message}`);
    if (child.pid === undefined) events.ended("not started");
  });
  child.on("exit", (code, signal) => events.ended(signal ?? `exit code ${code}`));
  return child;
}

/** Ends the ICMP process: closes its channel, and kills it if it still runs after 2 s. Resolves after it has exited. */
async function stopChild(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const force = setTimeout(() => child.kill("SIGKILL"), STOP_WAIT_MS);
  if (child.connected) child.disconnect();
  await exited;
  clearTimeout(force);
}
