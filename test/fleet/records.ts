/** A job as an agent received it. */
export interface JobSeen {
  readonly jobId: string;
  readonly attempt: number;
  readonly agentId: string;
}

/**
 * State of a result when it was sent. `true`: once, for a job that the agent has. `duplicate`: again. `late`: for a job
 * whose stream was cut or silent for too long. `forged`: for a job of another agent.
 */
export type ResultKind = "true" | "duplicate" | "late" | "forged";

/** A result as an agent sent it. */
export interface ResultSent extends JobSeen {
  readonly kind: ResultKind;
  /** Identifier of this sending, unique over all agents and their restarts. */
  readonly sending: string;
}

/** A result's description of itself, so that its row names the exact message that it came from. */
export interface Proof extends JobSeen {
  readonly sending: string;
  /** Milliseconds from the receipt of the job to the sending. */
  readonly spentMs: number;
}

/** One location's row in an answer. */
export interface RowAnswered {
  readonly region: string;
  readonly probeId: string;
  readonly durationMs: number;
  /** null in a failed row. */
  readonly proof: Proof | null;
  /** Code and reason of a failed row, else null. */
  readonly failure: string | null;
}

/** One call: the requested regions, the status of its answer (null if none arrived) and its rows. */
export interface CallMade {
  readonly asked: readonly string[];
  readonly status: number | null;
  readonly rows: readonly RowAnswered[];
}

/** All records of a run. */
export interface History {
  readonly calls: readonly CallMade[];
  readonly seen: readonly JobSeen[];
  readonly sent: readonly ResultSent[];
}

/** Formats a job or a sending as a line of an agent's notes. */
export function noteOf(entry: JobSeen | ResultSent): string {
  const { jobId, attempt, agentId } = entry;
  const fields = "sending" in entry ? [jobId, attempt, agentId, entry.kind, entry.sending] : [jobId, attempt, agentId];
  return `${fields.join(" ")}\n`;
}

/** Parses notes. A last line that was cut off by a kill is left out. */
export function readNotes(text: string): Omit<History, "calls"> {
  const seen: JobSeen[] = [];
  const sent: ResultSent[] = [];
  for (const line of text.split("\n").slice(0, -1)) {
    const [jobId = "", attempt, agentId = "", kind, sending] = line.split(" ");
    const entry = { jobId, attempt: Number(attempt), agentId };
    if (sending === undefined) seen.push(entry);
    else sent.push({ ...entry, kind: kind as ResultKind, sending });
  }
  return { seen, sent };
}
