import { Type, type Static } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";

/**
 * Limit of every duration of a check, in milliseconds (10 minutes). No check lasts so long, and the control plane stores
 * durations as 32-bit integers.
 */
export const MOST_CHECK_MS = 600_000;
/** Limits of a status: three digits of the status line, as many as agents accept. */
export const HTTP_STATUS_RANGE = { minimum: 100, maximum: 999 } as const;

const DURATION = { minimum: 0, maximum: MOST_CHECK_MS } as const;

/**
 * The answer of an agent to a monitor's check. A target that gives no answer at all is a failed outcome instead, so that
 * the agent can find out whether its own network is the cause.
 */
export const MONITOR_RESULT = Type.Object({
  verdict: Type.Enum(["up", "down"], { description: "down: the target answered, but not as the monitor expects" }),
  response_ms: Type.Number({
    ...DURATION,
    description:
      "Time to the answer, milliseconds. http: from the start, with redirects, to the first byte of the final response, " +
      "which is redirect + dns + connect + tls + ttfb of the tool check; dns: round trip of the query; ping: mean round " +
      "trip; port: round trip of the handshake; ssl: the TLS handshake; domain: the look-up; tcp, grpc and websocket: " +
      "from the start, with look-up and TLS, to the end of the expected answer",
  }),
  http_status: Nullable(
    Type.Integer({ ...HTTP_STATUS_RANGE, description: "Status of the final response; null if it is not HTTP" }),
  ),
  fault: Nullable(
    Type.Object(
      {
        stage: Type.Enum(["dns", "connect", "tls", "request", "response"], { description: "Stage that failed" }),
        reason: Type.String({ maxLength: 100, description: "Cause as a stable snake_case word" }),
        message: Type.String({ maxLength: 500, description: "Cause for people, one line" }),
      },
      { description: "Why the verdict is down; null if it is up" },
    ),
  ),
  // Missing in the answers of agents of an earlier release.
  phases: Type.Optional(
    Nullable(
      Type.Object(
        {
          redirect_ms: Type.Number({ ...DURATION, description: "All responses before the final one" }),
          dns_ms: Type.Number({ ...DURATION, description: "Look-up of the name" }),
          connect_ms: Type.Number({ ...DURATION, description: "TCP connection" }),
          tls_ms: Type.Number({ ...DURATION, description: "TLS handshake" }),
          processing_ms: Type.Number({ ...DURATION, description: "From the request to the first byte of the answer" }),
        },
        { description: "http, tcp, grpc and websocket: the parts of response_ms, milliseconds; null for other checks" },
      ),
    ),
  ),
  certificate_fingerprint: Type.Optional(
    Nullable(
      Type.String({
        pattern: "^[0-9a-f]{64}$",
        description:
          "SHA-256 of the certificate of the target's own host, lower-case hexadecimal; null or absent: there was none",
      }),
    ),
  ),
  whole: Nullable(
    Type.Unknown({ description: "Result of the tool that examines such a target; null if it was not needed" }),
  ),
  elapsed_ms: Type.Integer({ ...DURATION, description: "Duration of the check in milliseconds" }),
});
/** The values of such an answer. */
export type MonitorResult = Static<typeof MONITOR_RESULT>;
/** The parts of the time to the answer, milliseconds. */
export type MonitorPhases = NonNullable<MonitorResult["phases"]>;
/** Why an answer is not as expected. */
export type MonitorFault = NonNullable<MonitorResult["fault"]>;

/** Parameters of every monitor's check. */
export const REPORT_PARAMS = {
  timeout_seconds: Type.Integer({ minimum: 1, maximum: 30, description: "Time limit for the target, seconds" }),
  /** The verdict that is known from this location; the whole result is sent if it changes. null: none yet. */
  known: Nullable(Type.Enum(["up", "down"], { description: "Known verdict: the whole result is sent if it differs" })),
  always_whole: Type.Boolean({ description: "Send the whole result in any case" }),
};

/** Time that an agent has after the time limit of the target to test its own network, in milliseconds. */
const SELF_TEST_MS = 2_000;

/**
 * The parts of the contract of every monitor's check: run like a tool, but in no catalogue, and with a short result.
 * `deadlineMs` is the time limit of the target and of that test.
 */
export const MONITOR_CHECK = {
  scope: "monitors",
  result: MONITOR_RESULT,
  reserveMs: SELF_TEST_MS,
  deadlineMs: ({ timeout_seconds }: { readonly timeout_seconds: number }) => timeout_seconds * 1_000 + SELF_TEST_MS,
} as const;
