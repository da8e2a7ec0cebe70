import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { LAUNCHER_PATH } from "#shared/client/programs.ts";
import { quoted } from "#shared/text/quoted.ts";
import { runVantage } from "#test/shared/client/command-line.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { clientCredentials } from "#test/support/dial.ts";
import { enrol } from "#test/support/enrol.ts";
import { helloOf, startScriptedAgent } from "#test/support/scripted-agent.ts";

let plane: TestControlPlane;
let environment: Record<string, string>;
const directory = mkdtempSync(join(tmpdir(), "vantage-cli-"));

beforeAll(async () => {
  plane = await startControlPlane();
  environment = {
    VANTAGE_BASE_URL: plane.url,
    VANTAGE_ADMIN_TOKEN: plane.app.adminToken,
    VANTAGE_DATA_DIR: directory,
  };
});
beforeEach(async () => {
  await plane.app.sql`delete from probes`;
});
afterAll(async () => {
  await plane.stop();
  rmSync(directory, { recursive: true });
});

const probes = (...words: string[]) => runVantage(["probes", ...words], environment);

/** Returns the line to paste. */
function startLine(said: string): string {
  return said.split("\n").find((line) => line.startsWith("  VANTAGE_JOIN_TOKEN=")) ?? "";
}

/**
 * Returns the token and words that a launcher in `folder` gets from a line that is pasted into a shell in the parent
 * folder.
 */
function wordsOf(line: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "vantage"), '#!/bin/sh\necho "$VANTAGE_JOIN_TOKEN $*"\n', { mode: 0o755 });
  return execFileSync("sh", ["-c", line], { cwd: join(folder, ".."), encoding: "utf8" }).trim();
}

describe("vantage probes token", () => {
  it("prints a token and a line that a shell accepts unchanged", async () => {
    const before = Date.now();
    const { said, status } = await probes(
      "token",
      "--region",
      "eu-west",
      "--ttl",
      "2h",
      "--control-plane",
      "cp.example:443",
    );
    expect(status).toBe(0);
    const [token = "", what] = said.split("\n");
    expect(token).toMatch(/^vjt_/);
    expect(what).toMatch(/^\(allows one agent to join region eu-west until \d{4}-/);
    const expires = Date.parse(/until (\S+);/.exec(said)?.[1] ?? "");
    expect(expires).toBeGreaterThanOrEqual(before + 2 * 3_600_000 - 1000);
    expect(expires).toBeLessThanOrEqual(Date.now() + 2 * 3_600_000 + 1000);
    // On another machine, the agent runs in a clone there.
    expect(said).toContain("Start the agent in a clone of the repository on the agent's machine:\n");
    const words = wordsOf(startLine(said), join(directory, "clone/deploy"));
    expect(words).toBe(`${token} agent --region eu-west --control-plane cp.example:443`);
    expect(said).not.toContain("on another one");
  });

  it("names this clone's launcher for an agent on this machine, and says so", async () => {
    const { said } = await probes("token", "--region", "eu-west", "--reusable");
    expect(said).toContain("(allows any number of agents to join region eu-west until");
    expect(said).toContain("Start the agent on this machine:\n");
    expect(startLine(said)).toContain(
      ` ${quoted(LAUNCHER_PATH)} agent --region eu-west --control-plane 127.0.0.1:50051`,
    );
    expect(said).toContain(
      "127.0.0.1:50051 is an address of this machine. For an agent on another machine pass --control-plane host:port.",
    );
  });

  it("prints the line that installs an agent elsewhere, of a service that has what it needs", async () => {
    const root = join(directory, "package");
    mkdirSync(join(root, "lib"), { recursive: true });
    const bundle = { name: "vantage-agent-1.2.3", time: 0, files: [], sha256: "0".repeat(64) };
    writeFileSync(join(root, "lib/agent.json"), JSON.stringify(bundle));
    const packaged = await startControlPlane({ root, config: { baseUrl: "https://vantage.example" } });
    const token = (...words: string[]) =>
      runVantage(["probes", "token", "--region", "eu-west", ...words], {
        ...environment,
        VANTAGE_BASE_URL: packaged.url,
      });
    try {
      const { said } = await token("--control-plane", "cp.example:443");
      expect(said).toMatch(
        /^Install the agent as a service, in a root shell of its host:\n {2}curl -fsS https:\/\/vantage\.example\/install\/agent\.sh \| VANTAGE_JOIN_TOKEN=vjt_\S+ VANTAGE_REGION=eu-west VANTAGE_CONTROL_PLANE=cp\.example:443 sh$/m,
      );
      expect(said).not.toContain("clone");
      expect(said).not.toContain("set VANTAGE_BASE_URL");
      expect((await token()).said).toContain("Start the agent on this machine:\n");
    } finally {
      await packaged.stop();
    }
    const local = await startControlPlane({ root, config: { baseUrl: "http://localhost:8080" } });
    const { said } = await runVantage(["probes", "token", "--region", "eu-west"], {
      ...environment,
      VANTAGE_BASE_URL: local.url,
    }).finally(() => local.stop());
    expect(said).toContain("curl -fsS http://localhost:8080/install/agent.sh");
    expect(said).toContain("its URL is one of this machine: set VANTAGE_BASE_URL");
  });

  it("names the control plane's own address if it is not the default", async () => {
    const token = (more: Record<string, string>) =>
      runVantage(["probes", "token", "--region", "eu-west"], { ...environment, ...more });
    const elsewhere = await token({ VANTAGE_GRPC_ADDR: "0.0.0.0:6000" });
    expect(elsewhere.said).toContain(
      `${quoted(LAUNCHER_PATH)} agent --region eu-west --control-plane 127.0.0.1:6000\n`,
    );
    const advertised = await token({ VANTAGE_GRPC_ADDR: "0.0.0.0:6000", VANTAGE_GRPC_ADVERTISE: "cp.example:443" });
    expect(startLine(advertised.said)).toMatch(
      / deploy\/vantage agent --region eu-west --control-plane cp\.example:443$/,
    );
  });

  it("creates private agents, and explains an unknown account", async () => {
    const refused = await probes("token", "--region", "eu-west", "--account-id", "999999");
    expect([refused.status, refused.complained]).toEqual([2, expect.stringContaining("No account has the id 999999")]);
    const odd = await probes("token", "--region", "eu-west", "--account-id", "x");
    expect([odd.status, odd.complained]).toEqual([2, expect.stringContaining("account_id")]);
  });

  it("reports an invalid flag before it sends a request", async () => {
    const ttl = await probes("token", "--region", "eu-west", "--ttl", "soon");
    expect([ttl.status, ttl.complained]).toEqual([2, expect.stringContaining("must be a number and ms, s, m, h or d")]);
    const dial = await probes("token", "--region", "eu-west", "--control-plane", "nowhere");
    expect([dial.status, dial.complained]).toEqual([2, expect.stringContaining("must be host:port")]);
    const none = await probes("token");
    expect([none.status, none.complained]).toEqual([2, expect.stringContaining("--region")]);
  });
});

describe("vantage probes", () => {
  it("lists the agents, and prints one", async () => {
    const { agentId } = await enrol(plane, "eu-west");
    const listed = await probes("list");
    const [head, row, ...rest] = listed.said.split("\n");
    expect(head).toMatch(/^ID +REGION +STATUS +COUNTRY +CITY +VERSION +REPLICAS +LAST_SEEN_AT +ACCOUNT_ID$/);
    expect(row).toMatch(new RegExp(`^${agentId} +eu-west +offline +- +- +0 +- +-$`));
    expect(rest).toEqual([]);
    expect((await probes("list", "--status", "online")).said.split("\n")).toHaveLength(1);
    const shown = await probes("show", agentId);
    expect(shown.said).toContain(`id: ${agentId}\nregion: eu-west\n`);
    expect(shown.said).toMatch(/^certificate_expires_at: \d{4}-/m);
    const none = await probes("show", "agent-unheard-of");
    expect([none.status, none.complained]).toEqual([2, expect.stringContaining("404")]);
  });

  it("prints the log of an agent, one line each", async () => {
    const own = await enrol(plane, "eu-west");
    const hello = helloOf("eu-west", { agentId: own.agentId, sendsLog: true });
    const agent = await startScriptedAgent(plane.grpcPort, hello, clientCredentials(own.caCertificate, own));
    const printed = probes("logs", own.agentId, "--limit", "2");
    await expect.poll(() => agent.messages.at(-1)?.body?.$case).toBe("logRequest");
    agent.send({
      body: { $case: "logLines", value: { requestId: 1, lines: ["one", "two", "\u001b[2Jthree"], last: true } },
    });
    expect((await printed).said).toBe("two\n\\u001b[2Jthree");
    agent.cut();
    const none = await probes("logs", "agent-unheard-of");
    expect([none.status, none.complained]).toEqual([2, expect.stringContaining("No probe has the id")]);
  });

  it("disables, enables and revokes", async () => {
    const { agentId } = await enrol(plane, "eu-west");
    const status = async () => /^status: (\w+)$/m.exec((await probes("show", agentId)).said)?.[1];
    expect((await probes("disable", agentId)).said).toMatch(/^Disabled/);
    expect(await status()).toBe("disabled");
    expect((await probes("enable", agentId)).said).toBe("Enabled.");
    expect(await status()).toBe("offline");
    expect((await probes("revoke", agentId)).said).toMatch(/^Revoked/);
    expect(await status()).toBe("revoked");
    expect((await probes("enable", agentId)).status).toBe(2);
  });
});

it("vantage rotate probe-ca shows and replaces the authority of agents, and names those that have not renewed", async () => {
  const rotate = (...words: string[]) => runVantage(["rotate", "probe-ca", ...words], environment);
  const { agentId } = await enrol(plane, "eu-west");
  expect(await rotate()).toMatchObject({ status: 0, said: expect.not.stringContaining("The next one") });
  expect(await rotate("begin")).toMatchObject({ status: 0, said: expect.stringContaining("have not renewed: 1") });
  expect((await rotate("status")).said).toContain(agentId);
  const refused = await rotate("finish");
  expect(refused.status).not.toBe(0);
  expect(refused.complained).toContain(agentId);
  expect(await rotate("finish", "--force")).toMatchObject({ status: 0, said: expect.not.stringContaining("next") });
  expect(await rotate("end")).toMatchObject({ status: 2 });
});
