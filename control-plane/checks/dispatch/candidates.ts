import type { Egress } from "#shared/internet/egress.ts";
import type { Enrolled } from "#control-plane/checks/dispatch/admission.ts";
import type { Candidate } from "#control-plane/checks/dispatch/choose.ts";
import type { AgentInfo } from "#control-plane/checks/dispatch/hello.ts";
import type { AbsentAgent } from "#control-plane/checks/dispatch/presence.ts";
import type { Session } from "#control-plane/checks/dispatch/session.ts";

/** The agents that an account can use. The list is rebuilt only when an agent attaches, leaves or changes. */
export interface Candidates {
  /** Shared agents and the account's own; `online` and `load` are current when they are read. */
  readonly list: readonly Candidate[];
  /** Distinct egress rules of these agents: of those online at any replica, else of all. */
  readonly rules: readonly Egress[];
  /** Distinct egress rules of shared agents, which the operator wrote. */
  readonly sharedRules: readonly Egress[];
}

/** An agent that was attached here. */
export interface LeftAgent {
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
export function createCandidates(sources: CandidateSources): {
  of(accountId: number | null): Candidates;
  changed(): void;
} {
  let seen: readonly AbsentAgent[] | null = null;
  let shared = toCandidates([]);
  let byAccount = new Map<number, Candidates>();

  function rebuild(absent: readonly AbsentAgent[]): void {
    seen = absent;
    const byOwner = Map.groupBy(everyone(sources, absent), (candidate) => candidate.accountId);
    const common = byOwner.get(null) ?? [];
    shared = toCandidates(common);
    byAccount = new Map();
    for (const [accountId, own] of byOwner) {
      if (accountId !== null) byAccount.set(accountId, toCandidates([...common, ...own], shared.rules));
    }
  }

  return {
    of(accountId) {
      const absent = sources.absent();
      if (seen !== absent) rebuild(absent);
      return (accountId === null ? undefined : byAccount.get(accountId)) ?? shared;
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
