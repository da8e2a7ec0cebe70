import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { readBuild } from "#shared/process/build.ts";
import { spawnAgent, startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { makeJoinToken } from "#test/support/enrol.ts";

// An agent starts within 2 s on a quiet machine.

let plane: TestControlPlane;
let stateDir: string;
let agents: AgentProcess[] = [];

beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "vantage-state-"));
});
afterEach(async () => {
  await Promise.all(agents.map((agent) => agent.stop()));
  agents = [];
  rmSync(stateDir, { recursive: true, force: true });
});

function launch(settings: Record<string, string> = {}): AgentProcess {
  const agent = spawnAgent({
    VANTAGE_CONTROL_PLANE: `localhost:${plane.grpcPort}`,
    VANTAGE_REGION: "eu-west",
    VANTAGE_STATE_DIR: stateDir,
    ...settings,
  });
  agents.push(agent);
  return agent;
}

/** Starts an agent that enrols, attaches and ends. */
async function enrolOnce(): Promise<string> {
  const agent = launch({ VANTAGE_JOIN_TOKEN: await makeJoinToken(plane, { region: "eu-west" }) });
  await agent.says('"attached"');
  // The script that installs agents waits for it.
  await expect.poll(() => readFileSync(join(stateDir, "attached"), "utf8")).toBe(readBuild().version);
  agent.kill("SIGTERM");
  await agent.exited;
  return readFileSync(join(stateDir, "identity/agent-id"), "utf8").trim();
}

it("without an identity and a token ends with a line that says how to get a token", async () => {
  const agent = launch();
  expect(await agent.exited).toBe(1);
  expect(agent.log()).toMatch(
    /^vantage agent: VANTAGE_JOIN_TOKEN is not set: `deploy\/vantage probes token --region eu-west`.*\n$/m,
  );
});

it("with an invalid token ends with a line that does not contain it", async () => {
  const file = join(stateDir, "token");
  writeFileSync(file, "hunter2");
  for (const settings of [{ VANTAGE_JOIN_TOKEN: "hunter2" }, { VANTAGE_JOIN_TOKEN_FILE: file }]) {
    const agent = launch(settings);
    expect(await agent.exited).toBe(1);
    expect(agent.log()).toMatch(/is not a join token: deploy\/vantage probes token prints one/);
    expect(agent.log()).not.toContain("hunter2");
  }
});

it("is the same agent after a restart, without a token or with a used one", async () => {
  const id = await enrolOnce();
  const again = launch();
  await again.says('"attached"');
  expect(again.log()).toContain(`"agent":"${id}"`);
  again.kill("SIGTERM");
  await again.exited;
  const withOld = launch({ VANTAGE_JOIN_TOKEN_FILE: join(stateDir, "no-such-file") });
  await withOld.says('"attached"');
});

it("never logs its token", async () => {
  const token = await makeJoinToken(plane, { region: "eu-west" });
  const agent = launch({ VANTAGE_JOIN_TOKEN: token });
  await agent.says('"attached"');
  expect(agent.log()).not.toContain(token.slice(0, 47));
});

it("whose token is refused ends with a line that says so", async () => {
  const token = await makeJoinToken(plane, { region: "eu-west" });
  const first = launch({ VANTAGE_JOIN_TOKEN: token });
  await first.says('"attached"');
  const second = launch({ VANTAGE_JOIN_TOKEN: token, VANTAGE_STATE_DIR: join(stateDir, "second") });
  expect(await second.exited).toBe(1);
  expect(second.log()).toMatch(/vantage agent: the join token was refused\. localhost:\d+: .*already used or expired/);
  expect(existsSync(join(stateDir, "second/identity"))).toBe(false);
});

it("waits for a control plane that does not run yet, and ends immediately on a signal", async () => {
  const token = await makeJoinToken(plane, { region: "eu-west" });
  const agent = launch({ VANTAGE_JOIN_TOKEN: token, VANTAGE_CONTROL_PLANE: "localhost:1" });
  await agent.says("not enrolled");
  agent.kill("SIGTERM");
  expect(await agent.exited).toBe(0);
});

it("that is revoked ends with a line, keeps its identity, and enrols again only with a new token", async () => {
  const id = await enrolOnce();
  const agent = launch();
  await agent.says('"attached"');
  expect((await plane.operate("DELETE", `/api/admin/probes?id=${id}`)).status).toBe(200);
  expect(await agent.exited).toBe(1);
  expect(agent.log()).toMatch(/vantage agent: .*revoked.*VANTAGE_JOIN_TOKEN/);
  const restarted = launch();
  expect(await restarted.exited).toBe(1);
  expect(readFileSync(join(stateDir, "identity/agent-id"), "utf8").trim()).toBe(id);
  const anew = launch({ VANTAGE_JOIN_TOKEN: await makeJoinToken(plane, { region: "eu-west" }) });
  await anew.says('"attached"');
  expect(readFileSync(join(stateDir, "identity/agent-id"), "utf8").trim()).not.toBe(id);
});

it("with a broken identity reports it, and enrols again if it has a token", async () => {
  await enrolOnce();
  rmSync(join(stateDir, "identity/key.pem"));
  const without = launch();
  expect(await without.exited).toBe(1);
  expect(without.log()).toMatch(/the identity in .* is broken \(a file is missing\).*deploy\/vantage probes token/);
  const anew = launch({ VANTAGE_JOIN_TOKEN: await makeJoinToken(plane, { region: "eu-west" }) });
  await anew.says('"attached"');
});

it("of another installation does not attach, and enrols anew if it has a token of this one", async () => {
  const other = await startControlPlane();
  try {
    const elsewhere = await startAgent(other, "eu-west", { VANTAGE_STATE_DIR: stateDir });
    await elsewhere.stop();
    const stranger = launch();
    await stranger.says("not from the authority that enrolled this agent");
    stranger.kill("SIGTERM");
    await stranger.exited;
    const mover = launch({ VANTAGE_JOIN_TOKEN: await makeJoinToken(plane, { region: "eu-west" }) });
    await mover.says('"attached"');
    expect(mover.log()).toContain("enrolling again");
  } finally {
    await other.stop();
  }
});

it("copied to a second machine is one agent, whose older stream is replaced", async () => {
  await enrolOnce();
  const copy = mkdtempSync(join(tmpdir(), "vantage-copy-"));
  cpSync(stateDir, copy, { recursive: true, verbatimSymlinks: true });
  const first = launch();
  await first.says('"attached"');
  const second = launch({ VANTAGE_STATE_DIR: copy });
  await second.says('"attached"');
  await first.says("control plane lost");
  expect(first.log()).toContain('"reason":"closed"');
  await second.stop();
  rmSync(copy, { recursive: true, force: true });
});
