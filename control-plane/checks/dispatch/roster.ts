import type { Clock } from "#shared/time/clock.ts";
import type { AgentInfo } from "#control-plane/checks/dispatch/hello.ts";
import type { Presence, AbsentAgent } from "#control-plane/checks/dispatch/presence.ts";
import type { Session } from "#control-plane/checks/dispatch/session.ts";
import type { Egress } from "#shared/internet/egress.ts";
import type { Enrolled } from "#control-plane/checks/dispatch/admission.ts";
import type { Candidate } from "#control-plane/checks/dispatch/choose.ts";

/** Maximum number of agents in memory that have left: their locations are offline, not unknown. */
const MAX_REMEMBERED = 1_000;

/** An agent as shown to operators. */
interface AgentRow {
  readonly agent: AgentInfo;
  readonly status: "online" | "draining" | "offline";
  readonly lastSeenAt: Date;
}

/** Agents that are attached to this replica, were attached to it, or are attached elsewhere. */
export interface Roster {
  sessions(): Iterable<Session>;
  session(agentId: string): Session | undefined;
  /** Adds a session; it replaces the agent's previous session. */
  join(session: Session): void;
  /** Removes a session; returns false if it is no longer the agent's current one. */
  leave(session: Session): boolean;
  /** Reports that the agent began to drain or that its enrolment changed. */
  changed(session: Session): void;
  /** Removes everything that is stored about a revoked agent. */
  forget(agentId: string): void;
  /** Returns the agents that a call of this account can use, online or not; null for a call without account. */
  candidates(accountId: number | null): Candidates;
  agent(agentId: string): AgentInfo | undefined;
  rows(): AgentRow[];
  /** Reports whether any agent has ever attached. */
  everAttached(): boolean;
  /** Returns the number of live replicas, this one included. */
  replicas(): number;
}

/** Creates an empty roster. */
export function createRoster(clock: Clock, presence?: Presence): Roster {
  const attached = new Map<string, Session>();
  const left = new Map<string, LeftAgent>();
  const choices = createCandidates({ attached, left, absent: () => presence?.absent() ?? NO_AGENTS });
  let hasAttached = false;
  const reportPresence = ({ agent, draining }: Session) => presence?.changed(agent, draining ? "draining" : "online");
  return {
    sessions: () => attached.values(),
    session: (agentId) => attached.get(agentId),
    join(session) {
      hasAttached = true;
      left.delete(session.agent.id);
      attached.set(session.agent.id, session);
      choices.changed();
      reportPresence(session);
    },
    leave(session) {
      const { agent, enrolled } = session;
      if (attached.get(agent.id) !== session) return false;
      attached.delete(agent.id);
      left.set(agent.id, { agent, enrolled, seenAt: clock.now() });
      const oldest = left.size > MAX_REMEMBERED ? left.keys().next().value : undefined;
      if (oldest !== undefined) left.delete(oldest);
      choices.changed();
      presence?.changed(agent, "gone");
      return true;
    },
    changed(session) {
      if (attached.get(session.agent.id) !== session) return;
      choices.changed();
      reportPresence(session);
    },
    forget(agentId) {
      if (left.delete(agentId)) choices.changed();
    },
    candidates: (accountId) => choices.of(accountId),
    agent: (agentId) => attached.get(agentId)?.agent ?? left.get(agentId)?.agent,
    rows: () => [
      ...Array.from(attached.values(), (session): AgentRow => {
        return { agent: session.agent, status: session.draining ? "draining" : "online", lastSeenAt: session.seenAt };
      }),
      ...Array.from(left.values(), ({ agent, seenAt }): AgentRow => {
        return { agent, status: "offline", lastSeenAt: seenAt };
      }),
    ],
    everAttached: () => hasAttached,
    replicas: () => presence?.replicas().length ?? 1,
  };
}

const NO_AGENTS: readonly never[] = [];

/** The agents that an account can use. The list is rebuilt only when an agent attaches, leaves or changes. */
interface Candidates {
  /** Shared agents and the account's own; `online` and `load` are current when they are read. */
  readonly list: readonly Candidate[];
  /** Distinct egress rules of these agents: of those online at any replica, else of all. */
  readonly rules: readonly Egress[];
  /** Distinct egress rules of shared agents, which the operator wrote. */
  readonly sharedRules: readonly Egress[];
}

/** An agent that was attached here. */
interface LeftAgent {
  readonly agent: AgentInfo;
  readonly enrolled: Enrolled;
  readonly seenAt: Date;
}

/** Sources of the candidates; read when something has changed. */
interface CandidateSources {
  readonly attached: ReadonlyMap<string, Session>;
  readonly left: ReadonlyMap<string, LeftAgent>;
  /** Returns the same array until something in it changes. */
  absent(): readonly AbsentAgent[];
}

/** Creates the candidates of each account. Call `changed` when `attached`, `left` or one of their sessions changes. */
function createCandidates(sources: CandidateSources): {
  of(accountId: number | null): Candidates;
  changed(): void;
} {
  let seen: readonly AbsentAgent[] | null = null;
  let shared = toCandidates([]);
  let byOwner = new Map<number | null, Candidate[]>();
  /** Lists of accounts with agents of their own, made when they are first read: they repeat the shared agents. */
  let byAccount = new Map<number, Candidates>();

  function rebuild(absent: readonly AbsentAgent[]): void {
    seen = absent;
    byOwner = Map.groupBy(everyone(sources, absent), (candidate) => candidate.accountId);
    shared = toCandidates(byOwner.get(null) ?? []);
    byAccount = new Map();
  }

  function ofOwner(accountId: number): Candidates {
    const own = byOwner.get(accountId);
    if (own === undefined) return shared;
    const made = byAccount.get(accountId) ?? toCandidates([...shared.list, ...own], shared.rules);
    byAccount.set(accountId, made);
    return made;
  }

  return {
    of(accountId) {
      const absent = sources.absent();
      if (seen !== absent) rebuild(absent);
      return accountId === null ? shared : ofOwner(accountId);
    },
    changed() {
      seen = null;
    },
  };
}

/** Returns all known agents: by their stream here, else by the database, else as remembered by this replica. */
function everyone({ attached, left }: CandidateSources, absent: readonly AbsentAgent[]): Candidate[] {
  const all = Array.from(attached.values(), (session) => session.candidate);
  const included = new Set<string>();
  for (const { agent, accountId, enabled, replicas, draining } of absent) {
    if (attached.has(agent.id)) continue;
    included.add(agent.id);
    all.push(away(agent, accountId, enabled && !draining && replicas.length > 0));
  }
  for (const { agent, enrolled } of left.values()) {
    if (!included.has(agent.id)) all.push(away(agent, enrolled.accountId, false));
  }
  return all;
}

function away(agent: AgentInfo, accountId: number | null, elsewhere: boolean): Candidate {
  const { place, capabilities, egress } = agent;
  return { ...place, capabilities, egress, accountId, online: false, elsewhere, load: 0 };
}

function toCandidates(list: readonly Candidate[], sharedRules?: readonly Egress[]): Candidates {
  const present = list.filter(({ online, elsewhere }) => online || elsewhere);
  const rules = [...new Set((present.length > 0 ? present : list).map(({ egress }) => egress))];
  return { list, rules, sharedRules: sharedRules ?? rules };
}
