import type { MonitorResult } from "#shared/monitor-checks/define.ts";
import { parseToolParams } from "#shared/tools/parse-params.ts";
import { outcomeError, unavailableError, type CheckAnswer, type CheckError } from "#control-plane/checks/answer.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { readCertificate, type CertificateFacts } from "#control-plane/watching/expiry/observed/certificate.ts";
import {
  readRegistration,
  readService,
  type RegistrationFacts,
} from "#control-plane/watching/expiry/observed/registration.ts";
import { boundedText } from "#control-plane/watching/expiry/observed/text.ts";
import { splitTarget } from "#control-plane/watching/expiry/links/targets.ts";
import type { ClaimedTarget } from "#control-plane/watching/expiry/sweep/claims-store.ts";
import { contractOf } from "#control-plane/outages/kinds/kinds.ts";
import { readLocation } from "#control-plane/watching/checking/watch/served.ts";

/** What a look at a target has found. */
export type Look =
  | { readonly kind: "certificate"; readonly facts: CertificateFacts }
  | {
      readonly kind: "domain";
      readonly facts: RegistrationFacts;
      /** The service that answered, as its host; null if it is not named. */
      readonly service: string | null;
    }
  | {
      readonly kind: "failed";
      /** A stable word. */
      readonly reason: string;
      /** For people; can contain untrusted text. */
      readonly message: string;
      /** The registry said that it is asked too often. */
      readonly isLimited: boolean;
      /** The registry refused the question or did not answer it, and gets no other one for a while. */
      readonly isRefused: boolean;
      /** No probe could look, so that nothing was asked: none was online, or each was busy or disconnected. */
      readonly isUnasked: boolean;
    }
  /** The replica stops. */
  | { readonly kind: "cancelled" };

/** Time limits of the target, in seconds: a handshake, and a chain of registries. */
export const TIMEOUT_SECONDS = { certificate: 15, domain: 28 } as const;
/** The whole look, with the agent's own test and the way, in milliseconds. */
export const LONGEST_LOOK_MS = 45_000;
const MOST_REASON = 100;
const MOST_MESSAGE = 500;
const INVALID = "The answer of the probe cannot be read.";

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
  if (!parsed.ok) return fail("invalid_target", "No probe can look at a target of this form.");
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
      if (row === undefined) return failWith(unavailableError("no_probe"));
      return row.status === "ok" ? readResult(kind, row.data) : failWith(row.error);
    }
    case "cancelled":
      return { kind: "cancelled" };
    case "unavailable":
      return failWith(unavailableError(answer.reason));
    case "refused":
      return fail("target_not_allowed", "No probe is allowed to reach this target.");
    default:
      return fail("not_run", "The look was not carried out.");
  }
}

function readResult(kind: ClaimedTarget["kind"], data: unknown): Look {
  const { whole } = data as MonitorResult;
  if (kind === "certificate") {
    const facts = readCertificate(whole);
    return facts === null ? fail("invalid_result", INVALID) : { kind, facts };
  }
  const facts = readRegistration(whole);
  return facts === null ? fail("invalid_result", INVALID) : { kind, facts, service: readService(whole) };
}

function failWith({ code, reason, source, message }: CheckError): Look {
  // A question that runs into the deadline of its job has the source target.
  const isRefused = source === "service" || (source === "target" && reason === "timeout");
  const isUnasked = code === "probe_unavailable";
  const failed = fail(boundedText(reason, MOST_REASON) ?? code, boundedText(message, MOST_MESSAGE) ?? code);
  return { ...failed, isRefused, isUnasked };
}

function fail(reason: string, message: string): Extract<Look, { kind: "failed" }> {
  const isLimited = reason === "rate_limited";
  return { kind: "failed", reason, message, isLimited, isRefused: false, isUnasked: false };
}
