import { Value } from "typebox/value";
import type { TProperties } from "typebox";
import { expect } from "vitest";
import type { Egress } from "#shared/internet/egress.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { parseParams } from "#shared/schema/schema.ts";
import type { Contract, ResultOf } from "#shared/tools/define.ts";
import { IANA_ANCHORS } from "#probe-agent/analysis/dns/trust-anchors.ts";
import { openData } from "#probe-agent/data/open.ts";
import { readConfig } from "#probe-agent/config.ts";
import { createNet, type NetDeps } from "#probe-agent/net/create.ts";
import { createAnalysisThreads } from "#probe-agent/threads/analyses/threads.ts";
import type { IcmpHost } from "#probe-agent/net/icmp/host.ts";
import type { ProgressEvent, Services } from "#probe-agent/toolkit/net.ts";
import type { DataPort } from "#probe-agent/toolkit/data.ts";
import type { Implementation, JobInput } from "#probe-agent/tools/implement.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { TEST_AGENT } from "#test/support/http-engine.ts";
import { loopbackEgress } from "#test/support/net.ts";
import { perFile } from "#test/support/per-file.ts";
import { testServices } from "#test/support/services.ts";

/** Settings of a run. All have defaults. */
export interface ToolSetting {
  /** Default: loopback and documentation addresses are allowed. */
  readonly egress?: Egress;
  /** `127.0.0.1:port`. Default: an address where no server answers. */
  readonly dnsServers?: readonly string[];
  /** PEM texts of roots to trust instead of Node's. */
  readonly roots?: readonly string[];
  readonly services?: Partial<Services>;
  readonly data?: Partial<DataPort>;
  /** The control plane's time. Default: this machine's. */
  readonly now?: () => Date;
  /** Default: four times the deadline in the contract. */
  readonly timeoutMs?: number;
  /** For ICMP and traces. Default: a machine without raw sockets. */
  readonly icmpHost?: IcmpHost;
  /** A browser to run. Default: none. */
  readonly browser?: NetDeps["browser"];
  /** Data that the control plane adds (contract.input). */
  readonly input?: JobInput;
}

/** A finished run. */
export interface ToolRun<R> {
  readonly outcome: Outcome<R>;
  readonly events: readonly ProgressEvent[];
}

/** A machine without raw sockets. Tests of ICMP start the real process. */
const NO_RAW_SOCKETS: IcmpHost = {
  ready: () => Promise.resolve({ v4: false, v6: false, missing: ["not in this test"] }),
  capabilities: () => ({ v4: false, v6: false, missing: ["not in this test"] }),
  pid: () => null,
  start(_order, onEvent) {
    queueMicrotask(() => onEvent({ job: 0, kind: "failed", reason: "unsupported", message: "no raw sockets" }));
    return () => undefined;
  },
  stop: () => Promise.resolve(),
};

/** Returns the data of an agent without any file of the operator, read once. */
export function builtInData(): DataPort {
  builtIn ??= readBuiltInData();
  return builtIn;
}

let builtIn: DataPort | undefined;

function readBuiltInData(): DataPort {
  const read = readConfig({});
  if (!read.ok) throw new Error(read.line);
  const opened = openData(read.config);
  if (!opened.ok) throw new Error(opened.line);
  return opened.data;
}

/** Threads with the built-in rules, for all runs of a test file, because a thread takes half a second of CPU time. */
const threadsWithBuiltInRules = perFile(() =>
  createAnalysisThreads({ clock: systemClock, rules: builtInData().techRules }),
);

/** Creates the agent's real network ports with a setting. */
export function netFactory(setting: ToolSetting = {}): ReturnType<typeof createNet> {
  return createNet({
    clock: systemClock,
    random: systemRandom,
    egress: setting.egress ?? loopbackEgress,
    icmpHost: setting.icmpHost ?? NO_RAW_SOCKETS,
    dnsServers: setting.dnsServers ?? ["127.0.0.1:9"],
    userAgent: TEST_AGENT,
    services: testServices(setting.services),
    data: { ...builtInData(), ...setting.data },
    trustAnchors: IANA_ANCHORS,
    ...(setting.data?.techRules === undefined ? { threads: threadsWithBuiltInRules() } : {}),
    ...(setting.roots === undefined ? {} : { roots: setting.roots }),
    ...(setting.browser === undefined ? {} : { browser: setting.browser }),
  });
}

/**
 * A busy machine gives the threads of analyses a small part of a core. The limit of their processor time remains, but
 * that by the clock is half of the job's time.
 */
const BUSY = 4;

/**
 * Runs a tool over the real network ports, within four times its own deadline. Parameters are read like an API's JSON
 * body.
 */
export async function runTool<P extends TProperties, R extends TProperties>(
  tool: Implementation<P, R>,
  given: Readonly<Record<string, unknown>>,
  setting: ToolSetting = {},
): Promise<ToolRun<ResultOf<Contract<P, R>>>> {
  const { contract } = tool;
  const parsed = parseParams(contract.params, given, { from: "json", unknown: "refuse" });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problem));
  const params = parsed.value as never;
  const timeoutMs = setting.timeoutMs ?? contract.deadlineMs(params) * BUSY;
  const createJobNet = netFactory(setting);
  const limits = {
    signal: AbortSignal.timeout(timeoutMs),
    deadline: systemClock.monotonic() + timeoutMs,
    now: setting.now ?? (() => systemClock.now()),
  };
  const events: ProgressEvent[] = [];
  const net = createJobNet(limits, (event) => events.push(event));
  return { outcome: await tool.run(net, params, setting.input), events };
}

/** Runs a tool. The run must succeed, and the result must match the contract and be JSON. */
export async function resultOf<P extends TProperties, R extends TProperties>(
  tool: Implementation<P, R>,
  given: Readonly<Record<string, unknown>>,
  setting: ToolSetting = {},
): Promise<ResultOf<Contract<P, R>>> {
  const { outcome } = await runTool(tool, given, setting);
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  expect(Array.from(Value.Errors(tool.contract.result, outcome.data))).toEqual([]);
  expect(JSON.parse(JSON.stringify(outcome.data))).toEqual(outcome.data);
  return outcome.data;
}
