import { isRecord } from "#shared/text/is-record.ts";
import type { Verdict } from "#shared/presentation/presentation.ts";

/** Exit status of a client command. With 2 and more there is no result. */
type ExitCode = 2 | 3 | 4 | 5 | 1 | 0;

/** Everything is good, or `--fail-on` accepts what is not. */
export const GOOD = 0;
/** The target is bad: by its verdict, or because it or its resolver does not answer. */
export const BAD = 1;
/** The command line, or what the service was asked for, is wrong. */
export const USAGE = 2;
/** No key, a key that may not do this, or a limit. */
export const FORBIDDEN = 3;
/** No probe could do the check. */
const NO_PROBE = 4;
/** The service does not answer, or fails. */
export const NO_SERVICE = 5;
/** Ctrl-C: 128 and the number of SIGINT. */
export const INTERRUPTED = 130;

/** Error codes of the API whose exit status their HTTP status alone does not give, or that come without one. */
const BY_CODE: Readonly<Record<string, ExitCode>> = {
  missing_parameter: USAGE,
  target_not_allowed: USAGE,
  plan_limit_exceeded: FORBIDDEN,
  rate_limit_exceeded: FORBIDDEN,
  probe_unavailable: NO_PROBE,
};

/** Exit status of request_failed by the source of the failure (shared/contracts/outcome.ts). */
const BY_SOURCE: Readonly<Record<string, ExitCode>> = { target: BAD, resolver: BAD, probe: NO_PROBE };

/**
 * Returns the exit status for an answer of the service: `status` is its HTTP status, `body` its JSON or null. The error
 * of one location, or of a stream that has begun, has no HTTP status of its own: pass 0 and `{error}`.
 */
export function exitCodeOf(status: number, body: unknown): ExitCode {
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {};
  const { code, source } = error;
  if (code === "request_failed") return BY_SOURCE[String(source)] ?? NO_SERVICE;
  const known = typeof code === "string" && Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined;
  if (known !== undefined) return known;
  if (status >= 200 && status < 300) return GOOD;
  if (status === 401 || status === 403 || status === 429) return FORBIDDEN;
  return status >= 400 && status < 500 ? USAGE : NO_SERVICE;
}

/** What ends a command with 1: `critical` a bad verdict, `warning` also a warning, `never` nothing. */
export const FAIL_ON = ["critical", "warning", "never"] as const;
/** One of FAIL_ON. */
export type FailOn = (typeof FAIL_ON)[number];

/** Returns the exit status for a result with this verdict. */
export function exitCodeOfVerdict(verdict: Verdict, failOn: FailOn): typeof GOOD | typeof BAD {
  if (failOn === "never") return GOOD;
  return verdict === "bad" || (verdict === "warning" && failOn === "warning") ? BAD : GOOD;
}

/**
 * Returns the exit status for several locations: the worst one. A location that says nothing about the target, because
 * its probe or the service failed, counts only if all of them do.
 */
export function exitCodeOfLocations(codes: readonly ExitCode[]): ExitCode {
  const results = codes.filter((code) => code === GOOD || code === BAD);
  const counted = results.length > 0 ? results : codes;
  return counted.toSorted((a, b) => b - a)[0] ?? NO_PROBE;
}
