import type { Clock } from "#shared/clock.ts";
import { createCandidates, type Candidates, type LeftAgent } from "#control-plane/dispatch/candidates.ts";
import type { AgentInfo } from "#control-plane/dispatch/hello.ts";
import type { Presence } from "#control-plane/dispatch/presence.ts";
import type { Session } from "#control-plane/dispatch/session.ts";

/** Agents that left are remembered so that a location can be offline rather than unknown. */
const MAX_REMEMBERED = 1_000;

/** One agent as operators see it. */
export interface AgentRow {
  readonly agent: AgentInfo;
  readonly status: "online" | "draining" | "offline";
  readonly lastSeenAt: Date;
}

/** Who is attached to this replica, who was, and who is attached elsewhere. */
export interface Roster {
  sessions(): Iterable<Session>;
  session(agentId: string): Session | undefined;
  /** Takes the place of the agent's session before it, where it has one. */
  join(session: Session): void;
  /** False when this session is no longer the agent's current one. */
  leave(session: Session): boolean;
  /** The agent began to drain, or its enrolment is another one. */
  changed(session: Session): void;
  /** The agent is revoked: it never was. */
  forget(agentId: string): void;
  /** Whom a call of this account may use, or may wish it could; null: a call of nobody's. */
  candidates(accountId: number | null): Candidates;
  agent(agentId: string): AgentInfo | undefined;
  rows(): AgentRow[];
  /** Whether any agent has ever attached. */
  everAttached(): boolean;
}

/** An empty roster. */
export function createRoster(clock: Clock, presence?: Presence): Roster {
  const attached = new Map<string, Session>();
  const left = new Map<string, LeftAgent>();
  const choices = createCandidates({ attached, left, absent: () => presence?.absent() ?? NOBODY });
  let ever = false;
  const tell = ({ agent, draining }: Session) => presence?.changed(agent, draining ? "draining" : "online");
  return {
    sessions: () => attached.values(),
    session: (agentId) => attached.get(agentId),
    join(session) {
      ever = true;
      left.delete(session.agent.id);
      attached.set(session.agent.id, session);
      choices.changed();
      tell(session);
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
      tell(session);
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
    everAttached: () => ever,
  };
}

const NOBODY: readonly never[] = [];
