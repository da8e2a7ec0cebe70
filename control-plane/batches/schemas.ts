import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";

const JobId = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "Id of the batch",
  examples: ["bat_Y1x4QmZr8WcT2sVb"],
});

/** The body of POST /api/v4/batch. */
export const SUBMIT = Type.Object({
  urls: Type.Array(Type.String(), {
    examples: [["https://example.com", "example.org"]],
    description: "Targets, one tool's checks each; the plan limits how many",
    minItems: 1,
    maxItems: 1_000,
  }),
  type: Type.Optional(
    Type.String({
      default: "check",
      maxLength: 50,
      description: "Tool to check them with: check, or any with a target",
    }),
  ),
});

/** The query of a poll. */
export const POLL = Type.Object({
  job_id: JobId,
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 1, description: "Page of results, from 1" })),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100, description: "Results on a page" })),
});

/** The query of a cancellation. */
export const CANCEL = Type.Object({ job_id: JobId });

/** What a submission answers with. */
export const SUBMITTED = Type.Object({
  job_id: JobId,
  status: Type.Enum(["pending", "running", "completed", "failed", "cancelled"], {
    description: "failed: it has ended and no probe could be had for any target",
  }),
  type: Type.String({ description: "Tool the targets are checked with" }),
  total: Type.Integer({ description: "Targets accepted, repeats counted" }),
  poll_url: Type.String({ description: "Path that tells how it stands" }),
  invalid_urls: Type.Array(Type.String(), { description: "Targets that were not accepted, as submitted" }),
  invalid_reasons: Type.Array(
    Type.Object({
      url: Type.String({ description: "As submitted" }),
      code: Type.String({ description: "missing_parameter or target_not_allowed" }),
      message: Type.String({ description: "For people" }),
    }),
    { description: "Why, in the order of invalid_urls" },
  ),
});

/** A batch and how far it is. */
export const PROGRESS = Type.Object({
  ...SUBMITTED.properties,
  completed: Type.Integer({ description: "Targets that have a result" }),
  failed: Type.Integer({ description: "Those of them that could not be checked" }),
  results: Type.Array(
    Type.Object({
      url: Type.String({ description: "Target as submitted" }),
      status: Type.Enum(["ok", "failed"], { description: "Whether the check has an answer" }),
      data: Type.Optional(Type.Unknown({ description: "As the tool answers" })),
      error: Type.Optional(Type.Unknown({ description: "As an error answer of the tool" })),
      duration_ms: Type.Integer({ description: "Milliseconds" }),
    }),
    { description: "Of the page's targets those that have a result, in the order submitted" },
  ),
  created_at: Type.String({ format: "date-time", description: "When it was submitted" }),
  started_at: Nullable(Type.String({ format: "date-time", description: "When it was first taken up" })),
  finished_at: Nullable(Type.String({ format: "date-time", description: "When it ended" })),
});
