import type { Logger } from "pino";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { AgentMessage, Hello, Rejected, Replica, Welcome } from "#shared/protocol/probe.ts";
import { attach, type Attachment } from "#probe-agent/attachment/attach.ts";
import { createCreditGrants } from "#probe-agent/attachment/credit-grants.ts";
import type { Credential } from "#probe-agent/membership/identity.ts";
import { sendLog } from "#probe-agent/attachment/kept-log.ts";
import type { JobPool } from "#probe-agent/attachment/job-pool.ts";
import type { AgentMetrics } from "#probe-agent/metrics/agent-metrics.ts";
import { createRedials } from "#probe-agent/attachment/redials.ts";
import {
  addressesToDial,
  countReplicas,
  linksToClose,
  readReplicas,
  type Link,
  type Situation,
} from "#probe-agent/attachment/replicas.ts";

/** The agent's streams: one to every live replica of the control plane. */
export interface Attachments {
  /** Called when a job began or ended, because credits may have to move to another stream. */
  jobsChanged(): void;
  /** Asks every replica to send no new jobs. Results are still sent. */
  drain(): void;
  /**
   * Closes every stream after what was already sent, and dials no more. Resolves when the replicas have confirmed it.
   */
  stop(): Promise<void>;
  /** Counts streams. `standing` are those that a replica has welcomed. */
  streams(): { readonly dialling: number; readonly standing: number };
  replicas(): { readonly reached: number; readonly missing: number };
  creditsGranted(): number;
  /** Returns the addresses of the streams that a replica has welcomed. */
  attachedAddresses(): readonly string[];
}

/** Options of the streams. */
interface AttachmentsOptions {
  /** VANTAGE_CONTROL_PLANE. */
  readonly configured: readonly string[];
  /** Read at each dial: new streams use a renewed certificate, open streams continue with the old one. */
  readonly credential: () => Credential;
  /** The stream replaces its credits. */
  readonly hello: () => Hello;
  readonly pool: JobPool;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: AgentMetrics;
  readonly log: Logger;
  /** Returns the newest lines of the log, for the operator. */
  readonly logLines: () => readonly string[];
  /** Worst recent delay of this process's event loop, in milliseconds. */
  readonly loopLagMs: () => number;
  readonly onWelcome: (welcome: Welcome, address: string) => void;
  readonly onRejected: (rejected: Rejected) => void;
  /** Called when a dial failed before any welcome. */
  readonly onUnreached: (detail: string) => void;
  readonly onDrain: () => void;
}

/** Interval at which missing replicas are dialled and streams to lost ones are closed, in milliseconds. */
const ROUND_MS = 30_000;

const DRAINING: AgentMessage = { body: { $case: "draining", value: {} } };

/** Dials the configured addresses and then every replica that they list, until it is stopped. */
export function keepAttached(options: AttachmentsOptions): Attachments {
  const { configured, pool, clock, random, metrics, log, loopLagMs } = options;
  const attached = new Set<Attachment>();
  const ledTo = new Map<string, string>();
  let listed: Replica[] | null = null;
  let draining = false;
  let stopped = false;

  const grants = createCreditGrants<Attachment>({
    maxJobs: options.hello().maxJobs,
    running: (stream) => pool.running(stream),
    loopLagMs,
  });
  const redials = createRedials(random, ({ wasAttached }) => {
    if (wasAttached) metrics.reconnecting();
    plan();
  });

  const situation = (): Situation<StreamLink> => ({
    configured,
    links: Array.from(attached, (stream) => linkOf(stream, pool)),
    listed,
    ledTo,
  });

  function plan(): void {
    if (stopped) return;
    for (const address of addressesToDial(situation())) if (!redials.isWaiting(address)) dial(address);
  }

  function dial(address: string): void {
    const older = [...attached];
    const attachment = attach({
      address,
      credential: options.credential(),
      hello: (named) => ({ ...options.hello(), credits: grants.helloCredits(named) }),
      beat: (stream) => grants.beatOf(stream),
      older: () => older.filter((stream) => attached.has(stream)),
      clock,
      events: {
        onWelcome,
        onLost,
        onReplicas: (_stream, replicas) => readList(replicas),
        onBeat: (stream, waiting) => grants.setWaiting(stream, waiting),
        onJob(stream, job) {
          if (pool.accept(job, stream) === "busy") grants.holdBack(stream);
        },
        onCancel: (jobId, attempt) => pool.cancel(jobId, attempt),
        onLogRequest: (stream, requestId) => void sendLog(options.logLines(), requestId, stream),
        onDrain: () => options.onDrain(),
        onRejected(stream, rejected) {
          const { reason, message } = rejected;
          log.error({ controlPlane: stream.address, reason, detail: message }, "the control plane rejected this agent");
          options.onRejected(rejected);
        },
      },
    });
    attached.add(attachment);
  }

  function onWelcome(stream: Attachment, welcome: Welcome): void {
    const { address } = stream;
    redials.succeeded(address);
    ledTo.set(address, welcome.replicaId);
    log.info({ controlPlane: address, replica: welcome.replicaId }, "attached");
    if (draining) stream.say(DRAINING);
    grants.add(stream);
    options.onWelcome(welcome, address);
    if (welcome.replicas !== undefined) readList(welcome.replicas.replicas);
    plan();
  }

  function readList(replicas: readonly Replica[]): void {
    if (replicas.length === 0) return;
    listed = readReplicas(replicas);
    plan();
  }

  function onLost(stream: Attachment, reason: string, detail?: string): void {
    const { address } = stream;
    const wasAttached = stream.replicaId() !== null;
    const duplicate = reason === "duplicate";
    attached.delete(stream);
    pool.abandon(stream);
    if (wasAttached) metrics.streamClosed(reason);
    if (duplicate && detail !== undefined) ledTo.set(address, detail);
    if (stopped) return;
    const delayMs = redials.failed(address, { wasAttached, duplicate });
    logLoss(log, { address, reason, detail, wasAttached, delayMs });
    if (!wasAttached && !duplicate) options.onUnreached(detail ?? reason);
    grants.remove(stream);
    plan();
  }

  const round = setInterval(() => {
    for (const { stream } of linksToClose(situation())) stream.close("gone", "the replica is no longer live");
    plan();
  }, ROUND_MS);
  plan();
  return {
    jobsChanged: () => grants.jobsChanged(),
    drain() {
      draining = true;
      for (const stream of grants.streams()) stream.say(DRAINING);
    },
    async stop() {
      stopped = true;
      clearInterval(round);
      grants.stop();
      redials.stop();
      await Promise.all(Array.from(attached, (stream) => stream.stop()));
    },
    streams: () => ({ dialling: attached.size - grants.streams().length, standing: grants.streams().length }),
    replicas: () => countReplicas(situation()),
    attachedAddresses: () => grants.streams().map(({ address }) => address),
    creditsGranted: () => grants.total(),
  };
}

interface StreamLink extends Link {
  readonly stream: Attachment;
}

function linkOf(stream: Attachment, pool: JobPool): StreamLink {
  return { stream, address: stream.address, replicaId: stream.replicaId(), running: pool.running(stream) };
}

interface Loss {
  readonly address: string;
  readonly reason: string;
  readonly detail: string | undefined;
  readonly wasAttached: boolean;
  readonly delayMs: number;
}

function logLoss(log: Logger, { address, reason, detail, wasAttached, delayMs }: Loss): void {
  if (reason === "duplicate") {
    log.debug({ controlPlane: address, replica: detail }, "already attached to this replica by another stream");
    return;
  }
  const message = wasAttached ? "connection to the control plane lost" : "cannot attach to the control plane";
  log.warn({ controlPlane: address, reason, detail, retryInMs: Math.round(delayMs) }, message);
}
