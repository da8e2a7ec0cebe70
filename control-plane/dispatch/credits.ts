import { SILENT_MS } from "#shared/wire.ts";
import type { RunningJob, Session } from "#control-plane/dispatch/session.ts";
import type { HubState } from "#control-plane/dispatch/state.ts";

/** An agent is asked for credits at most this often, milliseconds. */
const ASK_EVERY_MS = 50;

/** Gives the job to the agent, now or when one of its credits is free. False: too many wait there already. */
export function offer(hub: HubState, job: RunningJob, session: Session): boolean {
  if (session.waiting.size === 0 && hasRoom(session)) {
    start(hub, job, session);
    return true;
  }
  if (!session.waiting.add(job)) return false;
  job.session = session;
  askForCredits(hub, session);
  return true;
}

/** The agent was busy although it had a credit free: the job waits for its next word on credits, in front of all. */
export function putBack(hub: HubState, job: RunningJob, session: Session): void {
  session.waiting.putBack(job);
  job.session = session;
  askForCredits(hub, session);
}

/** Gives out what credits are free, account by account. */
export function startWaiting(hub: HubState, session: Session): void {
  while (hasRoom(session)) {
    const job = session.waiting.next();
    if (job === undefined) return;
    start(hub, job, session);
  }
}

/** Tells an agent what it holds of ours and what waits for it; the answer to its beat, and a plea in between. */
export function sendBeat({ link, running, waiting }: Session): void {
  const value = { running: running.size, credits: 0, loopLagMs: 0, waiting: waiting.size };
  link.send({ body: { $case: "beat", value } });
}

function hasRoom({ heldBack, running, credits }: Session): boolean {
  return !heldBack && running.size < credits;
}

function start({ clock }: HubState, job: RunningJob, session: Session): void {
  const { request } = job;
  job.session = session;
  job.givenTo.add(session.agent.id);
  session.running.set(job.id, job);
  session.link.send({
    body: {
      $case: "job",
      value: {
        jobId: job.id,
        attempt: job.attempt,
        tool: request.tool,
        params: request.params,
        deadlineMs: Math.max(1, Math.floor(job.deadlineAt - clock.monotonic())),
        timeMs: clock.now().getTime(),
        leaseMs: SILENT_MS,
        input: request.input ?? "",
        quiet: request.onAccepted === undefined && request.onProgress === undefined,
      },
    },
  });
}

/** An agent that has more places than we were given learns at once that jobs wait; a burst of them is one word. */
function askForCredits({ clock }: HubState, session: Session): void {
  const mayHelp = session.heldBack || session.credits < session.agent.maxJobs;
  if (!mayHelp || session.asking) return;
  session.asking = true;
  const ask = () => {
    session.asking = false;
    if (session.waiting.size === 0) return;
    session.askedAt = clock.monotonic();
    sendBeat(session);
  };
  const waitMs = session.askedAt + ASK_EVERY_MS - clock.monotonic();
  if (waitMs > 0) setTimeout(ask, waitMs).unref();
  else setImmediate(ask);
}
