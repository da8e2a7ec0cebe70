import { SILENT_MS } from "#shared/protocol/wire.ts";
import type { RunningJob, Session } from "#control-plane/checks/dispatch/session.ts";
import type { HubState } from "#control-plane/checks/dispatch/state.ts";

/** Minimum interval between two requests for credits to an agent, milliseconds. */
const ASK_EVERY_MS = 50;

/** Starts the job at the agent, or queues it until a credit is free. Returns false if the agent's queue is full. */
export function offerJob(hub: HubState, job: RunningJob, session: Session): boolean {
  if (session.waiting.size === 0 && hasRoom(session)) {
    start(hub, job, session);
    return true;
  }
  if (!session.waiting.add(job)) return false;
  job.session = session;
  askForCredits(hub, session);
  return true;
}

/** Queues a job that an agent declined as busy despite a free credit: first in line, until its next credits message. */
export function putBack(hub: HubState, job: RunningJob, session: Session): void {
  session.waiting.putBack(job);
  job.session = session;
  askForCredits(hub, session);
}

/** Starts waiting jobs while credits are free, account by account. */
export function startWaiting(hub: HubState, session: Session): void {
  while (hasRoom(session)) {
    const job = session.waiting.next();
    if (job === undefined) return;
    start(hub, job, session);
  }
}

/** Sends an agent its numbers of running and waiting jobs: as answer to its beat, and to ask for credits. */
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
  if (request.waitMs !== undefined && job.givenTo.size === 0) job.deadlineAt = clock.monotonic() + request.deadlineMs;
  job.givenTo.add(session.agent.id);
  session.running.set(job.id, job);
  request.onSent?.();
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
        account: request.accountId === null ? "" : String(request.accountId),
        quiet: request.onAccepted === undefined && request.onProgress === undefined,
      },
    },
  });
}

/** Informs an agent with unused capacity that jobs wait; a burst of jobs results in one message. */
function askForCredits({ clock }: HubState, session: Session): void {
  const canHelp = session.heldBack || session.credits < session.agent.maxJobs;
  if (!canHelp || session.asking) return;
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
