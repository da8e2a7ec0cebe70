import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock } from "#shared/clock.ts";
import { DatabaseAway } from "#control-plane/database/database-away.ts";
import type { GuardedDatabase } from "#control-plane/database/guarded.ts";
import type { Notifications } from "#control-plane/database/notifications.ts";
import type { Presence, ReplicaInfo } from "#control-plane/dispatch/presence.ts";
import { watchAdvertised, type AdvertiseWatch } from "#control-plane/probes/presence/advertised.ts";
import { createOwnAttachments } from "#control-plane/probes/presence/attachments.ts";
import { DEAD_MS } from "#control-plane/probes/presence/dead-replicas.ts";
import { createPresenceMetrics, type PresenceMetrics } from "#control-plane/probes/presence/metrics.ts";
import { createPictureReader } from "#control-plane/probes/presence/picture-reader.ts";
import { BLANK, type Picture } from "#control-plane/probes/presence/picture.ts";
import { createRounds } from "#control-plane/probes/presence/rounds.ts";
import { createSignOfLife } from "#control-plane/probes/presence/sign-of-life.ts";
import { PRESENCE_CHANNEL } from "#control-plane/probes/presence/store.ts";

/** Milliseconds between signs of life. */
const BEAT_MS = 1_000;
/** Milliseconds between readings of the picture without a notification, which can be lost. */
const SWEEP_MS = 2_000;
/** Least milliseconds between two writes, and so between two notifications. */
const REST_MS = 100;

/** Presence that runs from `start` to `stop`. */
export interface PresenceService extends Presence {
  /** Ids of live replicas that advertise no address to agents, while there are several replicas (advertised.ts). */
  unadvertised(): readonly string[];
  /** Enters this replica and takes the first look; resolves also where the database is away. Call it once. */
  start(replicaId: string): Promise<void>;
  /** Takes this replica out, where the database can be reached, and closes the connection. */
  stop(): Promise<void>;
}

/** What presence needs. */
interface PresenceDeps {
  /** A connection for presence alone: a sign of life must not queue behind other statements. */
  readonly database: GuardedDatabase;
  readonly notifications: Notifications;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  /** host:port that agents dial to reach this replica; empty: not advertised. */
  readonly address: string;
}

/**
 * Keeps this replica's part of the database's picture true and its own copy of the picture fresh. All statements run one
 * after the other in rounds: write what has changed, then read. Nothing here rejects or throws into the hub. While the
 * database is away the picture stays as it is; a reading that shows our own part wrong has it written again.
 */
export function createPresence(deps: PresenceDeps): PresenceService {
  const { database, notifications, clock, log, address } = deps;
  const attachments = createOwnAttachments();
  const reader = createPictureReader({ database, clock, attachments });
  const signOfLife = createSignOfLife({ database, clock, attachments });
  const metrics = createPresenceMetrics(deps.registry, {
    clock,
    picture: () => reader.picture(),
    own: (id) => attachments.get(id),
  });
  const failures = createFailureLog(log, metrics);
  const advertised = watchAdvertised(DEAD_MS);
  const listeners: (() => void)[] = [];
  const timers: NodeJS.Timeout[] = [];
  let self: ReplicaInfo = { id: "", address };
  let isStopped = false;
  const rounds = createRounds(runRound, REST_MS, clock);

  async function runRound(): Promise<void> {
    let operation: Operation = "write";
    try {
      if (signOfLife.isDue()) await signOfLife.write(self);
      operation = "read";
      if (reader.isDue()) await readPicture();
      // More changes than one statement takes, or changes that the reading has found.
      if (attachments.hasChanges()) rounds.wake();
      failures.noteSuccess();
    } catch (error) {
      // What was not written or read is tried again with the next beat.
      failures.noteFailure(operation, error);
    }
  }

  async function readPicture(): Promise<void> {
    const { haveReplicasChanged } = await reader.read(self);
    metrics.looked();
    const { replicas } = reader.picture();
    logAdvertised(log, advertised, replicas, clock.monotonic());
    if (!haveReplicasChanged) return;
    log.info({ replicas: replicas.map((replica) => replica.id) }, "replicas changed");
    for (const listener of listeners) listener();
  }

  function demandReading(): void {
    reader.demand();
    if (!isStopped) rounds.wake();
  }

  return {
    absent: () => reader.absent(),
    unadvertised: () => advertised.missing(),
    replicas: () => replicasOf(reader.picture(), self),
    onReplicas: (listener) => void listeners.push(listener),
    changed(agent, state) {
      attachments.apply(agent, state);
      reader.forgetAbsent();
      if (!isStopped) rounds.wake();
    },
    async start(replicaId) {
      self = { id: replicaId, address };
      await runRound();
      const repeat = (ms: number, work: () => void) => timers.push(setInterval(work, ms).unref());
      repeat(BEAT_MS, () => {
        signOfLife.demand();
        rounds.wake();
      });
      repeat(SWEEP_MS, demandReading);
      const onNotification = (sender: string) => {
        if (sender !== replicaId) demandReading();
      };
      notifications.listen(PRESENCE_CHANNEL, onNotification, demandReading);
    },
    async stop() {
      isStopped = true;
      for (const timer of timers) clearInterval(timer);
      await rounds.stop();
      // If this fails, the others see in a few seconds that this replica is gone.
      await signOfLife.remove(self).catch(() => {});
      await database.close();
    },
  };
}

/** Before the first reading this replica knows only itself. */
function replicasOf(picture: Picture, self: ReplicaInfo): readonly ReplicaInfo[] {
  return picture === BLANK ? [self] : picture.replicas;
}

type Operation = "write" | "read";

/** Counts every failure and logs the first of a row, and its end. */
function createFailureLog(log: Logger, metrics: Pick<PresenceMetrics, "failures">) {
  let isFailing = false;
  return {
    noteSuccess(): void {
      if (isFailing) log.info("presence is up to date again");
      isFailing = false;
    },
    noteFailure(operation: Operation, error: unknown): void {
      metrics.failures.inc({ operation });
      if (!isFailing) log.warn({ err: error, operation }, "presence is stale: the database is not available");
      else if (!(error instanceof DatabaseAway)) log.error({ err: error, operation }, "presence failed");
      isFailing = true;
    },
  };
}

/** Logs a change of the set of replicas without an advertised address. */
function logAdvertised(log: Logger, watch: AdvertiseWatch, known: readonly ReplicaInfo[], nowMs: number): void {
  const change = watch.look(known, nowMs);
  const replicas = known.map(({ id }) => id);
  if (change === "incomplete") {
    log.warn(
      { replicas, without_address: watch.missing() },
      "some replicas do not advertise an address: agents cannot attach to them; set VANTAGE_GRPC_ADVERTISE on each replica",
    );
  } else if (change === "complete") log.info({ replicas }, "all replicas advertise an address again");
}
