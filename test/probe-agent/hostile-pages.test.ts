import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SILENT_MS } from "#shared/protocol/wire.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type Answer, type TestControlPlane } from "#test/support/control-plane.ts";
import { HOSTILE_PAGES } from "#test/support/hostile-pages.ts";
import { until } from "#test/support/until.ts";

const PAGE_BYTES = 5 * 1024 * 1024;
const TOOLS = ["schema", "seo-audit", "health", "mixed-content", "ai-check", "og-preview"];
const KINDS = ["tags", "nesting", "attributes", "itemrefs", "json-ld", "text", "styles", "links"] as const;

const ROBOTS = `user-agent: *\n${"allow:*a\n".repeat(60_000)}`;
const MAIL = "Received: from a (".padEnd(250_000, "(");

let plane: TestControlPlane;
let agent: AgentProcess;
let key: string;
const sites = new Map<string, HttpServer>();

beforeAll(async () => {
  plane = await startControlPlane({ config: { targetBudget: 10_000 } });
  key = await plane.createKey();
  agent = await startAgent(plane, "eu-west", {
    VANTAGE_AGENT_METRICS_ADDR: "127.0.0.1:0",
    VANTAGE_DNS_SERVERS: "127.0.0.1:9",
  });
  for (const kind of KINDS) {
    const page = Buffer.from(HOSTILE_PAGES[kind]?.(PAGE_BYTES) ?? "");
    const server = await startHttpServer({
      handler(_request, response, { path }) {
        const isRobots = path === "/robots.txt";
        const type = isRobots ? "text/plain" : "text/html";
        response.writeHead(path === "/" || isRobots ? 200 : 404, { "content-type": type });
        response.end(path === "/" ? page : isRobots ? ROBOTS : "");
        return true;
      },
    });
    sites.set(kind, server);
  }
});

afterAll(async () => {
  await agent.stop();
  await plane.stop();
  for (const server of sites.values()) await server.close();
});

/** Returns the value of one of the agent's metrics. */
async function readMetric(name: string): Promise<number> {
  const port = /"metrics":(\d+)/.exec(agent.log())?.[1];
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

/** Sends every kind of page through every tool at the same time, and mail headers beside them. */
function sendHeavy(): Promise<readonly Answer[]> {
  const pages = TOOLS.flatMap((tool) =>
    KINDS.map((kind) => {
      const url = sites.get(kind)?.url ?? "";
      const name = tool === "ai-check" ? "domain" : "url";
      return plane.call(`/api/v4/${tool}?${name}=${encodeURIComponent(`${url}/`)}`, { key });
    }),
  );
  const mails = [0, 1].map((n) => plane.call("/api/v4/email-header", { key, body: { headers: `${MAIL}${n}` } }));
  return Promise.all([...pages, ...mails]);
}

/** Returns what the answers that are neither a result nor a report of the agent say. */
function listRefusals(answers: readonly Answer[], reported: readonly number[]): readonly string[] {
  return answers.filter(({ status }) => !reported.includes(status)).map(({ text }) => text);
}

/** Returns the CPU time that the agent's main thread has used, in milliseconds (proc_pid_stat(5): ticks of 10 ms). */
function mainThreadTime(): number {
  const pid = agent.child.pid ?? 0;
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

it("hostile pages delay neither the agent's heartbeats nor its other jobs, and do not fill its memory", async () => {
  const port = sites.get("text")?.port ?? 0;
  const light: Answer[] = [];
  let mostMemory = 0;
  let longestTurn = 0;
  let answered: readonly Answer[] = [];
  const everything = sendHeavy().then((answers) => {
    answered = answers;
    return "done";
  });
  for (let over = ""; over === ""; over = await Promise.race([everything, sleep(200, "")])) {
    const before = mainThreadTime();
    const calls = [
      plane.call(`/api/v4/http-status?url=http://127.0.0.1:${port}/light-${light.length}`, { key }),
      plane.call(`/api/v4/ping?host=127.0.0.1&protocol=tcp&port=${port}&count=${1 + (light.length % 3)}`, { key }),
    ];
    light.push(...(await Promise.all(calls)));
    longestTurn = Math.max(longestTurn, mainThreadTime() - before);
    mostMemory = Math.max(mostMemory, await readMetric("process_resident_memory_bytes"));
  }

  expect({ exit: agent.child.exitCode, signal: agent.child.signalCode }).toEqual({ exit: null, signal: null });
  // What the main thread computes while light jobs wait delays heartbeats as much. Its own time, not the clock's: a
  // machine that runs something else for 4 s ends the connection, too.
  expect(longestTurn).toBeLessThan(SILENT_MS);
  expect(mostMemory).toBeLessThan(2 * 2 ** 30);
  // The control plane notices it first where the agent's process has not run for that long.
  const isLost = [...light, ...answered].some(({ text }) => text.includes('"probe_lost"'));
  const hasNoticed = () => agent.log().includes("connection to the control plane lost");
  if (isLost) await until(hasNoticed, "the agent's line about its lost connection");
  const isCutOff = hasNoticed();
  const excused = isCutOff ? [503] : [];
  expect(listRefusals(light, [200, ...excused])).toEqual([]);
  // The agent reports what is too much for its threads. It never leaves a check to the deadline, or to another agent.
  expect(listRefusals(answered, [200, 502, ...excused])).toEqual([]);
});
