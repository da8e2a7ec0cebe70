import { literalFamily } from "#shared/egress/addresses.ts";
import { registrableDomain } from "#shared/registrable-domain.ts";
import { dns } from "#shared/tools/dns.ts";
import type { Contract } from "#shared/tools/define.ts";
import { parseToolParams } from "#shared/tools/parse-params.ts";
import { ssl } from "#shared/tools/ssl.ts";
import { traceroute } from "#shared/tools/traceroute.ts";
import { parseLocations } from "#shared/locations.ts";
import type { CheckAnswer, CheckError } from "#control-plane/checks/answer.ts";
import type { CheckContext } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import type { ToolAnswer } from "#control-plane/evidence/evidence.ts";

/** A call of a tool. */
export interface Call {
  readonly contract: Contract;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Asks probes for an account, all within one time limit. */
export interface Asker {
  /** Runs a call at a location. */
  ask(call: Call, location: string): Promise<CheckAnswer>;
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
    ask({ contract, params }, location) {
      const parsed = parseLocations([location]);
      if (!parsed.ok) return Promise.resolve({ kind: "unavailable", reason: "no_probe" });
      return runCheck(checks, {
        contract,
        params,
        accountId,
        locations: parsed.items,
        maxLocations: 1,
        pace: "paced",
        deadlineMs: Math.max(1, Math.floor(endsAt - checks.clock.monotonic())),
        signal,
      });
    },
  };
}

const CANCELLED: CheckError = {
  code: "probe_unavailable",
  reason: "out_of_time",
  message: "No probe was free in time.",
};
const REFUSED: CheckError = { code: "target_not_allowed", message: "The target is not allowed." };

/** Converts the answer of one location. */
export function toToolAnswer(answer: CheckAnswer): ToolAnswer {
  if (answer.kind === "multi") {
    const [row] = answer.data.locations;
    if (row?.status === "ok") return { status: "ok", data: row.data };
    if (row?.status === "failed") return { status: "failed", error: row.error };
  }
  if (answer.kind === "refused") return { status: "failed", error: REFUSED };
  const reason = answer.kind === "unavailable" ? { reason: answer.reason } : {};
  return { status: "failed", error: { ...CANCELLED, ...reason } };
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

/** Returns the examination of a server's certificate. */
export function certificateCall(host: string, port: number): Call | null {
  return toCall(ssl, { host, port });
}

function toCall(contract: Contract, raw: Readonly<Record<string, unknown>>): Call | null {
  const parsed = parseToolParams(contract, raw, { from: "json", unknown: "refuse" });
  return parsed.ok ? { contract, params: parsed.value } : null;
}
