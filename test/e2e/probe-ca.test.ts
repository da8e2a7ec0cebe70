import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, expect, it } from "vitest";
import { spawnAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { systemClock } from "#test/support/clock.ts";
import { startControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { startControlPlane, type Answer } from "#test/support/control-plane.ts";
import { clientCredentials } from "#test/support/dial.ts";
import { callRenew, enrol, identityOf, makeJoinToken, makeRequest } from "#test/support/enrol.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { helloOf, startScriptedAgent } from "#test/support/scripted-agent.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { until } from "#test/support/until.ts";

const REGION = "eu-west";
let aheadMs = 0;
const clock = { ...systemClock, now: () => new Date(systemClock.now().getTime() + aheadMs) };
const logged: string[][] = [[], []];
const database = await stopAfterAll(openDatabase({ connections: 2 }));
const [first, second] = await Promise.all(
  logged.map((lines) =>
    stopAfterAll(
      startControlPlane({
        databaseUrl: database.url,
        overrides: { clock },
        log: pino({}, { write: (line: string) => void lines.push(line) }),
      }),
    ),
  ),
);
if (first === undefined || second === undefined) throw new Error("two replicas are needed");

const states = mkdtempSync(join(tmpdir(), "vantage-states-"));
const agents: AgentProcess[] = [];
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop()));
  rmSync(states, { recursive: true, force: true });
});

/** Starts a real agent with a state folder, which dials the first replica and then every one. */
function start(state: string, settings: Readonly<Record<string, string>> = {}): AgentProcess {
  const agent = spawnAgent({
    VANTAGE_CONTROL_PLANE: `localhost:${first?.grpcPort}`,
    VANTAGE_REGION: REGION,
    VANTAGE_STATE_DIR: join(states, state),
    ...settings,
  });
  agents.push(agent);
  return agent;
}

async function end(agent: AgentProcess): Promise<void> {
  agent.kill("SIGTERM");
  await agent.exited;
}

const change = (body: object) => first.operate("POST", "/api/admin/probe-ca", body);
const show = () => first.operate("GET", "/api/admin/probe-ca");
const holdersOf = ({ body }: Answer) => (body.data["agents"] as readonly { id: string }[]).map(({ id }) => id);
const idOf = (state: string) => readFileSync(join(states, state, "identity/agent-id"), "utf8").trim();
const trustedOf = (state: string) =>
  readFileSync(join(states, state, "identity/ca.pem"), "utf8").split("-----BEGIN").length - 1;
/** Resolves when both replicas have followed so many changes. */
const followed = (changes: number) =>
  until(
    () =>
      logged.every((lines) => lines.filter((line) => line.includes("agent authorities changed")).length === changes),
    "both replicas with the new authorities",
  );

it("the authority of agents is replaced while they work, and only those that never renewed join again", async () => {
  const token = await makeJoinToken(first, { region: REGION, reusable: true, ttl_seconds: 86_400 });
  const before = start("kept", { VANTAGE_JOIN_TOKEN: token });
  await before.says('"attached"');
  // Of an older release: it accepts no other authority.
  const old = await enrol(first, REGION);
  const attachOld = () =>
    startScriptedAgent(
      second.grpcPort,
      helloOf(REGION, { agentId: old.agentId }),
      clientCredentials(old.caCertificate, old),
    );
  expect((await change({ action: "finish" })).status).toBe(409);

  const killed = await startControlPlaneProcess(database.url);
  const begun = await killed.operate("POST", "/api/admin/probe-ca", { action: "begin" });
  expect(begun.status, begun.text).toBe(200);
  await killed.end("SIGKILL");
  await followed(1);
  const shown = await show();
  expect((await change({ action: "begin" })).body.data).toEqual(shown.body.data);
  expect(shown.body.data["next"]).not.toBeNull();
  expect(holdersOf(shown).toSorted()).toEqual([old.agentId, idOf("kept")].toSorted());

  // Until all replicas have heard of it for certain, it issues nothing.
  await end(before);
  cpSync(join(states, "kept"), join(states, "lost"), { recursive: true, verbatimSymlinks: true });
  const early = start("kept");
  await early.says('"attached"');
  await end(early);
  expect(trustedOf("kept")).toBe(1);
  aheadMs += 60_000;
  const renewing = start("kept");
  await renewing.says("certificate renewed");
  await end(renewing);
  expect(trustedOf("kept")).toBe(2);
  const joining = start("joined", { VANTAGE_JOIN_TOKEN: token });
  await joining.says("certificate renewed");
  // With the new certificate.
  const again = start("kept");
  await again.says('"attached"');
  const request = await makeRequest();
  const renewed = identityOf(await callRenew(second.grpcPort, old.caCertificate, old, request.der), request);
  expect(renewed.caCertificate).toBe(old.caCertificate);
  const attached = await attachOld();
  expect(attached.messages[0]?.body?.$case).toBe("welcome");

  const refused = await change({ action: "finish" });
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(`: ${old.agentId}.`)]);
  const finished = await change({ action: "finish", force: true });
  expect(finished.body.data).toMatchObject({ ca: shown.body.data["next"], next: null, agent_count: 0, agents: [] });
  expect((await change({ action: "finish", force: true })).status).toBe(409);
  await followed(2);
  await until(
    () => attached.messages.some(({ body }) => body?.$case === "rejected" && body.value.reason === "revoked"),
    "the refusal of the agent that has not renewed",
  );
  expect((await attachOld()).failure()).toContain("certificate");
  await Promise.all([end(again), end(joining)]);
  for (const state of ["kept", "joined"]) {
    const dropping = start(state);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await dropping.says("certificate renewed");
    // oxlint-disable-next-line no-await-in-loop -- as above
    await end(dropping);
    expect(trustedOf(state)).toBe(1);
  }
  const late = start("late", { VANTAGE_JOIN_TOKEN: token });
  await late.exited;
  expect(late.log()).toContain("lacks the authority of the join token");
  const lost = start("lost");
  await lost.says("set a new VANTAGE_JOIN_TOKEN if the authority was replaced");
  await end(lost);
  const anew = start("lost", { VANTAGE_JOIN_TOKEN: await makeJoinToken(second, { region: REGION }) });
  await anew.says('"attached"');
});
