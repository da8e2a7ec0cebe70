import { literalFamily } from "#shared/egress/addresses.ts";
import { registrableDomain } from "#shared/internet/registrable-domain.ts";
import { dns } from "#shared/tools/dns/contract.ts";
import type { Contract } from "#shared/tools/define.ts";
import { parseToolParams } from "#shared/tools/parse-params.ts";
import { traceroute } from "#shared/tools/traceroute/contract.ts";
import { parseLocations } from "#shared/internet/locations.ts";
import { fieldMessage } from "#shared/schema/problem.ts";
import {
  outcomeError,
  TARGET_NOT_ALLOWED,
  unavailableError,
  type CheckAnswer,
  type CheckError,
} from "#control-plane/checks/answer.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import type { ToolAnswer } from "#control-plane/watching/evidence/evidence.ts";
import { contractOf } from "#control-plane/outages/kinds/kinds.ts";

/** A call of a tool. */
export interface Call {
  readonly contract: Contract;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The answer to a call. */
interface Asked {
  readonly answer: CheckAnswer;
  /** Time since the call was sent to a probe, milliseconds; null if it was sent to none. */
  readonly tookMs: number | null;
}

/** Where a call is run. */
export interface AskedPlace {
  readonly location: string;
  /** Whether only shared probes are asked there; else the account's own ones too. */
  readonly sharedOnly: boolean;
}

/** Asks probes for an account, all within one time limit. */
export interface Asker {
  ask(call: Call, place: AskedPlace): Promise<Asked>;
}

/** Creates an asker. The calls are paced: they never add to more than 20 jobs at one target. */
export function createAsker(
  checks: CheckContext,
  {
    accountId,
    budgetMs,
    signal,
  }: { readonly accountId: number; readonly budgetMs: number; readonly signal: AbortSignal },
): Asker {
  const endsAt = checks.clock.monotonic() + budgetMs;
  return {
    async ask({ contract, params }, { location, sharedOnly }) {
      const parsed = parseLocations([location]);
      if (!parsed.ok) return { answer: { kind: "unavailable", reason: "no_probe" }, tookMs: null };
      const sent: { at: number | null } = { at: null };
      const answer = await runCheck(checks, {
        contract,
        params,
        accountId,
        locations: parsed.items,
        sharedOnly,
        maxLocations: 1,
        pace: "paced",
        deadlineMs: Math.max(1, Math.floor(endsAt - checks.clock.monotonic())),
        signal,
        onSent: () => (sent.at = checks.clock.monotonic()),
      });
      return { answer, tookMs: sent.at === null ? null : checks.clock.monotonic() - sent.at };
    },
  };
}

/** The service gave the call up: nothing is known about the target. */
const OUT_OF_TIME: CheckError = {
  code: "request_failed",
  stage: "request",
  source: "probe",
  reason: "out_of_time",
  message: "The probe did not answer in the time for evidence.",
};

/** Converts the answer of one location. An error has the fields of error answers, without advice to call again. */
export function toToolAnswer(answer: CheckAnswer): ToolAnswer {
  switch (answer.kind) {
    case "single":
      return answer.outcome.status === "ok"
        ? { status: "ok", data: answer.outcome.data }
        : fail(outcomeError(answer.outcome));
    case "multi": {
      const [row] = answer.data.locations;
      if (row === undefined) return fail(unavailableError("no_probe"));
      return row.status === "ok" ? { status: "ok", data: row.data } : fail(row.error);
    }
    case "refused":
      return fail(TARGET_NOT_ALLOWED);
    case "unavailable":
      return fail(unavailableError(answer.reason));
    case "problem": {
      const { field, reason } = answer.problem;
      return fail({ code: "missing_parameter", field, reason, message: fieldMessage(answer.problem) });
    }
    default:
      return fail(OUT_OF_TIME);
  }
}

function fail({ retry_after_seconds: _seconds, ...error }: CheckError): ToolAnswer {
  return { status: "failed", error };
}

/** Returns the trace to a host; null if it cannot be traced. */
export function traceCall(host: string): Call | null {
  return toCall(traceroute, { host, queries: 1 });
}

/** Returns the look-ups of a host and of its domain; null for what is no name, or none of a registered domain. */
export function dnsCalls(host: string): { readonly host: Call | null; readonly zone: Call | null } {
  if (host === "" || literalFamily(host) !== null) return { host: null, zone: null };
  const zone = registrableDomain(host);
  return {
    host: toCall(dns, { domain: host, types: "A,AAAA,CNAME" }),
    zone: zone === null ? null : toCall(dns, { domain: zone, types: "NS,SOA" }),
  };
}

/** Returns the look-up of a domain's name servers. */
export function nameServersCall(zone: string): Call | null {
  return toCall(dns, { domain: zone, types: "NS" });
}

/** Time limit of the look at a certificate, seconds. */
const HANDSHAKE_SECONDS = 4;

/** Returns the look at a server's certificate: one handshake, by the check of an ssl monitor. */
export function certificateCall(host: string, port: number): Call | null {
  return toCall(contractOf("ssl"), {
    host,
    port,
    timeout_seconds: HANDSHAKE_SECONDS,
    known: null,
    always_whole: true,
  });
}

function toCall(contract: Contract, raw: Readonly<Record<string, unknown>>): Call | null {
  const parsed = parseToolParams(contract, raw, { from: "json", unknown: "refuse" });
  return parsed.ok ? { contract, params: parsed.value } : null;
}
