import { SILENT_MS } from "#shared/wire.ts";
import { assign } from "#control-plane/dispatch/assign.ts";
import { finish, giveUpSuspect } from "#control-plane/dispatch/ending.ts";
import { afterLosses, type LossReason } from "#control-plane/dispatch/losses.ts";
import type { RunningJob, Session } from "#control-plane/dispatch/session.ts";
import type { HubState } from "#control-plane/dispatch/state.ts";

/** The agent's stream is gone; true: it was the agent's current one. Its jobs move on. */
export function lose(hub: HubState, session: Session, reason: LossReason): boolean {
  if (!hub.roster.leave(session)) return false;
  hub.log.info({ agent: session.agent.id, region: session.agent.place.region, reason }, "agent detached");
  moveJobs(hub, session, reason);
  return true;
}

/**
 * What a stream that is no longer in the roster held goes to another agent as the next attempt; what waited for it just
 * moves on. After a reconnect the agent's own new stream may take it up.
 */
export function moveJobs(hub: HubState, session: Session, reason: LossReason): void {
  hub.metrics.detached.inc({ reason });
  const running = [...session.running.values()];
  const waiting = session.waiting.values();
  session.running.clear();
  for (const job of running) {
    hub.metrics.leaseLosses.inc({ reason });
    job.losses.push({ reason, accepted: job.accepted === job.attempt, draining: session.draining });
    leave(job, session, reason);
    const next = afterLosses(job.losses);
    if (next === "suspect") {
      giveUpSuspect(hub, job, session.agent.id);
      continue;
    }
    job.attempt += 1;
    job.request.onRestart?.(session.agent.id, job.attempt, reason);
    if (next === "exhausted") finish(hub, job, { kind: "unavailable", reason: "probe_lost" });
    else reassign(hub, job, reason);
  }
  for (const job of waiting) {
    session.waiting.remove(job);
    leave(job, session, reason);
    assign(hub, job);
  }
}

/** An agent that takes no more jobs keeps what it runs; what waits for it moves on. */
export function moveWaiting(hub: HubState, session: Session): void {
  for (const job of session.waiting.values()) {
    session.waiting.remove(job);
    job.session = null;
    job.excluded.add(session.agent.id);
    assign(hub, job);
  }
}

/** Milliseconds between two sweeps for silent streams. */
const SWEEP_MS = 500;

/** Closes streams that are silent for too long; a silence is noticed within 5 s. */
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
 * Closes streams without a message for SILENT_MS. `heldUpMs` is how late the sweep is: for that long this process read
 * nothing, and messages may be waiting in its sockets, so that time does not count as silence.
 */
function closeSilent(hub: HubState, heldUpMs: number): void {
  const now = hub.clock.monotonic();
  for (const session of hub.roster.sessions()) {
    session.heardAt = Math.min(now, session.heardAt + heldUpMs);
    if (now - session.heardAt <= SILENT_MS) continue;
    lose(hub, session, "silent");
    session.link.close();
  }
}

function leave(job: RunningJob, session: Session, reason: LossReason): void {
  job.session = null;
  if (reason !== "replaced") job.excluded.add(session.agent.id);
}

function reassign(hub: HubState, job: RunningJob, reason: LossReason): void {
  assign(hub, job);
  if (hub.jobs.has(job.id)) hub.metrics.redispatched.inc({ reason });
}
