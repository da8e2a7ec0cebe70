import type { Clock } from "#shared/clock.ts";
import type { Candidate } from "#control-plane/dispatch/choose.ts";
import type { AgentInfo } from "#control-plane/dispatch/hello.ts";
import { loadOf, type Session } from "#control-plane/dispatch/session.ts";

/** Agents that left are remembered so that a location can be offline rather than unknown. */
const MAX_REMEMBERED = 1_000;

/** One agent as operators see it. */
export interface AgentRow {
  readonly agent: AgentInfo;
  readonly status: "online" | "draining" | "offline";
  readonly lastSeenAt: Date;
}

/** Who is attached to this replica, and who was. */
export interface Roster {
  sessions(): Iterable<Session>;
  session(agentId: string): Session | undefined;
  join(session: Session): void;
  /** False when this session is no longer the agent's current one. */
  leave(session: Session): boolean;
  /** Everyone known, as candidates for a choice: draining ones are not online. */
  candidates(): Candidate[];
  agent(agentId: string): AgentInfo | undefined;
  rows(): AgentRow[];
  /** Whether any agent has ever attached. */
  everAttached(): boolean;
}

/** An empty roster. */
export function createRoster(clock: Clock): Roster {
  const attached = new Map<string, Session>();
  const left = new Map<string, { agent: AgentInfo; seenAt: Date }>();
  let ever = false;
  return {
    sessions: () => attached.values(),
    session: (agentId) => attached.get(agentId),
    join(session) {
      ever = true;
      left.delete(session.agent.id);
      attached.set(session.agent.id, session);
    },
    leave(session) {
      const { agent } = session;
      if (attached.get(agent.id) !== session) return false;
      attached.delete(agent.id);
      left.set(agent.id, { agent, seenAt: clock.now() });
      const oldest = left.size > MAX_REMEMBERED ? left.keys().next().value : undefined;
      if (oldest !== undefined) left.delete(oldest);
      return true;
    },
    candidates: () => [
      ...Array.from(attached.values(), (session) => ({
        ...session.agent.place,
        online: !session.draining,
        load: loadOf(session),
      })),
      ...Array.from(left.values(), ({ agent }) => ({ ...agent.place, online: false, load: 0 })),
    ],
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
