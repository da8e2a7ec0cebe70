import { check, type Parameters } from "recheck";

/** Text that makes an expression slow. Each pump can be repeated any number of times. */
export interface Attack {
  readonly pumps: readonly { readonly prefix: string; readonly pump: string }[];
  readonly suffix: string;
}

/** Result of recheck for an expression. */
export type Verdict =
  | { readonly status: "safe" }
  | { readonly status: "unknown"; readonly reason: string }
  | { readonly status: "vulnerable"; readonly complexity: string; readonly attack: Attack };

/** Time limit for one expression in milliseconds. The slowest takes 4 s on an idle core, 40 s on a busy one. */
const TIMEOUT_MS = 240_000;
/**
 * recheck calls an expression vulnerable if one match takes longer than 250 or 1,500 ms. A busy machine exceeds these
 * with linear expressions. With these limits the number of steps decides, and a search for an attack takes minutes.
 */
const PATIENT: Parameters = { incubationTimeout: 10_000, attackTimeout: 30_000 };

/**
 * Asks recheck how the time of an expression grows with the length of the text
 * (https://makenowjust-labs.github.io/recheck). `patient`: a slow match alone is not a reason to call it vulnerable.
 */
export async function recheck(source: string, flags: string, { patient = false } = {}): Promise<Verdict> {
  const verdict = await check(source, flags, {
    timeout: TIMEOUT_MS,
    randomSeed: 1,
    ...(patient ? PATIENT : {}),
  });
  if (verdict.status === "safe") return { status: "safe" };
  if (verdict.status === "unknown") return { status: "unknown", reason: verdict.error.kind };
  const { pumps, suffix } = verdict.attack;
  return { status: "vulnerable", complexity: verdict.complexity.summary, attack: { pumps, suffix } };
}
