import { SILENT_MS } from "#shared/protocol/wire.ts";
import { assignJob } from "#control-plane/checks/dispatch/assign-job.ts";
import { failSuspectJob, finishJob } from "#control-plane/checks/dispatch/end-job.ts";
import { afterLosses, type LossReason } from "#control-plane/checks/dispatch/losses.ts";
import type { RunningJob, Session } from "#control-plane/checks/dispatch/session.ts";
import type { HubState } from "#control-plane/checks/dispatch/state.ts";

/** Removes a session whose stream ended and moves its jobs. Returns whether it was the agent's current session. */
export function detachSession(hub: HubState, session: Session, reason: LossReason): boolean {
  if (!hub.roster.leave(session)) return false;
  hub.log.info({ agent: session.agent.id, region: session.agent.place.region, reason }, "agent detached");
  moveJobs(hub, session, reason);
  return true;
}

/**
 * Ends the request for the log of a session that has left the roster, and moves its jobs: running ones to another agent as
 * the next attempt, waiting ones without a new attempt. After a reconnect the agent's new session can get them.
 */
export function moveJobs(hub: HubState, session: Session, reason: LossReason): void {
  hub.metrics.detached.inc({ reason });
  session.log.open?.settle({ ok: false, reason: "lost" });
  const running = [...session.running.values()];
  const waiting = session.waiting.values();
  for (const { id } of running) session.running.delete(id);
  for (const job of running) {
    hub.metrics.leaseLosses.inc({ reason });
    job.losses.push({ reason, accepted: job.accepted === job.attempt, draining: session.draining });
    releaseJob(job, session, reason);
    const next = afterLosses(job.losses);
    if (next === "suspect") {
      failSuspectJob(hub, job, session.agent.id);
      continue;
    }
    job.attempt += 1;
    job.request.onRestart?.(session.agent.id, job.attempt, reason);
    if (next === "exhausted") finishJob(hub, job, { kind: "unavailable", reason: "probe_lost" });
    else redispatch(hub, job, reason);
  }
  for (const job of waiting) {
    session.waiting.remove(job);
    releaseJob(job, session, reason);
    assignJob(hub, job);
  }
}

/** Moves the waiting jobs of an agent that accepts no more; running jobs stay. */
export function moveWaiting(hub: HubState, session: Session): void {
  for (const job of session.waiting.values()) {
    session.waiting.remove(job);
    job.session = null;
    job.excluded.add(session.agent.id);
    assignJob(hub, job);
  }
}

/** Milliseconds between two sweeps for silent streams. */
const SWEEP_MS = 500;

/** Closes silent streams periodically; a silence is noticed within 5 s. */
export function startSilenceSweep(hub: HubState): { stop(): void } {
  let sweptAt = hub.clock.monotonic();
  const timer = setInterval(() => {
    const now = hub.clock.monotonic();
    closeSilent(hub, Math.max(0, now - sweptAt - SWEEP_MS));
    sweptAt = now;
  }, SWEEP_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/**
 * Closes streams without a message for SILENT_MS. `heldUpMs` is the delay of this sweep. During it this process read
 * nothing, and messages can wait in its sockets, so it does not count as silence.
 */
function closeSilent(hub: HubState, heldUpMs: number): void {
  const now = hub.clock.monotonic();
  for (const session of hub.roster.sessions()) {
    session.heardAt = Math.min(now, session.heardAt + heldUpMs);
    if (now - session.heardAt <= SILENT_MS) continue;
    detachSession(hub, session, "silent");
    session.link.close();
  }
}

function releaseJob(job: RunningJob, session: Session, reason: LossReason): void {
  job.session = null;
  if (reason !== "replaced") job.excluded.add(session.agent.id);
}

function redispatch(hub: HubState, job: RunningJob, reason: LossReason): void {
  assignJob(hub, job);
  if (hub.jobs.has(job.id)) hub.metrics.redispatched.inc({ reason });
}
