import { setTimeout as sleep } from "node:timers/promises";
import { credentials, type ClientDuplexStream } from "@grpc/grpc-js";
import type { Logger } from "pino";
import type { Clock, Random } from "#shared/clock.ts";
import { ProbeClient, type AgentMessage, type Hello, type HubMessage } from "#shared/protocol/probe.ts";
import { BEAT_MS, MAX_MESSAGE_BYTES, SILENT_MS } from "#shared/wire.ts";
import type { JobPool } from "#probe-agent/jobs.ts";
import type { AgentMetrics } from "#probe-agent/metrics.ts";
import { reconnectDelayMs } from "#probe-agent/reconnect.ts";

/** The agent's tie to one control-plane address. */
export interface Attachment {
  /** Tells the hub that no new jobs are wanted; results still go out. */
  drain(): void;
  /** Says goodbye after everything already sent, and dials no more; resolves when the hub has heard it, in 1 s at most. */
  stop(): Promise<void>;
}

/** What an attachment needs. */
export interface AttachOptions {
  /** host:port or dns:///name:port. */
  readonly address: string;
  readonly hello: Hello;
  readonly pool: JobPool;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: AgentMetrics;
  readonly log: Logger;
  /** Worst delay of this process's own loop lately, milliseconds. */
  readonly loopLagMs: () => number;
  /** The control plane will never take this agent: the process should say so and end. */
  readonly onRefused: (message: string) => void;
  /** The operator wants this agent to finish and go. */
  readonly onDrain: () => void;
}

/** A hub that answers ends the stream within a round trip; one that does not is not worth waiting for. */
const GOODBYE_MS = 1_000;

type Stream = ClientDuplexStream<AgentMessage, HubMessage>;

/** Dials, says hello, takes jobs; dials again with jittered back-off whenever the stream ends, for ever. */
export function attach(options: AttachOptions): Attachment {
  const { hello, pool, clock, random, metrics } = options;
  const log = options.log.child({ controlPlane: options.address });
  const client = new ProbeClient(options.address, credentials.createInsecure(), {
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
    // We reconnect ourselves: grpc's own back-off (up to 2 min) would break "attached again within 20 s".
    "grpc.initial_reconnect_backoff_ms": 250,
    "grpc.max_reconnect_backoff_ms": 1_000,
  });
  let failures = 0;
  let current: Stream | null = null;
  let redial: NodeJS.Timeout | null = null;
  let stopped = false;
  let draining = false;

  function dial(): void {
    const stream = client.attach();
    current = stream;
    let heardAt = clock.monotonic();
    let welcomed = false;
    // The hub's word on when a silent stream's jobs are another agent's; ours until the first job has come.
    let leaseMs = SILENT_MS;
    const send = (message: AgentMessage) => {
      if (current === stream && !stream.destroyed) stream.write(message);
    };
    const beat = setInterval(() => {
      if (clock.monotonic() - heardAt > leaseMs) return lost("silent");
      if (!welcomed) return;
      const value = { running: pool.running(), credits: hello.credits, loopLagMs: options.loopLagMs(), waiting: 0 };
      send({ body: { $case: "beat", value } });
    }, BEAT_MS);

    function lost(reason: string, error?: Error): void {
      if (current !== stream) return;
      current = null;
      clearInterval(beat);
      pool.abandon(send);
      stream.cancel();
      if (welcomed) metrics.streamClosed(reason);
      if (stopped) return;
      failures = welcomed ? 1 : failures + 1;
      const delayMs = reconnectDelayMs(failures, random);
      log.warn({ reason, detail: error?.message, retryInMs: Math.round(delayMs) }, "control plane lost");
      redial = setTimeout(dial, delayMs);
    }

    stream.on("data", (message: HubMessage) => {
      heardAt = clock.monotonic();
      const { body } = message;
      switch (body?.$case) {
        case "welcome":
          welcomed = true;
          metrics.streamOpened();
          log.info({ replica: body.value.replicaId }, "attached");
          if (draining) send({ body: { $case: "draining", value: {} } });
          return;
        case "job":
          leaseMs = Math.max(BEAT_MS, body.value.leaseMs);
          return pool.accept(body.value, send);
        case "cancel":
          return pool.cancel(body.value.jobId, body.value.attempt);
        case "rejected":
          log.error({ reason: body.value.reason, detail: body.value.message }, "control plane refused this agent");
          if (!body.value.retry) options.onRefused(body.value.message);
          return lost("rejected");
        case "drain":
          return options.onDrain();
        case "beat":
        case undefined:
      }
    });
    stream.on("error", (error: Error) => lost("error", error));
    stream.on("end", () => lost("closed"));
    stream.write({ body: { $case: "hello", value: hello } });
  }

  dial();
  return {
    drain() {
      draining = true;
      current?.write({ body: { $case: "draining", value: {} } });
    },
    async stop() {
      stopped = true;
      if (redial !== null) clearTimeout(redial);
      const stream = current;
      if (stream !== null) {
        const ended = new Promise((resolve) => stream.once("end", resolve).once("error", resolve));
        stream.end();
        await Promise.race([ended, sleep(GOODBYE_MS, undefined, { ref: false })]);
      }
      client.close();
    },
  };
}
