import type { Logger } from "pino";
import { type Registry, Counter, Gauge } from "prom-client";
import type { Clock } from "#shared/time/clock.ts";
import type { App } from "#control-plane/core/app.ts";
import { DatabaseAway } from "#control-plane/core/database/database-away.ts";
import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import type { Presence, ReplicaInfo } from "#control-plane/checks/dispatch/presence.ts";
import { createOwnAttachments } from "#control-plane/checks/probes/presence/attachments.ts";
import { DEAD_MS } from "#control-plane/checks/probes/presence/dead-replicas.ts";
import { createSnapshotReader } from "#control-plane/checks/probes/presence/snapshot-reader.ts";
import { EMPTY_SNAPSHOT, type PresenceSnapshot } from "#control-plane/checks/probes/presence/snapshot.ts";
import { createRounds } from "#control-plane/checks/probes/presence/rounds.ts";
import { createSignOfLife } from "#control-plane/checks/probes/presence/sign-of-life.ts";
import { PRESENCE_CHANNEL } from "#control-plane/checks/probes/presence/store.ts";
import { statusOf } from "#control-plane/checks/probes/status.ts";

/** Interval between signs of life, in milliseconds. */
const BEAT_MS = 1_000;
/** Interval in milliseconds between reads without a notification, because a notification can be lost. */
const SWEEP_MS = 2_000;
/**
 * Pause after a round, and so between two notifications. It is shorter than DEAD_MS: a replica that waited two seconds
 * for a slow database must not look dead because of a long pause after that.
 */
const REST = { leastMs: 100, mostMs: 1_000 };

/** Presence that runs from `start` to `stop`. */
export interface PresenceService extends Presence {
  /** Returns the ids of live replicas without an advertised address, if there are several replicas (advertised.ts). */
  unadvertised(): readonly string[];
  /** Registers this replica and reads the first snapshot. Also resolves if the database is away. Call it once. */
  start(replicaId: string): Promise<void>;
  /** Removes this replica from the database if it is available, and closes the connection. */
  stop(): Promise<void>;
}

/**
 * Opens the presence of a replica: it keeps the replica's own rows in the database up to date and reads those of the
 * others. All statements run one after the other in rounds: write the changes, then read. No error reaches the hub.
 * While the database is away the snapshot stays unchanged. If a read shows wrong rows of this replica, they are written
 * again. Nothing else uses `database`: a sign of life must not wait behind other statements. `address` is the host:port
 * at which agents reach this replica; empty if not advertised.
 */
export function createPresence(
  deps: Pick<App, "clock" | "log" | "timers"> & {
    readonly database: GuardedDatabase;
    readonly notifications: Notifications;
    readonly registry: Registry;
    readonly address: string;
  },
): PresenceService {
  const { database, notifications, clock, log, timers, address } = deps;
  const attachments = createOwnAttachments();
  const reader = createSnapshotReader({ database, clock, attachments });
  const signOfLife = createSignOfLife({ database, clock, attachments });
  const metrics = createPresenceMetrics(deps.registry, {
    clock,
    snapshot: () => reader.snapshot(),
    own: (id) => attachments.get(id),
  });
  const failures = createFailureLog(log, metrics);
  const advertised = createAdvertiseWatch(DEAD_MS);
  const listeners: (() => void)[] = [];
  const repetitions: { stop(): void }[] = [];
  let self: ReplicaInfo = { id: "", address };
  let isStopped = false;
  const rounds = createRounds(runRound, REST, clock);

  async function runRound(): Promise<void> {
    let operation: Operation = "write";
    try {
      if (signOfLife.isDue()) await signOfLife.write(self);
      operation = "read";
      if (reader.isDue()) await readSnapshot();
      // There are more changes than fit into one statement, or the read has found changes.
      if (attachments.hasChanges()) rounds.wake();
      failures.noteSuccess();
    } catch (error) {
      // The next sign of life tries to write and read again.
      failures.noteFailure(operation, error);
    }
  }

  async function readSnapshot(): Promise<void> {
    const { haveReplicasChanged } = await reader.read(self);
    metrics.noteRead();
    const { replicas } = reader.snapshot();
    logAdvertised(log, advertised, replicas, clock.monotonic());
    if (!haveReplicasChanged) return;
    log.info({ replicas: replicas.map((replica) => replica.id) }, "replicas changed");
    for (const listener of listeners) listener();
  }

  function demandReading(what: "everything" | "changes"): void {
    reader.demand(what);
    if (!isStopped) rounds.wake();
  }

  return {
    absent: () => reader.absent(),
    unadvertised: () => advertised.missing(),
    replicas: () => replicasOf(reader.snapshot(), self),
    onReplicas: (listener) => void listeners.push(listener),
    changed(agent, state) {
      attachments.apply(agent, state);
      reader.forgetAbsent();
      if (!isStopped) rounds.wake();
    },
    async start(replicaId) {
      self = { id: replicaId, address };
      await runRound();
      const beats = timers.repeat(BEAT_MS, () => {
        signOfLife.demand();
        rounds.wake();
      });
      repetitions.push(
        beats,
        timers.repeat(SWEEP_MS, () => demandReading("changes")),
      );
      const onNotification = (sender: string) => {
        if (sender !== replicaId) demandReading("everything");
      };
      notifications.listen(PRESENCE_CHANNEL, onNotification, () => demandReading("everything"));
    },
    async stop() {
      isStopped = true;
      for (const repetition of repetitions) repetition.stop();
      await rounds.stop();
      // If this fails, the other replicas notice within seconds that this one is gone.
      await signOfLife.remove(self).catch(() => {});
      await database.close();
    },
  };
}

/** Returns the known replicas. Before the first read this replica knows only itself. */
function replicasOf(snapshot: PresenceSnapshot, self: ReplicaInfo): readonly ReplicaInfo[] {
  return snapshot === EMPTY_SNAPSHOT ? [self] : snapshot.replicas;
}

type Operation = "write" | "read";

/** Counts every failure. Logs the first of several failures in a row, and their end. */
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
  const change = watch.update(known, nowMs);
  const replicas = known.map(({ id }) => id);
  if (change === "incomplete") {
    log.warn(
      { replicas, without_address: watch.missing() },
      "some replicas do not advertise an address: agents cannot attach to them; set VANTAGE_GRPC_ADVERTISE on each replica",
    );
  } else if (change === "complete") log.info({ replicas }, "all replicas advertise an address again");
}

/**
 * Watches for replicas without an advertised address. Agents reach such a replica only if a load balancer happens to
 * send them there, and a job for an agent that is attached to another replica is answered with 503.
 */
interface AdvertiseWatch {
  /** Takes the live replicas as last read from the database. Returns a change of `missing` that should be logged. */
  update(replicas: readonly ReplicaInfo[], nowMs: number): "incomplete" | "complete" | null;
  /** Returns the ids of the replicas without an address; empty if there is only one replica. */
  missing(): readonly string[];
}

/**
 * Creates a watch. A change counts after it has lasted `settleMs` milliseconds. For that time a replica that crashed is
 * still listed, and a replica that restarts must not count as two.
 */
export function createAdvertiseWatch(settleMs: number): AdvertiseWatch {
  let missing: readonly string[] = [];
  let candidate: readonly string[] = [];
  let since = -Infinity;
  return {
    update(replicas, nowMs) {
      const found = replicas.length < 2 ? [] : replicas.filter(({ address }) => address === "").map(({ id }) => id);
      if (found.join() !== candidate.join()) [candidate, since] = [found, nowMs];
      if (candidate.join() === missing.join() || (candidate.length > 0 && nowMs - since < settleMs)) return null;
      missing = candidate;
      return missing.length > 0 ? "incomplete" : "complete";
    },
    missing: () => missing,
  };
}

/** Metrics of presence that other code updates. */
interface PresenceMetrics {
  readonly failures: Counter<"operation">;
  /** Records that the snapshot has just been read. */
  noteRead(): void;
}

/** Values read at each scrape. */
interface PresenceSources {
  readonly clock: Clock;
  readonly snapshot: () => PresenceSnapshot;
  /** Returns an agent's attachment to this replica; null if there is none. */
  readonly own: (probeId: string) => { readonly draining: boolean } | null;
}

/** Registers the metrics of presence. */
function createPresenceMetrics(registry: Registry, { clock, snapshot, own }: PresenceSources): PresenceMetrics {
  let readAt = clock.monotonic();
  registry.registerMetric(
    new Gauge({
      name: "vantage_replicas",
      help: "Live replicas of the control plane known to this replica, itself included",
      registers: [],
      collect() {
        this.set(Math.max(1, snapshot().replicas.length));
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "vantage_presence_age_seconds",
      help: "Time since this replica last read which agents are attached to which replica",
      registers: [],
      collect() {
        this.set((clock.monotonic() - readAt) / 1_000);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "vantage_probes",
      help: "Enrolled probe agents over all replicas, by region and status (online, draining, offline, disabled)",
      labelNames: ["region", "status"],
      registers: [],
      collect() {
        this.reset();
        for (const { agent, enabled, replicas, draining } of snapshot().probes.values()) {
          const status = statusOf({ revoked: false, enabled, here: own(agent.id), elsewhere: { replicas, draining } });
          this.inc({ region: agent.place.region, status });
        }
      },
    }),
  );
  return {
    failures: new Counter({
      name: "vantage_presence_failures_total",
      help: "Failed database statements about presence, by operation (write, read)",
      labelNames: ["operation"],
      registers: [registry],
    }),
    noteRead() {
      readAt = clock.monotonic();
    },
  };
}
