import { field } from "#shared/client/call.ts";
import {
  BAD,
  exitCodeOf,
  exitCodeOfLocations,
  exitCodeOfVerdict,
  GOOD,
  type FailOn,
} from "#shared/client/exit-codes.ts";

/** Longest wait for the answer of a try, in milliseconds: the service ends it after 90 s. */
export const TRIAL_MS = 100_000;

/** What a try says to the shell. */
type Trial =
  | { readonly ok: true; readonly exit: typeof GOOD | typeof BAD }
  /** Nothing is known: the exit status, and the line that says why. */
  | { readonly ok: false; readonly exit: number; readonly line: string };

/**
 * Reads the answer of a try as tools read theirs: by its verdict; where that is unknown, by the worst of its checks that
 * say something about the target. What has nothing to check is good.
 */
export function readTrial(data: unknown, failOn: FailOn): Trial {
  const verdict = field(data, "verdict");
  if (field(data, "checked") === false || verdict === "up") return { ok: true, exit: GOOD };
  if (verdict === "degraded") return { ok: true, exit: exitCodeOfVerdict("warning", failOn) };
  const bad = exitCodeOfVerdict("bad", failOn);
  if (verdict === "down") return { ok: true, exit: bad };
  const checks = field(data, "checks");
  const exit = exitCodeOfLocations(Array.isArray(checks) ? (checks as readonly unknown[]).map(exitOfCheck) : []);
  if (exit === GOOD || exit === BAD) return { ok: true, exit: exit === BAD ? bad : GOOD };
  const message = field(field(data, "cause"), "message");
  return { ok: false, exit, line: typeof message === "string" ? message : "nothing is known about the target" };
}

function exitOfCheck(check: unknown): ReturnType<typeof exitCodeOf> {
  const status = field(check, "status");
  if (status === "up" || status === "degraded") return GOOD;
  if (status === "down") return BAD;
  return exitCodeOf(0, { error: { code: "request_failed", source: field(field(check, "error"), "source") } });
}
