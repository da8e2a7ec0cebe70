import { execFile } from "node:child_process";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { PingResult } from "#shared/tools/ping/contract.ts";
import type { TraceRequest, TraceRun } from "#probe-agent/port/packets.ts";
import type { Chain } from "#test/lab/chain.ts";
import { ROOT } from "#test/laws/source-files.ts";

const ALLOW = ["10.0.0.0/8", "fd00::/8"];

/** Runs a script with one JSON argument in the first namespace of a chain and parses its JSON answer. */
function runFrom(chain: Chain, script: string, order: unknown, before: readonly string[]): Promise<unknown> {
  const command = [...before, process.execPath, `${ROOT}/${script}`, JSON.stringify(order)];
  return new Promise((resolve, reject) => {
    execFile("ip", ["netns", "exec", chain.probe, ...command], (error, stdout) => {
      if (error === null) resolve(JSON.parse(stdout));
      else reject(error);
    });
  });
}

/** Runs the ping tool in the first namespace of a chain. `before` is a command that starts it in another way. */
export async function pingFrom(
  chain: Chain,
  params: Readonly<Record<string, unknown>>,
  before: readonly string[] = [],
): Promise<PingResult> {
  const answer = await runFrom(chain, "test/support/ping-here.ts", { params, allow: ALLOW }, before);
  const { outcome } = answer as { readonly outcome: Outcome<PingResult> };
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  return outcome.data;
}

/** Runs several pings at the same time in one process, as one agent does. */
export async function pingsFrom(
  chain: Chain,
  params: readonly Readonly<Record<string, unknown>>[],
): Promise<readonly PingResult[]> {
  const answer = await runFrom(chain, "test/support/ping-here.ts", { params, allow: ALLOW }, []);
  return (answer as readonly { readonly outcome: Outcome<PingResult> }[]).map(({ outcome }) => {
    if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
    return outcome.data;
  });
}

/** Runs a trace in the first namespace with every option of the port. */
export async function traceFrom(chain: Chain, request: TraceRequest): Promise<TraceRun> {
  const answer = await runFrom(chain, "test/lab/trace-here.ts", { request, allow: ALLOW }, []);
  const { outcome } = answer as { readonly outcome: Outcome<TraceRun> };
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  return outcome.data;
}
