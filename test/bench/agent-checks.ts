// node test/bench/agent-checks.ts [seconds]: checks per CPU-second of one agent process against a server on loopback:
// of monitors, and of the tool http-status for comparison. Prints one line each. Not part of npm run bench.
import { pino } from "pino";
import { MONITOR_CHECKS } from "#shared/monitor-checks/list.ts";
import { startTinyWeb } from "#test/bench/tiny-web.ts";
import { startLocalHub } from "#test/control-plane/checks/dispatch/local-hub.ts";
import { readCpuSeconds } from "#test/fleet/process-times.ts";
import { listenForAgents } from "#test/support/agent-listener.ts";
import { startAgent } from "#test/support/agent-process.ts";

const CONCURRENCY = 100;
const WARM_UP_MS = 3_000;
const seconds = Number(process.argv[2] ?? 10);

const web = await startTinyWeb();
const url = `http://127.0.0.1:${web.port}/`;

const local = startLocalHub();
const server = await listenForAgents(local.hub, pino({ level: "silent" }));
const agent = await startAgent(server, "bench", { NODE_OPTIONS: process.env["AGENT_NODE_OPTIONS"] ?? "" });
const [session] = local.hub.roster.sessions();
if (session === undefined) throw new Error("the agent is not attached");
const { probe_id: id } = session.candidate;

const http = {
  url,
  method: "GET",
  follow: true,
  headers: [],
  body: null,
  expected: [[200, 200]],
  keyword: null,
  keyword_mode: "present",
  json: null,
  timeout_seconds: 15,
  known: "up",
  always_whole: false,
};
const RUNS: readonly (readonly [label: string, tool: string, params: Readonly<Record<string, unknown>>])[] = [
  ["monitor-http", "monitor-http", http],
  ["monitor-http, keyword", "monitor-http", { ...http, keyword: "Welcome" }],
  ["monitor-http, whole result", "monitor-http", { ...http, always_whole: true }],
  ["tool http-status", "http-status", { url }],
  [
    "monitor-port",
    "monitor-port",
    { host: "127.0.0.1", port: web.port, timeout_seconds: 15, known: "up", always_whole: false },
  ],
];

async function drive(tool: string, params: Readonly<Record<string, unknown>>, ms: number): Promise<number> {
  const until = performance.now() + ms;
  const text = JSON.stringify(params);
  const check = MONITOR_CHECKS[tool as keyof typeof MONITOR_CHECKS] as { deadlineMs(given: never): number } | undefined;
  const deadlineMs = check?.deadlineMs(params as never) ?? 30_000;
  let done = 0;
  const work = async (): Promise<void> => {
    while (performance.now() < until) {
      const answer = await local.run([id], { tool, params: text, deadlineMs });
      if (answer.kind !== "outcome" || answer.outcome.status !== "ok") throw new Error(JSON.stringify(answer));
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return done;
}

const wanted = process.argv[3];
for (const [label, tool, params] of RUNS) {
  if (wanted !== undefined && !label.startsWith(wanted)) continue;
  await drive(tool, params, WARM_UP_MS);
  const before = readCpuSeconds(agent.child.pid ?? 0);
  const startedAt = performance.now();
  const done = await drive(tool, params, seconds * 1_000);
  const rate = done / ((performance.now() - startedAt) / 1_000);
  const perCpuSecond = done / (readCpuSeconds(agent.child.pid ?? 0) - before);
  console.log(`${label}: ${Math.round(perCpuSecond)} checks per CPU-second, ${Math.round(rate)} checks/s`);
}

await agent.stop();
await server.listener.stop();
local.hub.stop();
web.stop();
