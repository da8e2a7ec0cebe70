import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Clock } from "#shared/clock.ts";
import { DatabaseAway } from "#control-plane/database/away.ts";
import type { GuardedDatabase } from "#control-plane/database/guarded.ts";
import type { Notifications } from "#control-plane/database/notifications.ts";
import type { AgentInfo } from "#control-plane/dispatch/hello.ts";
import type { AbsentAgent, Presence, ReplicaInfo } from "#control-plane/dispatch/presence.ts";
import { watchAdvertised } from "#control-plane/probes/presence/advertised.ts";
import { createPresenceMetrics } from "#control-plane/probes/presence/metrics.ts";
import { BLANK, draw, sameProbes, sameReplicas } from "#control-plane/probes/presence/picture.ts";
import { createRounds } from "#control-plane/probes/presence/rounds.ts";
import {
  PRESENCE_CHANNEL,
  readPresence,
  removeReplica,
  writePresence,
  type AttachmentChange,
  type PresenceReading,
} from "#control-plane/probes/presence/store.ts";
import { storedHello } from "#control-plane/probes/presence/stored-hello.ts";

/** A replica whose sign of life is older than this, by the database's time, is dead. */
const DEAD_MS = 5_000;
const BEAT_MS = 1_000;
/** The picture is read so often whatever is heard: notifications may get lost. */
const SWEEP_MS = 2_000;
/** Least time between two writes, and so between two notifications. */
const REST_MS = 100;
/** Attached agents are dated in the database so often. */
const REFRESH_MS = 30_000;
/** Changes of one statement. */
const MOST_CHANGES = 500;

/** Presence with its own life: it goes on from `start` to `stop`. */
export interface PresenceService extends Presence {
  /** Ids of live replicas that advertise no address to agents, while there are several replicas (advertised.ts). */
  unadvertised(): readonly string[];
  /** Enters this replica and takes the first look; resolves also where the database is away. Call it once. */
  start(replicaId: string): Promise<void>;
  /** Takes this replica out, where the database can be reached, and closes the connection. */
  stop(): Promise<void>;
}

/** What presence stands on. */
export interface PresenceDeps {
  /** Of its own: a sign of life must not queue behind other statements. */
  readonly database: GuardedDatabase;
  readonly notifications: Notifications;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
  /** host:port that agents dial to reach this replica; empty: not advertised. */
  readonly address: string;
}

/** Replicas last seen before this are dead. */
export function deadBefore(now: Date): Date {
  return new Date(now.getTime() - DEAD_MS);
}

/**
 * Keeps this replica's part of the database's picture true and its own copy of the picture fresh. All statements run one
 * after the other in rounds: write what has changed, then look. Nothing here rejects or throws into the hub; while the
 * database is away the picture stays as it is, and a look that finds our own part wrong (a row that expired meanwhile)
 * has it written again.
 */
export function createPresence(deps: PresenceDeps): PresenceService {
  const { database, notifications, clock, log, address } = deps;
  const attached = new Map<string, { readonly agent: AgentInfo; readonly draining: boolean }>();
  /** Agents whose attachment in the database may differ from `attached`. */
  const dirty = new Set<string>();
  const listeners: (() => void)[] = [];
  let self: ReplicaInfo = { id: "", address };
  let startedAt = clock.now();
  let picture = BLANK;
  let absent: readonly AbsentAgent[] | null = null;
  let beatDue = true;
  let readDue = true;
  let refreshedAt = clock.monotonic();
  let announced = false;
  let failing = false;
  let stopped = false;
  const timers: NodeJS.Timeout[] = [];
  const metrics = createPresenceMetrics(deps.registry, {
    clock,
    picture: () => picture,
    own: (id) => attached.get(id) ?? null,
  });
  const advertised = watchAdvertised(DEAD_MS);
  const rounds = createRounds(round, REST_MS, clock);

  async function round(): Promise<void> {
    let step: "write" | "read" = "write";
    try {
      if (beatDue || dirty.size > 0) await write();
      step = "read";
      if (readDue) await read();
      if (failing) log.info("presence is up to date again");
      failing = false;
    } catch (error) {
      metrics.failures.inc({ operation: step });
      // What was not written or read is tried again with the next beat.
      if (!failing) log.warn({ err: error, operation: step }, "presence is stale: the database cannot be used");
      else if (!(error instanceof DatabaseAway)) log.error({ err: error, operation: step }, "presence failed");
      failing = true;
    }
  }

  async function write(): Promise<void> {
    const ids = Array.from(dirty).slice(0, MOST_CHANGES);
    for (const id of ids) dirty.delete(id);
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    const refresh = monotonic - refreshedAt >= REFRESH_MS;
    const word = {
      replicaId: self.id,
      address,
      startedAt,
      now,
      horizon: deadBefore(now),
      announce: !announced,
      changes: ids.map(changeOf),
      stillHere: refresh ? [...attached.keys()] : [],
    };
    try {
      await database.run((sql) => writePresence(sql, word));
    } catch (error) {
      for (const id of ids) dirty.add(id);
      throw error;
    }
    beatDue = false;
    announced = true;
    if (refresh) refreshedAt = monotonic;
    if (dirty.size > 0) rounds.wake();
  }

  function changeOf(probeId: string): AttachmentChange {
    const held = attached.get(probeId);
    return held === undefined
      ? { probeId, draining: false, hello: null }
      : { probeId, draining: held.draining, hello: storedHello(held.agent) };
  }

  async function read(): Promise<void> {
    readDue = false;
    let reading: PresenceReading;
    try {
      reading = await database.run((sql) => readPresence(sql, self.id, deadBefore(clock.now())));
    } catch (error) {
      readDue = true;
      throw error;
    }
    const before = picture;
    picture = draw(reading, self, before);
    if (!sameProbes(before, picture)) absent = null;
    metrics.looked();
    reconcile(reading.own);
    tellAdvertised();
    if (sameReplicas(before, picture)) return;
    log.info({ replicas: picture.replicas.map((replica) => replica.id) }, "replicas changed");
    for (const listener of listeners) listener();
  }

  function tellAdvertised(): void {
    const change = advertised.look(picture.replicas, clock.monotonic());
    const replicas = picture.replicas.map(({ id }) => id);
    if (change === "incomplete") {
      log.warn(
        { replicas, without_address: advertised.missing() },
        "several replicas, and not all advertise an address: set VANTAGE_GRPC_ADVERTISE on each, so that agents can attach to all of them",
      );
    } else if (change === "complete") log.info({ replicas }, "agents know an address of every replica again");
  }

  /** What the others see of us against what is: a row that expired, a write that overtook another. */
  function reconcile(own: PresenceReading["own"]): void {
    const seen = new Map(own.map((row) => [row.probeId, row.draining]));
    for (const id of seen.keys()) if (!attached.has(id)) dirty.add(id);
    for (const [id, { draining }] of attached) if (seen.get(id) !== draining) dirty.add(id);
    if (dirty.size > 0) rounds.wake();
  }

  function look(): void {
    readDue = true;
    if (!stopped) rounds.wake();
  }

  return {
    absent() {
      absent ??= Array.from(picture.probes.values()).filter(({ agent }) => !attached.has(agent.id));
      return absent;
    },
    unadvertised: () => advertised.missing(),
    replicas: () => (picture === BLANK ? [self] : picture.replicas),
    onReplicas: (listener) => void listeners.push(listener),
    changed(agent, state) {
      if (state === "gone") attached.delete(agent.id);
      else attached.set(agent.id, { agent, draining: state === "draining" });
      absent = null;
      dirty.add(agent.id);
      if (!stopped) rounds.wake();
    },
    async start(replicaId) {
      self = { id: replicaId, address };
      startedAt = clock.now();
      await round();
      const every = (ms: number, due: () => void) => timers.push(setInterval(due, ms).unref());
      every(BEAT_MS, () => {
        beatDue = true;
        rounds.wake();
      });
      every(SWEEP_MS, look);
      notifications.listen(
        PRESENCE_CHANNEL,
        (sender) => {
          if (sender !== replicaId) look();
        },
        look,
      );
    },
    async stop() {
      stopped = true;
      for (const timer of timers) clearInterval(timer);
      await rounds.stop();
      const left = [...attached.keys(), ...dirty];
      const goodbye = { replicaId: self.id, now: clock.now(), left };
      // Without it the others see in a few seconds that we are gone.
      await database.run((sql) => removeReplica(sql, goodbye)).catch(() => {});
      await database.close();
    },
  };
}
