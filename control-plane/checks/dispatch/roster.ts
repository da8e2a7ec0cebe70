import type { Clock } from "#shared/time/clock.ts";
import { createCandidates, type Candidates, type LeftAgent } from "#control-plane/checks/dispatch/candidates.ts";
import type { AgentInfo } from "#control-plane/checks/dispatch/hello.ts";
import type { Presence } from "#control-plane/checks/dispatch/presence.ts";
import type { Session } from "#control-plane/checks/dispatch/session.ts";

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
  };
}

const NO_AGENTS: readonly never[] = [];
