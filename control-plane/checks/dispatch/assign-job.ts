import { offerJob, putBack, startWaiting } from "#control-plane/checks/dispatch/credits.ts";
import { finishJob } from "#control-plane/checks/dispatch/end-job.ts";
import type { RunningJob, Session } from "#control-plane/checks/dispatch/session.ts";
import type { HubState } from "#control-plane/checks/dispatch/state.ts";

/** Assigns an unassigned job to the agent its request picks; answers it as unavailable if there is none. */
export function assignJob(hub: HubState, job: RunningJob): void {
  const session = pick(hub, job, job.excluded);
  if (session === null) finishJob(hub, job, { kind: "unavailable", reason: unavailableReason(job) });
  else if (!offerJob(hub, job, session)) finishJob(hub, job, { kind: "unavailable", reason: "busy" });
}

/** Handles a declined job, which uses no attempt. If the only agent is busy, the job waits there. */
export function handleDeclined(hub: HubState, job: RunningJob, session: Session, word: string): void {
  const reason = word === "busy" || word === "incapable" || word === "draining" ? word : "other";
  hub.metrics.declined.inc({ reason });
  session.running.delete(job.id);
  job.session = null;
  if (reason !== "busy") {
    job.excluded.add(session.agent.id);
    assignJob(hub, job);
    startWaiting(hub, session);
    return;
  }
  session.heldBack = true;
  job.busy.add(session.agent.id);
  const other = pick(hub, job, new Set([...job.excluded, ...job.busy]));
  if (other !== null && other !== session && offerJob(hub, job, other)) return;
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
