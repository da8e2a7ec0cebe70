import type { Logger } from "pino";
import type { Clock, Random } from "#shared/clock.ts";
import type { Hello, Rejected, Replica, Welcome } from "#shared/protocol/probe.ts";
import { attach, type Attachment } from "#probe-agent/attachment/attach.ts";
import { creditFloor, rebalance, shareCredits } from "#probe-agent/attachment/credits.ts";
import type { Credential } from "#probe-agent/membership/identity.ts";
import type { JobPool } from "#probe-agent/attachment/job-pool.ts";
import type { AgentMetrics } from "#probe-agent/metrics/agent-metrics.ts";
import { huntDelayMs, reconnectDelayMs } from "#probe-agent/attachment/reconnect.ts";
import { addressesToDial, linksToClose, readReplicas, type Link } from "#probe-agent/attachment/replicas.ts";

/** The agent's streams: one to every live replica of the control plane. */
export interface Attachments {
  /** A job began or ended: credits may have to move. */
  jobsChanged(): void;
  /** Tells every hub that no new jobs are wanted; results still go out. */
  drain(): void;
  /** Says goodbye after everything already sent, and dials no more; resolves when the hubs have heard it. */
  stop(): Promise<void>;
  streams(): { readonly dialling: number; readonly standing: number };
  replicas(): { readonly reached: number; readonly missing: number };
  creditsGranted(): number;
  /** Addresses of the streams that stand. */
  standing(): readonly string[];
}

/** What the streams need. */
export interface AttachmentsOptions {
  /** VANTAGE_CONTROL_PLANE. */
  readonly configured: readonly string[];
  /** Asked at each dial: a renewed certificate serves new streams, the old ones go on. */
  readonly credential: () => Credential;
  /** Without its credits. */
  readonly hello: () => Hello;
  readonly pool: JobPool;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: AgentMetrics;
  readonly log: Logger;
  /** Worst delay of this process's own loop lately, milliseconds. */
  readonly loopLagMs: () => number;
  readonly onWelcome: (welcome: Welcome, address: string) => void;
  readonly onRejected: (rejected: Rejected) => void;
  /** A dial failed before any welcome. */
  readonly onUnreached: (detail: string) => void;
  readonly onDrain: () => void;
}

/** Missing replicas are dialled and lost ones left so often (decisions 7). */
const ROUND_MS = 30_000;
/** Words on credits between two beats are no more frequent than this. */
const EARLY_BEAT_MS = 50;
const SHARE_MS = 1_000;

/** What a hub has been told, and has told us. */
interface Told {
  granted: number;
  waiting: number;
  /** A job of it was declined for want of a place: it holds back until it hears of one. */
  heldBack: boolean;
}

interface Stream extends Link {
  readonly attachment: Attachment;
}

/** Dials the configured addresses, then whatever replicas they list; goes on for ever. */
export function keepAttached(options: AttachmentsOptions): Attachments {
  const { configured, pool, clock, random, metrics, log } = options;
  const { maxJobs } = options.hello();
  const attached = new Set<Attachment>();
  const told = new Map<Attachment, Told>();
  const ledTo = new Map<string, string>();
  const failures = new Map<string, number>();
  const pauses = new Map<string, NodeJS.Timeout>();
  let listed: Replica[] | null = null;
  let early: NodeJS.Timeout | null = null;
  let draining = false;
  let stopped = false;

  const links = (): Stream[] =>
    Array.from(attached, (attachment) => ({
      attachment,
      address: attachment.address,
      replicaId: attachment.replicaId(),
      running: pool.running(attachment),
    }));
  const reached = (replicaId: string) => [...attached].some((stream) => stream.replicaId() === replicaId);

  function plan(): void {
    if (stopped) return;
    for (const address of addressesToDial({ configured, links: links(), listed, ledTo })) {
      if (!pauses.has(address)) dial(address);
    }
  }

  function dial(address: string): void {
    const older = [...attached];
    const attachment = attach({
      address,
      credential: options.credential(),
      hello: (spoken) => {
        const credits = spoken && told.size > 0 ? Math.max(1, creditFloor(maxJobs, told.size + 1)) : maxJobs;
        return { ...options.hello(), credits };
      },
      beat: (stream) => beatOf(stream),
      older: () => older.filter((stream) => attached.has(stream)),
      clock,
      events: {
        onWelcome,
        onReplicas: (_stream, replicas) => list(replicas),
        onBeat(stream, waiting) {
          const known = told.get(stream);
          if (known === undefined || known.waiting === waiting) return;
          known.waiting = waiting;
          jobsChanged();
        },
        onJob(stream, job) {
          const known = told.get(stream);
          if (pool.accept(job, stream) === "busy" && known !== undefined) known.heldBack = true;
        },
        onCancel: (jobId, attempt) => pool.cancel(jobId, attempt),
        onDrain: () => options.onDrain(),
        onRejected(stream, rejected) {
          const { reason, message } = rejected;
          log.error({ controlPlane: stream.address, reason, detail: message }, "control plane refused this agent");
          options.onRejected(rejected);
        },
        onLost,
      },
    });
    attached.add(attachment);
  }

  function onWelcome(stream: Attachment, welcome: Welcome): void {
    const { address } = stream;
    failures.delete(address);
    ledTo.set(address, welcome.replicaId);
    log.info({ controlPlane: address, replica: welcome.replicaId }, "attached");
    if (draining) stream.say({ body: { $case: "draining", value: {} } });
    told.set(stream, { granted: 0, waiting: 0, heldBack: false });
    grant(shareCredits(maxJobs, demands()));
    options.onWelcome(welcome, address);
    if (welcome.replicas !== undefined) list(welcome.replicas.replicas);
    plan();
  }

  function list(replicas: readonly Replica[]): void {
    if (replicas.length === 0) return;
    listed = readReplicas(replicas);
    plan();
  }

  function onLost(stream: Attachment, reason: string, detail?: string): void {
    const { address } = stream;
    const stood = stream.replicaId() !== null;
    attached.delete(stream);
    told.delete(stream);
    pool.abandon(stream);
    if (stood) metrics.streamClosed(reason);
    if (reason === "duplicate" && detail !== undefined) ledTo.set(address, detail);
    if (stopped) return;
    const failed = stood ? 1 : (failures.get(address) ?? 0) + 1;
    failures.set(address, failed);
    const delayMs = reason === "duplicate" ? huntDelayMs(failed, random) : reconnectDelayMs(failed, random);
    if (reason === "duplicate") log.debug({ controlPlane: address, replica: detail }, "there is a stream already");
    else {
      const retryInMs = Math.round(delayMs);
      log.warn({ controlPlane: address, reason, detail, retryInMs }, "control plane lost");
      if (!stood) options.onUnreached(detail ?? reason);
    }
    clearTimeout(pauses.get(address));
    const pause = setTimeout(() => {
      pauses.delete(address);
      if (stood) metrics.reconnecting();
      plan();
    }, delayMs);
    pauses.set(address, pause);
    if (told.size > 0) grant(shareCredits(maxJobs, demands()));
    plan();
  }

  const demands = () =>
    Array.from(told, ([stream, { granted, waiting }]) => ({ granted, waiting, running: pool.running(stream) }));

  /** Tells what has changed, the smaller figures first, so that no more than the pool is promised at any moment. */
  function grant(shares: readonly number[]): void {
    const changes = Array.from(told, ([stream, known], index) => ({ stream, known, share: shares[index] ?? 0 }))
      .filter(({ known, share }) => known.granted !== share)
      .toSorted((a, b) => a.share - a.known.granted - (b.share - b.known.granted));
    for (const { stream, known, share } of changes) {
      known.granted = share;
      stream.say({ body: { $case: "beat", value: beatOf(stream) } });
    }
  }

  const beatOf = (stream: Attachment) => ({
    running: pool.running(),
    credits: told.get(stream)?.granted ?? 0,
    loopLagMs: options.loopLagMs(),
    waiting: 0,
  });

  function jobsChanged(): void {
    const mayMove = told.size > 1 || [...told.values()].some(({ heldBack }) => heldBack);
    if (mayMove) early ??= setTimeout(sayEarly, EARLY_BEAT_MS);
  }

  function sayEarly(): void {
    early = null;
    const shares = rebalance(maxJobs, demands());
    if (shares !== null) grant(shares);
    if (pool.running() >= maxJobs) return;
    for (const [stream, known] of told) {
      if (!known.heldBack) continue;
      known.heldBack = false;
      stream.say({ body: { $case: "beat", value: beatOf(stream) } });
    }
  }

  const sharing = setInterval(() => grant(shareCredits(maxJobs, demands())), SHARE_MS);
  const round = setInterval(() => {
    for (const { attachment } of linksToClose({ configured, links: links(), listed, ledTo })) attachment.close("gone");
    plan();
  }, ROUND_MS);
  plan();
  return {
    jobsChanged,
    drain() {
      draining = true;
      for (const stream of told.keys()) stream.say({ body: { $case: "draining", value: {} } });
    },
    async stop() {
      stopped = true;
      clearInterval(sharing);
      clearInterval(round);
      if (early !== null) clearTimeout(early);
      for (const pause of pauses.values()) clearTimeout(pause);
      await Promise.all(Array.from(attached, (stream) => stream.stop()));
    },
    streams: () => ({ dialling: attached.size - told.size, standing: told.size }),
    replicas() {
      const all = (listed ?? []).length;
      const missing = (listed ?? []).filter(({ id }) => !reached(id)).length;
      return { reached: listed === null ? told.size : all - missing, missing };
    },
    standing: () => Array.from(told.keys(), ({ address }) => address),
    creditsGranted: () => demands().reduce((total, { granted }) => total + granted, 0),
  };
}
