import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runPeer, type PeerRun } from "#test/peers/run-peer.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { readMcpLine } from "#test/support/readme.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";

let plane: TestControlPlane;
let agent: AgentProcess;
let site: HttpServer;
let key: string;
let home: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "vantage-inspector-"));
  plane = await startControlPlane();
  [key, site, agent] = await Promise.all([plane.createKey(), startHttpServer(), startAgent(plane, "local")]);
});

afterAll(async () => {
  await agent?.stop();
  await Promise.all([site?.close(), plane?.stop()]);
  rmSync(home, { recursive: true, force: true });
});

/** Runs the Inspector with the endpoint and header of the README's line for clients; it keeps files in its home. */
function inspect(...words: readonly string[]): Promise<PeerRun> {
  const { url, header } = readMcpLine(key);
  const here = url.replace("http://127.0.0.1:8080", plane.url);
  const endpoint = ["--cli", here, "--transport", "http", "--header", header];
  return runPeer("mcp-inspector", [...endpoint, ...words], { env: { HOME: home } });
}

describe("the Inspector", () => {
  it("lists every tool and finds no error in any schema", async () => {
    // Its warnings are of ["string", "null"], which it calls legal and less portable.
    const { status, stdout, output } = await inspect("--method", "tools/list", "--strict");
    expect(status, output).toBe(0);
    const { tools } = JSON.parse(stdout) as { readonly tools: readonly { readonly name: string }[] };
    expect(tools).toHaveLength(43);
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["check_headers", "list_monitors", "get_batch"]),
    );
  });

  it("calls a tool and gets its structured content", async () => {
    const call = ["--method", "tools/call", "--tool-name", "check_http_status"];
    const { status, stdout, output } = await inspect(...call, "--tool-arg", `url=${site.url}/status/404`);
    expect(status, output).toBe(0);
    const { structuredContent, content } = JSON.parse(stdout) as {
      readonly structuredContent: { readonly code: number };
      readonly content: readonly { readonly text: string }[];
    };
    expect(structuredContent.code).toBe(404);
    expect(content[0]?.text).toContain("404");
  });

  it("shows why a call failed", async () => {
    const call = ["--method", "tools/call", "--tool-name", "check_http_status"];
    const { stdout } = await inspect(...call, "--tool-arg", "url=http://10.0.0.1/");
    expect(stdout).toContain("target_not_allowed");
  });
});
