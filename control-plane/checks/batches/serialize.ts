import type { CheckError } from "#control-plane/checks/answer.ts";
import type { CountedBatch, StoredBatch, StoredTarget } from "#control-plane/checks/batches/store.ts";

/** Path of the batch endpoint. */
export const BATCH_URL = "/api/v4/batch";

/** A submitted target that was not accepted. */
export interface InvalidTarget {
  readonly url: string;
  readonly code: "missing_parameter" | "target_not_allowed";
  readonly message: string;
}

/** Returns the data of the answer to a submission. `basePath`: of the request; outside of one there is none. */
export function showBatch(
  batch: Pick<StoredBatch, "id" | "status" | "tool" | "invalid">,
  total: number,
  basePath = "",
) {
  const invalid = JSON.parse(batch.invalid) as readonly InvalidTarget[];
  return {
    job_id: batch.id,
    status: batch.status,
    type: batch.tool,
    total,
    poll_url: `${basePath}${BATCH_URL}?job_id=${batch.id}`,
    invalid_urls: invalid.map(({ url }) => url),
    invalid_reasons: invalid,
  };
}

/** Returns a batch with its counts and the results that a page of its targets has so far. */
export function showProgress(batch: CountedBatch, targets: readonly StoredTarget[], basePath = "") {
  return {
    ...showBatch(batch, batch.total, basePath),
    completed: batch.ok + batch.failed,
    failed: batch.failed,
    results: targets.flatMap((target) => showResult(target) ?? []),
    created_at: batch.createdAt.toISOString(),
    started_at: batch.startedAt?.toISOString() ?? null,
    finished_at: batch.finishedAt?.toISOString() ?? null,
  };
}

/** Returns the result of one target; null while it has none. */
export function showResult({ url, status, result, durationMs }: StoredTarget) {
  if (status === null || result === null) return null;
  const parsed = JSON.parse(result) as unknown;
  const base = { url, status, duration_ms: durationMs };
  return status === "ok" ? { ...base, data: parsed } : { ...base, error: parsed as CheckError };
}
