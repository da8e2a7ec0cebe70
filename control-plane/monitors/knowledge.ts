import { readStateFacts } from "#control-plane/checking/facts.ts";
import type { History } from "#control-plane/history/history.ts";
import type { KnowledgePort } from "#control-plane/monitors/ports.ts";

/** Creates what reads of monitors show beside their records: state, schedule and history. */
export function createKnowledge(history: History): KnowledgePort {
  return {
    states: readStateFacts,
    statistics: (monitors) => history.summarise(monitors),
    recentChecks: (monitor, most) => history.recentChecks(monitor, most),
  };
}
