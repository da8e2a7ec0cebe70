import type { AbsentAgent, ReplicaInfo } from "#control-plane/checks/dispatch/presence.ts";
import type { PresenceReading, ProbeReading } from "#control-plane/checks/probes/presence/store.ts";
import { parseStoredHello } from "#control-plane/checks/probes/presence/stored-hello.ts";

/** Other replicas and all enrolled agents, as one replica last read them from the database. */
export interface PresenceSnapshot {
  readonly replicas: readonly ReplicaInfo[];
  /** Every probe that is not revoked, by id. Its `replicas` leave out this one, which knows its own agents better. */
  readonly probes: ReadonlyMap<string, KnownProbe>;
}

/** A probe in the snapshot, with the texts from which it was parsed. An unchanged text is not parsed again. */
interface KnownProbe extends AbsentAgent {
  readonly source: string;
  readonly facts: string;
}

/** The snapshot before the first read. */
export const EMPTY_SNAPSHOT: PresenceSnapshot = { replicas: [], probes: new Map() };

/** Builds the snapshot of a reading. Takes unchanged probes from the previous snapshot. */
export function buildSnapshot(reading: PresenceReading, self: ReplicaInfo, before: PresenceSnapshot): PresenceSnapshot {
  const others = reading.replicas.filter((replica) => replica.id !== self.id);
  const replicas = [self, ...others].toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const probes = new Map(reading.probes.map((probe) => [probe.id, knownProbe(probe, before)]));
  return { replicas, probes };
}

/** Returns a probe of the snapshot: the object of the previous snapshot if nothing has changed. */
function knownProbe(probe: ProbeReading, before: PresenceSnapshot): KnownProbe {
  const { id, region, accountId, enabled, replicas, draining } = probe;
  const source = JSON.stringify([region, probe.hello]);
  const facts = JSON.stringify([accountId, enabled, replicas, draining]);
  const known = before.probes.get(id);
  if (known?.source === source && known.facts === facts) return known;
  const agent = known?.source === source ? known.agent : parseStoredHello(id, region, probe.hello);
  return { agent, accountId, enabled, replicas, draining, source, facts };
}

/** Reports whether two snapshots have the same probes in the same states. */
export function haveSameProbes({ probes: one }: PresenceSnapshot, { probes: other }: PresenceSnapshot): boolean {
  return one.size === other.size && one.entries().every(([id, probe]) => other.get(id) === probe);
}

/** Reports whether two snapshots have the same replicas with the same addresses. */
export function haveSameReplicas(one: PresenceSnapshot, other: PresenceSnapshot): boolean {
  const list = ({ replicas }: PresenceSnapshot) => replicas.map(({ id, address }) => `${id} ${address}`).join();
  return list(one) === list(other);
}
