import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
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

/** What an agent asks of its ICMP process. */
export type IcmpOrder =
  | { readonly kind: "echo"; readonly request: EchoRequest }
  | { readonly kind: "trace"; readonly request: BoundedTrace }
  | { readonly kind: "mtu"; readonly request: MtuRequest }
  | { readonly kind: "refusal"; readonly request: RefusalRequest };

/** The agent's side of its ICMP process. */
export interface IcmpHost {
  /** Resolves once the first process has said what it can do, or could not start; never rejects. */
  ready(): Promise<IcmpCapabilities>;
  /** What can be done right now; nothing while the process is being restarted. */
  capabilities(): IcmpCapabilities;
  /** The process's id, null while there is none. */
  pid(): number | null;
  /** Starts a job; its last event is its end, also when the process dies. Returns the way to cancel it silently. */
  start(order: IcmpOrder, onEvent: (event: JobEvent) => void): () => void;
  /** Ends the process; running jobs fail. */
  stop(): Promise<void>;
}

/** What the host is given; times in milliseconds. */
export interface IcmpHostOptions {
  /** Monotonic milliseconds. */
  readonly clock: { monotonic(): number };
  /** One line for the agent's log. */
  readonly log: (line: string) => void;
  /** The process died and another one takes its place. */
  readonly onRestart?: () => void;
  /** The child's entry file; its own by default. */
  readonly entry?: string;
  /** First and longest wait before a restart. */
  readonly backOffMs?: { readonly first: number; readonly longest: number };
}

const ENTRY = fileURLToPath(new URL("main.ts", import.meta.url));
const BACK_OFF_MS = { first: 250, longest: 15_000 };
// A process that lived this long had not failed to start.
const SETTLED_AFTER_MS = 60_000;
const STOP_WAIT_MS = 2_000;
const DOWN: IcmpCapabilities = { v4: false, v6: false, missing: ["the ICMP process is not running"] };

/**
 * Starts the ICMP process and restarts it with back-off when it dies. Where it can open no socket it is ended for good:
 * rights do not come back by themselves.
 */
export function startIcmpHost(options: IcmpHostOptions): IcmpHost {
  const backOff = options.backOffMs ?? BACK_OFF_MS;
  const jobs = new Map<number, (event: JobEvent) => void>();
  let child: ChildProcess | null = null;
  let now: IcmpCapabilities = DOWN;
  let nextJob = 1;
  let waitMs = backOff.first;
  let stopped = false;
  let withoutRights = false;
  let restart: NodeJS.Timeout | undefined;
  const first = Promise.withResolvers<IcmpCapabilities>();

  const tell = (event: JobEvent): void => {
    const listener = jobs.get(event.job);
    if (event.kind !== "reply" && event.kind !== "hop") jobs.delete(event.job);
    listener?.(event);
  };
  const failAll = (): void => {
    for (const job of jobs.keys()) {
      tell({ job, kind: "failed", reason: "icmp_process_lost", message: "the agent's ICMP process ended" });
    }
  };

  function launch(): void {
    const startedAt = options.clock.monotonic();
    const launched = fork(options.entry ?? ENTRY, [], { execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] });
    child = launched;
    launched.stderr
      ?.setEncoding("utf8")
      .on("data", (text: string) => options.log(`icmp: ${text.trim().slice(0, 500)}`));
    launched.on("message", (message: FromChild) => {
      if (message.kind === "events") return message.events.forEach(tell);
      now = message.capabilities;
      first.resolve(now);
      if (now.v4 || now.v6) return;
      options.log(`icmp: not available here (${now.missing.join("; ")})`);
      withoutRights = true;
      launched.disconnect();
    });
    // An IPC write may fail while the process dies; its exit tells the jobs. A process that never was has none.
    launched.on("error", (error) => {
      options.log(`icmp: ${error.message}`);
      if (launched.pid === undefined) ended("not started");
    });
    launched.on("exit", (code, signal) => ended(signal ?? `exit code ${code}`));
    const ended = (how: string): void => {
      child = null;
      if (!withoutRights) now = DOWN;
      failAll();
      first.resolve(now);
      if (stopped || withoutRights) return;
      if (options.clock.monotonic() - startedAt >= SETTLED_AFTER_MS) waitMs = backOff.first;
      options.onRestart?.();
      options.log(`icmp: process ended (${how}); restart in ${waitMs} ms`);
      restart = setTimeout(launch, waitMs);
      waitMs = Math.min(waitMs * 2, backOff.longest);
    };
  }

  const why = (): { readonly reason: string; readonly message: string } => ({
    reason: withoutRights ? "unsupported" : "icmp_process_lost",
    message: now.missing.join("; "),
  });
  const send = (message: ToChild): void => {
    if (child?.connected === true) child.send(message, () => {});
  };

  launch();
  return {
    ready: () => first.promise,
    capabilities: () => now,
    pid: () => child?.pid ?? null,
    start(order, onEvent) {
      const job = nextJob;
      nextJob += 1;
      jobs.set(job, onEvent);
      if (child?.connected === true && (now.v4 || now.v6)) send({ ...order, job });
      else queueMicrotask(() => tell({ job, kind: "failed", ...why() }));
      return () => {
        if (jobs.delete(job)) send({ kind: "cancel", job });
      };
    },
    async stop() {
      stopped = true;
      clearTimeout(restart);
      const last = child;
      if (last === null) return;
      const exited = new Promise((resolve) => last.once("exit", resolve));
      const force = setTimeout(() => last.kill("SIGKILL"), STOP_WAIT_MS);
      if (last.connected) last.disconnect();
      await exited;
      clearTimeout(force);
    },
  };
}
