import type { Queryable } from "#control-plane/database/connect.ts";
import type { History } from "#control-plane/monitors/history/history.ts";
import { describeAdvisory } from "#control-plane/monitors/advisory.ts";
import type { KnowledgePort, StateFacts } from "#control-plane/monitors/ports.ts";
import { readSlotFacts } from "#control-plane/monitors/schedule/store.ts";
import type { MonitorState } from "#control-plane/monitors/state/state.ts";
import { readStates } from "#control-plane/monitors/state/store.ts";

/** Creates what reads of monitors show beside their records: state, schedule and history. */
export function createKnowledge(history: History): KnowledgePort {
  return {
    states: readStateFacts,
    statistics: (monitors) => history.summarise(monitors),
    recentChecks: (monitor, most) => history.recentChecks(monitor, most),
  };
}

async function readStateFacts(sql: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, StateFacts>> {
  const [states, schedules] = await Promise.all([readStates(sql, ids), readSlotFacts(sql, ids)]);
  const slots = new Map(schedules.map((facts) => [facts.monitorId, facts]));
  return new Map(
    Array.from(states, ([id, { state }]): [number, StateFacts] => {
      const slot = slots.get(id);
      return [
        id,
        {
          status: state.status,
          isDegraded: state.status === "up" && state.isDegraded,
          isFlapping: state.isFlapping,
          advisory: describeAdvisory(state),
          lastCheckedAt: slot?.lastCheckedAt ?? null,
          nextCheckAt: slot?.nextCheckAt ?? null,
          scheduleLagMs: slot?.lagMs ?? null,
          lastChangeAt: state.changedAt === null ? null : new Date(state.changedAt),
          lastError: newestFault(state),
        },
      ];
    }),
  );
}

/**
 * Returns the fault of the location that failed most recently, of a first try that passed on the re-check included; null if
 * none fails.
 */
function newestFault({ locations }: MonitorState): StateFacts["lastError"] {
  const faults = Array.from(locations.values()).flatMap(({ at, fault, firstTries }) => {
    const newest = fault ?? firstTries?.fault ?? null;
    return newest === null ? [] : { at, fault: newest };
  });
  return faults.toSorted((one, other) => other.at - one.at)[0]?.fault ?? null;
}
