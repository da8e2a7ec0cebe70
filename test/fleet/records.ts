/** A job as an agent received it. */
export interface JobSeen {
  readonly jobId: string;
  readonly attempt: number;
  readonly agentId: string;
}

/**
 * What a result was when it was sent. `true`: of a job the agent holds, once. `duplicate`: again. `late`: of a job whose
 * stream was cut or silent for too long. `forged`: of a job that another agent holds.
 */
export type ResultKind = "true" | "duplicate" | "late" | "forged";

/** A result as an agent sent it. */
export interface ResultSent extends JobSeen {
  readonly kind: ResultKind;
  /** Of this sending alone, over all agents and their lives. */
  readonly sending: string;
}

/** What a result says of itself, so that the row it ends in names the very message it came from. */
export interface Proof extends JobSeen {
  readonly sending: string;
  /** Milliseconds from receipt of the job to the sending. */
  readonly spentMs: number;
}

/** One location's row of an answer. */
export interface RowAnswered {
  readonly region: string;
  readonly probeId: string;
  readonly durationMs: number;
  /** Null in a row that failed. */
  readonly proof: Proof | null;
  /** Code and reason of a row that failed, else null. */
  readonly failure: string | null;
}

/** One call: the regions it asked for, the status of its answer (null: none came) and its rows. */
export interface CallMade {
  readonly asked: readonly string[];
  readonly status: number | null;
  readonly rows: readonly RowAnswered[];
}

/** Everything that was noted in a run. */
export interface History {
  readonly calls: readonly CallMade[];
  readonly seen: readonly JobSeen[];
  readonly sent: readonly ResultSent[];
}

/** A job or a sending as a line of an agent's notes. */
export function noteOf(entry: JobSeen | ResultSent): string {
  const { jobId, attempt, agentId } = entry;
  const fields = "sending" in entry ? [jobId, attempt, agentId, entry.kind, entry.sending] : [jobId, attempt, agentId];
  return `${fields.join(" ")}\n`;
}

/** Reads notes back; a last line that was cut off by a kill is left out. */
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
