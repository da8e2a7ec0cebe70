import type { Egress } from "#shared/egress.ts";
import type { Enrolled } from "#control-plane/dispatch/admission.ts";
import type { Candidate } from "#control-plane/dispatch/choose.ts";
import type { AgentInfo } from "#control-plane/dispatch/hello.ts";
import type { AbsentAgent } from "#control-plane/dispatch/presence.ts";
import type { Session } from "#control-plane/dispatch/session.ts";

/** Whom a call may be given to, ready to choose from: made anew only when somebody came, left or changed. */
export interface Candidates {
  /** Shared agents and the account's own; online and load are as of the moment they are read. */
  readonly list: readonly Candidate[];
  /** Their egress rules, equal ones once: of those online here or on another replica, else of all. */
  readonly rules: readonly Egress[];
  /** The same of shared agents alone, whose lists are the operator's own. */
  readonly sharedRules: readonly Egress[];
}

/** An agent that was attached here. */
export interface LeftAgent {
  readonly agent: AgentInfo;
  readonly enrolled: Enrolled;
  readonly seenAt: Date;
}

/** Where the candidates come from; read when something has changed. */
export interface CandidateSources {
  readonly attached: ReadonlyMap<string, Session>;
  readonly left: ReadonlyMap<string, LeftAgent>;
  /** The same array until something in it has changed. */
  absent(): readonly AbsentAgent[];
}

/** The candidates of each account; `changed` when attached or left, or a session in them, has. */
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

/** An agent is known by its stream here, else by the database's word, else by our own memory of it. */
function everyone({ attached, left }: CandidateSources, absent: readonly AbsentAgent[]): Candidate[] {
  const all = Array.from(attached.values(), (session) => session.candidate);
  const told = new Set<string>();
  for (const { agent, accountId, enabled, replicas, draining } of absent) {
    if (attached.has(agent.id)) continue;
    told.add(agent.id);
    all.push(away(agent, accountId, enabled && !draining && replicas.length > 0));
  }
  for (const { agent, enrolled } of left.values()) {
    if (!told.has(agent.id)) all.push(away(agent, enrolled.accountId, false));
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
