import { createHash } from "node:crypto";
import type { AgentMessage, Job as WireJob } from "#shared/protocol/probe.ts";
import { ARTIFACT_CHUNK_BYTES } from "#shared/wire.ts";
import type { JobSource } from "#probe-agent/attachment/running-jobs.ts";

/**
 * Sends the file of a job in chunks, each after the connection has taken over the one before, so that heartbeats and
 * results of other jobs wait for one chunk at most. Ends early when `isRunning` is false.
 */
export async function sendFile(
  file: Uint8Array,
  job: Pick<WireJob, "jobId" | "attempt">,
  source: JobSource,
  isRunning: () => boolean,
): Promise<void> {
  for (const message of splitFile(file, job)) {
    if (!isRunning()) return;
    await source.sayInTurn(message);
  }
}

/** Splits a file into its messages. */
function* splitFile(file: Uint8Array, { jobId, attempt }: Pick<WireJob, "jobId" | "attempt">): Generator<AgentMessage> {
  for (let index = 0; index * ARTIFACT_CHUNK_BYTES < file.length; index += 1) {
    const data = Buffer.from(file.subarray(index * ARTIFACT_CHUNK_BYTES, (index + 1) * ARTIFACT_CHUNK_BYTES));
    const last = (index + 1) * ARTIFACT_CHUNK_BYTES >= file.length;
    const sha256 = last ? createHash("sha256").update(file).digest() : Buffer.alloc(0);
    yield { body: { $case: "artifact", value: { jobId, attempt, index, data, last, sha256 } } };
  }
}
