import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";

const JobId = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "Id of the batch",
  examples: ["bat_Y1x4QmZr8WcT2sVb"],
});

/** Maximum length of a target, in characters. One that is too long for its tool is among the invalid ones. */
const LONGEST_URL = 100_000;

/** Body of POST /api/v4/batch. */
export const SUBMIT = Type.Object({
  urls: Type.Array(Type.String({ maxLength: LONGEST_URL }), {
    examples: [["https://example.com", "example.org"]],
    description: "Targets to check; the plan limits their number",
    minItems: 1,
    maxItems: 1_000,
  }),
  type: Type.Optional(
    Type.String({
      default: "check",
      maxLength: 50,
      description: "Tool that checks the targets: check, or any tool with a target",
    }),
  ),
});

/** Query of GET /api/v4/batch. */
export const POLL = Type.Object({
  job_id: JobId,
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000, default: 1, description: "Number of the page of results, from 1" }),
  ),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100, description: "Results per page" })),
});

/** Query of DELETE /api/v4/batch. */
export const CANCEL = Type.Object({ job_id: JobId });

/** Data of the answer to a submission. */
export const SUBMITTED = Type.Object({
  job_id: JobId,
  status: Type.Enum(["pending", "running", "completed", "failed", "cancelled"], {
    description: "failed: the batch ended and no probe was available for any target",
  }),
  type: Type.String({ description: "Tool that checks the targets" }),
  total: Type.Integer({ description: "Number of accepted targets, duplicates included" }),
  poll_url: Type.String({ description: "Path that returns its progress and results" }),
  invalid_urls: Type.Array(Type.String(), { description: "Rejected targets, as submitted" }),
  invalid_reasons: Type.Array(
    Type.Object({
      url: Type.String({ description: "As submitted" }),
      code: Type.String({ description: "missing_parameter or target_not_allowed" }),
      message: Type.String({ description: "What is wrong with the target" }),
    }),
    { description: "Reasons, in the order of invalid_urls" },
  ),
});

/** A batch with its progress and results. */
export const PROGRESS = Type.Object({
  ...SUBMITTED.properties,
  completed: Type.Integer({ description: "Number of targets that have a result" }),
  failed: Type.Integer({ description: "Number of completed targets with status failed" }),
  results: Type.Array(
    Type.Object({
      url: Type.String({ description: "Target as submitted" }),
      status: Type.Enum(["ok", "failed"], { description: "ok: data holds the result. failed: error holds the cause" }),
      data: Type.Optional(Type.Unknown({ description: "Result of the tool" })),
      error: Type.Optional(Type.Unknown({ description: "Error of the tool" })),
      duration_ms: Type.Integer({ description: "Duration of the check in milliseconds" }),
    }),
    { description: "Results of this page's targets so far, in the order submitted" },
  ),
  created_at: Type.String({ format: "date-time", description: "Time of submission" }),
  started_at: Nullable(Type.String({ format: "date-time", description: "Time of its first start" })),
  finished_at: Nullable(Type.String({ format: "date-time", description: "Time of its end" })),
});
