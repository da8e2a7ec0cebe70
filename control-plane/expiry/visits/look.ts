import type { MonitorResult } from "#shared/monitor-checks/define.ts";
import { parseToolParams } from "#shared/tools/parse-params.ts";
import { outcomeError, type CheckAnswer, type CheckError } from "#control-plane/checks/answer.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { readCertificate, type CertificateFacts } from "#control-plane/expiry/facts/certificate.ts";
import { readRegistration, type RegistrationFacts } from "#control-plane/expiry/facts/registration.ts";
import { splitTarget } from "#control-plane/expiry/links/targets.ts";
import type { ClaimedTarget } from "#control-plane/expiry/visits/store.ts";
import { contractOf } from "#control-plane/monitors/contracts.ts";
import { readLocation } from "#control-plane/monitors/watch/served.ts";

/** What a look at a target has found. */
export type Look =
  | { readonly kind: "certificate"; readonly facts: CertificateFacts }
  | { readonly kind: "domain"; readonly facts: RegistrationFacts }
  | {
      readonly kind: "failed";
      /** A stable word. */
      readonly reason: string;
      /** The registry said that it is asked too often. */
      readonly isLimited: boolean;
    }
  /** The replica stops. */
  | { readonly kind: "cancelled" };

/** Time limits of the target, in seconds: a handshake, and a chain of registries. */
const TIMEOUT_SECONDS = { certificate: 15, domain: 28 } as const;
/** The whole look, with the agent's own test and the way, in milliseconds. */
export const LONGEST_LOOK_MS = 45_000;

/** Looks at a target from one probe: one handshake, or one question to the registry. */
export async function lookAt(
  checks: CheckContext,
  { kind, target, scope, location }: ClaimedTarget,
  signal: AbortSignal,
): Promise<Look> {
  const contract = contractOf(kind === "certificate" ? "ssl" : "domain");
  const of = kind === "certificate" ? splitTarget(target) : { domain: target };
  const raw = { ...of, timeout_seconds: TIMEOUT_SECONDS[kind], known: null, always_whole: true };
  const parsed = parseToolParams(contract, raw, { from: "strict", unknown: "refuse" });
  if (!parsed.ok) return fail("invalid_target");
  const answer = await runCheck(checks, {
    contract,
    params: parsed.value,
    accountId: scope === 0 ? null : scope,
    locations: scope === 0 || location === null ? null : readLocation(location),
    maxLocations: 1,
    pace: "paced",
    signal,
  });
  return readAnswer(kind, answer);
}

function readAnswer(kind: ClaimedTarget["kind"], answer: CheckAnswer): Look {
  switch (answer.kind) {
    case "single": {
      const { outcome } = answer;
      return outcome.status === "ok" ? readResult(kind, outcome.data) : failWith(outcomeError(outcome));
    }
    case "multi": {
      const [row] = answer.data.locations;
      if (row === undefined) return fail("no_probe");
      return row.status === "ok" ? readResult(kind, row.data) : failWith(row.error);
    }
    case "cancelled":
      return { kind: "cancelled" };
    case "unavailable":
      return fail(answer.reason);
    case "refused":
      return fail("target_not_allowed");
    default:
      return fail("not_run");
  }
}

function readResult(kind: ClaimedTarget["kind"], data: unknown): Look {
  const { whole } = data as MonitorResult;
  if (kind === "certificate") {
    const facts = readCertificate(whole);
    return facts === null ? fail("invalid_result") : { kind, facts };
  }
  const facts = readRegistration(whole);
  return facts === null ? fail("invalid_result") : { kind, facts };
}

function failWith({ code, reason }: CheckError): Look {
  return fail(reason ?? code);
}

function fail(reason: string): Look {
  return { kind: "failed", reason, isLimited: reason === "rate_limited" };
}
