import type { AbsentAgent, ReplicaInfo } from "#control-plane/dispatch/presence.ts";
import type { PresenceReading, ProbeReading } from "#control-plane/probes/presence/store.ts";
import { readStoredHello } from "#control-plane/probes/presence/stored-hello.ts";

/** What a replica knows of the others and of every enrolled agent, as of one look at the database. */
export interface Picture {
  readonly replicas: readonly ReplicaInfo[];
  /** Every probe not revoked, by id; `replicas` are the others: who is attached here the reader knows better. */
  readonly probes: ReadonlyMap<string, KnownProbe>;
}

/** A probe in the picture, with the text its agent and the rest were read from: reading it again would only cost. */
interface KnownProbe extends AbsentAgent {
  readonly source: string;
  readonly facts: string;
}

/** Before the first look. */
export const BLANK: Picture = { replicas: [], probes: new Map() };

/** The picture of a reading; agents whose word is unchanged are taken over from the one before. */
export function draw(reading: PresenceReading, self: ReplicaInfo, before: Picture): Picture {
  const others = reading.replicas.filter((replica) => replica.id !== self.id);
  const replicas = [self, ...others].toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const probes = new Map(reading.probes.map((probe) => [probe.id, knownProbe(probe, before)]));
  return { replicas, probes };
}

/** The same object as before where nothing about the probe has changed. */
function knownProbe(probe: ProbeReading, before: Picture): KnownProbe {
  const { id, region, accountId, enabled, replicas, draining, seenAt } = probe;
  const source = JSON.stringify([region, probe.hello]);
  const facts = JSON.stringify([accountId, enabled, replicas, draining, seenAt]);
  const known = before.probes.get(id);
  if (known?.source === source && known.facts === facts) return known;
  const agent = known?.source === source ? known.agent : readStoredHello(id, region, probe.hello);
  return { agent, accountId, enabled, replicas, draining, seenAt, source, facts };
}

/** Whether two pictures show the same of every probe. */
export function sameProbes({ probes: one }: Picture, { probes: other }: Picture): boolean {
  return one.size === other.size && one.entries().every(([id, probe]) => other.get(id) === probe);
}

/** Whether two pictures show the same replicas at the same addresses. */
export function sameReplicas(one: Picture, other: Picture): boolean {
  const list = ({ replicas }: Picture) => replicas.map(({ id, address }) => `${id} ${address}`).join();
  return list(one) === list(other);
}
