import type { Outcome } from "#shared/contracts/outcome.ts";
import type { MonitorResult } from "#shared/monitor-checks/define.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { TProperties } from "typebox";
import type { Implementation } from "#probe-agent/tools/implement.ts";
import { resultOf, runTool, type ToolSetting } from "#test/support/tool.ts";

type Given = Readonly<Record<string, unknown>>;

/** Parameters that a monitor of each check has unless its user sets others. */
const DEFAULTS: Readonly<Record<string, Given>> = {
  "monitor-http": {
    method: "GET",
    follow: true,
    headers: [],
    body: null,
    expected: [[200, 200]],
    keyword: null,
    keyword_mode: "present",
    json: null,
  },
  "monitor-dns": { type: "A", op: "any", values: [], dnssec: "not_bogus" },
  "monitor-ping": {},
  "monitor-port": {},
  "monitor-ssl": {},
  "monitor-domain": {},
  "monitor-tcp": { preset: null, send: null, expect: null, tls: "none" },
  "monitor-grpc": { service: null, tls: false, metadata: [] },
  "monitor-websocket": { subprotocol: null, send: null, expect: null },
};

function complete(name: string, given: Given): Given & { readonly timeout_seconds: number } {
  return { timeout_seconds: 5, known: "up", always_whole: false, ...DEFAULTS[name], ...given };
}

/** Runs a monitor's check over the real network ports, within the time of its target. Its verdict is known to be up. */
export async function runMonitor<P extends TProperties, R extends TProperties>(
  check: Implementation<P, R>,
  given: Given,
  setting: ToolSetting = {},
): Promise<Outcome<ResultOf<Implementation<P, R>["contract"]>>> {
  const params = complete(check.contract.name, given);
  const { outcome } = await runTool(check, params, { timeoutMs: params.timeout_seconds * 1_000, ...setting });
  return outcome;
}

/** Runs a monitor's check whose target must answer. The result must match the contract. */
export async function verdictOf<P extends TProperties, R extends TProperties>(
  check: Implementation<P, R>,
  given: Given,
  setting: ToolSetting = {},
): Promise<MonitorResult> {
  const params = complete(check.contract.name, given);
  const result = await resultOf(check, params, { timeoutMs: params.timeout_seconds * 1_000, ...setting });
  return result as unknown as MonitorResult;
}
