import { readFileSync } from "node:fs";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, it } from "vitest";
import { freePort } from "#test/support/free-port.ts";
import { createHub, type Hub } from "#control-plane/checks/dispatch/hub.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { startTcpProxy } from "#test/servers/tcp-proxy.ts";
import { listenForAgents, type HubListener } from "#test/support/agent-listener.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";

const log = pino({ level: "silent" });
let hub: Hub;
let server: HubListener;
let agent: AgentProcess;

beforeEach(async () => {
  hub = createHub({ clock: systemClock, random: systemRandom, log, registry: new Registry() });
  server = await listenForAgents(hub, log);
  agent = await startAgent(server, "eu-west", {
    VANTAGE_MAX_JOBS: "2",
    VANTAGE_AGENT_METRICS_ADDR: "127.0.0.1:0",
  });
});

afterEach(async () => {
  await agent.stop();
  hub.stop();
  await server.listener.stop();
});

/** Returns the parameters of a check that ends after so many seconds. */
const checkOf = (url: string, seconds: number) =>
  JSON.stringify({ url, method: "GET", follow: true, timeout: seconds });

function session() {
  const [only] = hub.roster.sessions();
  if (only === undefined) throw new Error("no agent is attached");
  return only;
}

it("reports its identity, its capabilities and its credits", () => {
  const { agent: info } = session();
  expect(info.id).toMatch(/^agt-[0-9a-f]{16}$/);
  expect(info.place).toMatchObject({ region: "eu-west", country: null, asn: null });
  expect(info.egress.allowsAddress("127.0.0.1")).toBe(true);
  expect(info.egress.allowsAddress("10.0.0.1")).toBe(false);
  expect(info.credits).toBe(2);
});

it("declines an unknown tool, and the job goes to another agent", async () => {
  const pick = (excluded: ReadonlySet<string>) => (excluded.size === 0 ? session().agent.id : null);
  const answer = await hub.run({ tool: "no-such-tool", params: "{}", accountId: null, deadlineMs: 30_000, pick });
  expect(answer).toEqual({ kind: "unavailable", reason: "declined" });
});

it("serves its metrics in base units and without any user input", async () => {
  const pick = () => session().agent.id;
  const params = checkOf("http://10.0.0.1/", 30);
  await hub.run({ tool: "check", accountId: null, params, deadlineMs: 30_000, pick });
  const port = /"metrics":(\d+)/.exec(agent.log())?.[1];
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const text = await response.text();
  const names = Array.from(text.matchAll(/^# TYPE (\S+)/gm), ([, name]) => name ?? "");
  // The standard names of every Node process. All other names have the agent's own prefix.
  const own = names.filter((name) => !/^(?:process|nodejs)_|^vantage_build_info$/.test(name));
  expect(own.filter((name) => !name.startsWith("vantage_agent_"))).toEqual([]);
  expect(names).toContain("vantage_agent_streams");
  expect(text).toContain('vantage_agent_job_duration_seconds_count{tool="check"} 1');
  expect(text).not.toContain("10.0.0.1");
});

it("reports whether it can send ICMP, and how often the ICMP process exited", async (context) => {
  const port = /"metrics":(\d+)/.exec(agent.log())?.[1];
  const read = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  if (!(await read()).includes('vantage_agent_ready{capability="icmp4"} 1')) {
    context.skip("skipped: raw sockets need CAP_NET_RAW");
  }
  const pid = agent.child.pid ?? 0;
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
  // Process 0 would be this test's whole group.
  if (child === undefined || child === 0) throw new Error("the agent has no ICMP process");
  process.kill(child, "SIGKILL");
  await expect.poll(read).toContain("vantage_agent_icmp_restarts_total 1");
  await expect.poll(read).toContain('vantage_agent_ready{capability="icmp4"} 1');
});

it("stops a job whose lease ended in silence, because another agent has it by then", async () => {
  const target = await startHttpServer();
  const proxy = await startTcpProxy(server.grpcPort);
  const behind = await startAgent({ ...server, grpcPort: proxy.port }, "us-east");
  try {
    const pick = () =>
      [...hub.roster.sessions()].find(({ agent: { place } }) => place.region === "us-east")?.agent.id ?? null;
    const params = checkOf(`${target.url}/silent`, 30);
    void hub.run({ tool: "check", accountId: null, params, deadlineMs: 30_000, pick });
    await expect.poll(() => target.open()).toBe(1);
    proxy.freeze();
    await expect.poll(() => behind.log()).toContain('"reason":"silent"');
    await expect.poll(() => target.open()).toBe(0);
  } finally {
    await proxy.restore();
    await behind.stop();
    await proxy.close();
    await target.close();
  }
});

it("reports a failure as its own if its network is down, but not for targets inside that network", async () => {
  const cut = await startAgent(server, "us-east", {
    VANTAGE_DNS_SERVERS: "127.0.0.1:1",
    VANTAGE_AGENT_METRICS_ADDR: "127.0.0.1:0",
  });
  try {
    const pick = () =>
      [...hub.roster.sessions()].find(({ agent: { place } }) => place.region === "us-east")?.agent.id ?? null;
    const check = async (url: string) => {
      const params = checkOf(url, 30);
      const answer = await hub.run({ tool: "check", params, accountId: null, deadlineMs: 30_000, pick });
      return answer.kind === "outcome" ? answer.outcome : answer;
    };
    expect(await check("http://somewhere.example/")).toMatchObject({ status: "failed", stage: "dns", source: "probe" });
    expect(await check(`http://127.0.0.1:${await freePort()}/`)).toMatchObject({ stage: "connect", source: "target" });
    const port = /"metrics":(\d+)/.exec(cut.log())?.[1];
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(text).toContain('vantage_agent_self_test{canary="resolver"} 0');
    expect(text).toContain('vantage_agent_jobs_total{tool="check",result="failed"} 2');
    expect(text).toMatch(/^vantage_agent_canary_age_seconds \d/m);
    expect(text).toMatch(/^vantage_agent_certificate_expiry_timestamp_seconds 1\d{9}$/m);
  } finally {
    await cut.stop();
  }
});

it("completes its jobs and ends when the control plane drains it", async () => {
  session().link.send({ body: { $case: "drain", value: {} } });
  expect(await agent.exited).toBe(0);
  expect(agent.log()).toContain("agent draining");
});
