import { Type, type TObject, type TSchema } from "typebox";
import { SOURCES } from "#shared/contracts/outcome.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { documentedBody } from "#control-plane/http/operations/operation-body.ts";
import { STATUS_OF_CODE, type ErrorCode } from "#control-plane/http/errors.ts";

/** Documentation of one route. */
interface Operation {
  /** Unique, snake_case. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  /** Further sentences after the summary. */
  readonly description?: string;
  /** Schema of `data`. */
  readonly data: TSchema;
  readonly query?: TObject;
  readonly body?: TSchema;
  readonly errors?: readonly ErrorCode[];
  /** key: X-API-Key or Bearer. optional: some requests need no key. */
  readonly security?: "key" | "optional" | "operator" | "none";
  readonly status?: 200 | 201 | 202;
  /** Media type of a text answer without envelope; `data` is its schema. */
  readonly plain?: string;
  /** Media types of files that some requests get in place of the envelope. */
  readonly files?: readonly string[];
  /** The route changes data, and accepts X-Idempotency-Key (http/writes.ts). */
  readonly isWrite?: boolean;
  /** Further kinds of success, each with its own status and data. */
  readonly otherwise?: readonly { readonly status: 200 | 202; readonly data: TSchema }[];
}

/** Schema of the meta of an answer. */
export const META = Type.Object(
  {
    request_id: Type.String({ description: "Also in the X-Request-Id header" }),
    duration_ms: Type.Integer({ description: "Processing time, milliseconds" }),
    api_version: Type.Optional(Type.String({ description: "4.0 on v4, 3.0 on v3" })),
    cached: Type.Optional(Type.Boolean({ description: "true: the result comes from the cache. On cacheable results" })),
    location: Type.Optional(
      Type.Unknown({ description: "Location of the probe that ran the check; on v4, for calls without locations" }),
    ),
    share_id: Type.Optional(Type.String({ description: "Id of the public page of this response, with share=1" })),
    warnings: Type.Optional(
      Type.Array(
        Type.Object({
          parameter: Type.String({ description: "Name as given; a dotted path for fields of the body" }),
          message: Type.String({ description: "Explanation for people" }),
          did_you_mean: Nullable(
            Type.String({ description: "The known parameter with the most similar name; null if none is similar" }),
          ),
        }),
        {
          description:
            "Parameters and values that were ignored, and values with a consequence; on v4, absent if there are none",
        },
      ),
    ),
    monitor_ids: Type.Optional(
      Type.Array(Type.Integer(), { description: "Of an export: the ids of its monitors, in their order" }),
    ),
    pagination: Type.Optional(
      Type.Object(
        {
          total: Type.Integer({ description: "Number of rows on all pages" }),
          page: Type.Integer({ description: "Number of this page, from 1" }),
          per_page: Type.Integer({ description: "Rows per page" }),
          pages: Type.Integer({ description: "Number of pages" }),
        },
        { description: "Position in a list; on lists" },
      ),
    ),
  },
  { $id: "Meta" },
);

/** Schema of an error answer. */
export const ERROR_ANSWER = Type.Object(
  {
    error: Type.Object({
      code: Type.Enum(Object.keys(STATUS_OF_CODE), { description: "Kind of error" }),
      message: Type.String({ description: "Explanation for people: what was wrong and what to do" }),
      field: Type.Optional(Type.String({ description: "Name of the invalid parameter" })),
      reason: Type.Optional(Type.String({ description: "Cause, as a fixed word for programs" })),
      stage: Type.Optional(
        Type.String({ description: "How far the request got: dns, connect, tls, request, response" }),
      ),
      source: Type.Optional(Type.String({ description: `Party that failed: ${SOURCES.join(", ")}` })),
      retry_after_seconds: Type.Optional(Type.Integer({ description: "Seconds to wait before a retry" })),
      problems: Type.Optional(
        Type.Array(
          Type.Object({
            row: Type.String({ description: "List and index of the row, such as monitors.3, or set" }),
            id: Type.Optional(Type.Integer({ description: "Of a change of many: id of the monitor" })),
            field: Nullable(Type.String({ description: "Path of the field in the row; null: the whole row" })),
            reason: Type.String({ description: "Cause, as a fixed word for programs" }),
            message: Type.String({ description: "Explanation for people" }),
          }),
          {
            description:
              "Of an import or a change of many: the problems with its rows, at most 50. The first one is also field and reason",
          },
        ),
      ),
    }),
    meta: Type.Ref("Meta#"),
  },
  { $id: "Error" },
);

/** Errors of every keyed route, in addition to its own. */
const KEYED_ERRORS: readonly ErrorCode[] = [
  "auth_required",
  "invalid_api_key",
  "insufficient_scope",
  "rate_limit_exceeded",
  "daily_limit_exceeded",
  "service_unavailable",
];

/** Errors of the gate in front of a route, in addition to the route's own. */
const GATE_ERRORS: Readonly<Record<NonNullable<Operation["security"]>, readonly ErrorCode[]>> = {
  key: KEYED_ERRORS,
  optional: KEYED_ERRORS,
  operator: ["auth_required", "invalid_api_key", "rate_limit_exceeded", "service_unavailable"],
  none: [],
};

const WRITE_ERRORS: readonly ErrorCode[] = ["missing_parameter", "conflict", "idempotency_mismatch"];

const WRITE_HEADERS = Type.Object({
  "X-Idempotency-Key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: "^[!-~]+$",
      examples: ["order-4711"],
      description:
        "A unique id that you choose for this request. A repetition with the same key within 60 seconds returns the first " +
        "response with X-Idempotent-Replayed: true and has no other effect. While the first request runs, it is 409.",
    }),
  ),
});

/** Alternative security schemes for each kind of access. */
export const SECURITY = {
  key: [{ apiKey: [] }, { bearerKey: [] }],
  optional: [{}, { apiKey: [] }, { bearerKey: [] }],
  operator: [{ operatorToken: [] }],
  none: [],
};

/** Returns the Fastify schema of a route. It is documentation only: Fastify's validation and serialisation are off. */
export function operation(described: Operation) {
  const {
    id,
    tag,
    summary,
    data,
    query,
    body,
    security = "key",
    status = 200,
    plain,
    otherwise = [],
    files = [],
  } = described;
  const isWrite = described.isWrite === true;
  const codes = [...GATE_ERRORS[security], ...(described.errors ?? []), ...(isWrite ? WRITE_ERRORS : [])];
  const response: Record<number, object> = {
    [status]:
      plain === undefined
        ? successOrFile(data, files)
        : { description: "Success", content: { [plain]: { schema: data } } },
    ...Object.fromEntries(otherwise.map((other) => [other.status, success(other.data)])),
    ...errorResponses(codes),
  };
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(described.description === undefined ? {} : { description: described.description }),
    security: SECURITY[security],
    ...(isWrite ? { headers: WRITE_HEADERS } : {}),
    ...(query === undefined ? {} : { querystring: query }),
    ...(body === undefined ? {} : { body: documentedBody(body) }),
    response,
  };
}

/** Documentation of a route whose answers have no envelope, in one or several media types. */
interface PlainOperation extends Pick<Operation, "id" | "tag" | "summary" | "description" | "query" | "errors"> {
  /** Media types the answer comes in. */
  readonly types: readonly string[];
}

/** Returns the Fastify schema of a keyless route without envelope. */
export function plainOperation({ id, tag, summary, description, query, errors = [], types }: PlainOperation) {
  const content = Object.fromEntries(types.map((type) => [type, { schema: PLAIN_BODIES[type] ?? {} }]));
  const failures = byStatus([...LIMITED, ...errors]).map(([status, named]) => [
    status,
    { description: named, content },
  ]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: SECURITY.none,
    ...(query === undefined ? {} : { querystring: query }),
    // Errors have the requested media type as well.
    response: { 200: { description: "Success", content }, ...Object.fromEntries(failures) },
  };
}

const LIMITED = ["rate_limit_exceeded", "daily_limit_exceeded"] as const;

const PLAIN_BODIES: Readonly<Record<string, object>> = {
  "text/plain": { type: "string" },
  "text/csv": { type: "string" },
  "application/json": { type: "object" },
};

function success(data: TSchema) {
  return { description: "Success", ...Type.Object({ data, meta: Type.Ref("Meta#") }) };
}

function successOrFile(data: TSchema, files: readonly string[]) {
  if (files.length === 0) return success(data);
  const { description, ...schema } = success(data);
  const contents = files.map((type) => [type, { schema: { type: "string", format: "binary" } }] as const);
  return { description, content: { "application/json": { schema }, ...Object.fromEntries(contents) } };
}

/** Returns one response for each status; its description lists the error codes. */
function errorResponses(codes: readonly ErrorCode[]) {
  return Object.fromEntries(
    byStatus(codes).map(([status, named]) => [status, { description: named, ...Type.Ref("Error#") }]),
  );
}

/** Groups codes by status, joined as in a description. */
function byStatus(codes: readonly ErrorCode[]): (readonly [status: number, named: string])[] {
  const grouped = Map.groupBy(new Set(codes), (code) => STATUS_OF_CODE[code]);
  return Array.from(grouped, ([status, named]) => [status, named.join(", ")] as const);
}
