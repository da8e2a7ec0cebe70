import { offer, putBack, startWaiting } from "#control-plane/dispatch/credits.ts";
import { finish } from "#control-plane/dispatch/ending.ts";
import type { RunningJob, Session } from "#control-plane/dispatch/session.ts";
import type { HubState } from "#control-plane/dispatch/state.ts";

/** Gives a job that no agent has to the one its request picks, or answers it where there is none. */
export function assign(hub: HubState, job: RunningJob): void {
  const session = pick(hub, job, job.excluded);
  if (session === null) finish(hub, job, { kind: "unavailable", reason: unavailableReason(job) });
  else if (!offer(hub, job, session)) finish(hub, job, { kind: "unavailable", reason: "busy" });
}

/** The agent will not run the job, which uses no attempt. One that is busy may be the only one: then it waits there. */
export function declined(hub: HubState, job: RunningJob, session: Session, word: string): void {
  const reason = word === "busy" || word === "incapable" || word === "draining" ? word : "other";
  hub.metrics.declined.inc({ reason });
  session.running.delete(job.id);
  job.session = null;
  if (reason !== "busy") {
    job.excluded.add(session.agent.id);
    assign(hub, job);
    startWaiting(hub, session);
    return;
  }
  session.heldBack = true;
  job.busy.add(session.agent.id);
  const other = pick(hub, job, new Set([...job.excluded, ...job.busy]));
  if (other !== null && other !== session && offer(hub, job, other)) return;
  job.busy.clear();
  putBack(hub, job, session);
}

function pick(hub: HubState, job: RunningJob, excluded: ReadonlySet<string>): Session | null {
  const agentId = hub.stopped ? null : job.request.pick(excluded);
  return agentId === null ? null : (hub.roster.session(agentId) ?? null);
}

function unavailableReason({ attempt, givenTo }: RunningJob): string {
  if (attempt > 1) return "probe_lost";
  return givenTo.size > 0 ? "declined" : "no_probe";
}
