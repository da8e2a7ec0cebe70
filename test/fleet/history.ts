import type { CallMade, History, JobSeen, ResultSent, RowAnswered } from "#test/fleet/records.ts";

/** Result of checking a history. */
export interface HistoryCheck {
  readonly rows: number;
  /** Rows without a result, by code and reason. They are no fault: no agent was left, or two were lost with the job. */
  readonly unavailable: Readonly<Record<string, number>>;
  /** Time in milliseconds beyond the agent's own, for jobs that only one agent received. */
  readonly untouched: readonly number[];
  /** The same for jobs that were dispatched again because their agent was lost or declined. */
  readonly moved: readonly number[];
  /** Number of rows that a later attempt than the first answered, because the agent before it was lost. */
  readonly restarted: number;
  readonly violations: number;
  /** The first complaints, for people. */
  readonly examples: readonly string[];
}

const EXAMPLES = 10;

/** Failure of a row whose job two agents had when they were lost. It is given to no third agent. */
const PROBES_LOST = "request_failed probes_lost";

interface Job {
  readonly agents: Set<string>;
  readonly receivers: Set<string>;
  highest: number;
  rows: number;
}

/**
 * Holds what callers were answered against what agents received and sent: each row asked for is there once; each result
 * in it was sent as the true one by the agent and for the attempt it names; no job answers twice; the attempt answered
 * is the last one given out; whatever failed, failed for want of an agent, or because two agents were lost with the
 * job.
 */
export function checkHistory({ calls, seen, sent }: History): HistoryCheck {
  const jobs = jobsOf(seen);
  const sendings = new Map(sent.map((result) => [result.sending, result]));
  const lostTwice = lostWithTwoAgents(jobs, calls);
  const unavailable: Record<string, number> = {};
  const untouched: number[] = [];
  const moved: number[] = [];
  const examples: string[] = [];
  let violations = 0;
  let restarted = 0;
  let rows = 0;
  const object = (complaint: string, about: unknown) => {
    violations += 1;
    if (examples.length < EXAMPLES) examples.push(`${complaint}: ${JSON.stringify(about)}`);
  };

  for (const call of calls) {
    const complaint = complaintOfCall(call);
    if (complaint !== null) object(complaint, { ...call, rows: call.rows.map(({ region }) => region) });
    for (const row of call.rows) {
      rows += 1;
      if (row.proof === null) {
        const failure = row.failure ?? "nothing";
        unavailable[failure] = (unavailable[failure] ?? 0) + 1;
        if (failure === PROBES_LOST) {
          if (!takeJobOf(row, lostTwice)) object("said to be lost with two agents, but no such job was", row);
        } else if (!failure.startsWith("probe_unavailable")) object("failed though agents do not fail", row);
        continue;
      }
      const job = jobs.get(row.proof.jobId);
      if (job !== undefined) job.rows += 1;
      for (const fault of faultsOf(row, job, sendings.get(row.proof.sending))) object(fault, row);
      if (row.proof.attempt > 1) restarted += 1;
      const isMoved = row.proof.attempt > 1 || (job?.receivers.size ?? 0) > 1;
      (isMoved ? moved : untouched).push(row.durationMs - row.proof.spentMs);
    }
  }
  return { rows, unavailable, untouched, moved, restarted, violations, examples };
}

function jobsOf(seen: readonly JobSeen[]): Map<string, Job> {
  const jobs = new Map<string, Job>();
  for (const { jobId, attempt, agentId } of seen) {
    const job = jobs.get(jobId) ?? { agents: new Set(), receivers: new Set(), highest: 0, rows: 0 };
    job.agents.add(agentId);
    job.receivers.add(receptionOf({ attempt, agentId }));
    job.highest = Math.max(job.highest, attempt);
    jobs.set(jobId, job);
  }
  return jobs;
}

/** Returns the agents of each job that at least two received and that no row answers. */
function lostWithTwoAgents(jobs: ReadonlyMap<string, Job>, calls: readonly CallMade[]): Map<string, Set<string>> {
  const answered = new Set(calls.flatMap(({ rows }) => rows.map(({ proof }) => proof?.jobId)));
  const lost = new Map<string, Set<string>>();
  for (const [jobId, { agents }] of jobs) if (agents.size >= 2 && !answered.has(jobId)) lost.set(jobId, agents);
  return lost;
}

/**
 * Removes a job that was lost with the row's agent from those that two agents were lost with. Returns false if there is
 * none.
 */
function takeJobOf({ probeId }: RowAnswered, lostTwice: Map<string, ReadonlySet<string>>): boolean {
  for (const [jobId, agents] of lostTwice) if (agents.has(probeId)) return lostTwice.delete(jobId);
  return false;
}

function complaintOfCall({ asked, status, rows }: CallMade): string | null {
  if (status === null) return "a call without an answer";
  if (status !== 200) return "a call that was refused";
  const answered = rows.map(({ region }) => region).toSorted();
  return answered.join() === asked.toSorted().join() ? null : "rows that are not those asked for";
}

function* faultsOf(
  { proof, probeId }: RowAnswered,
  job: Job | undefined,
  sending: ResultSent | undefined,
): Generator<string> {
  if (proof === null) return;
  const { jobId, attempt, agentId } = proof;
  if (job?.receivers.has(receptionOf(proof)) !== true) yield "answered by an agent that never received the job";
  else if (attempt < job.highest) yield "an earlier attempt answered";
  if ((job?.rows ?? 0) > 1) yield "one job answered two rows";
  if (probeId !== agentId) yield "one agent's result under another's name";
  if (sending === undefined) yield "a result that nobody sent";
  else if (sending.jobId !== jobId || sending.attempt !== attempt || sending.agentId !== agentId) {
    yield "a result that was sent for something else";
  } else if (sending.kind !== "true") yield `a ${sending.kind} result answered`;
}

function receptionOf({ attempt, agentId }: Pick<JobSeen, "attempt" | "agentId">): string {
  return `${attempt} ${agentId}`;
}
