import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { runVantage } from "#test/shared/client/command-line.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { freePort } from "#test/support/free-port.ts";

interface Batch {
  readonly status: string;
  readonly total: number;
  readonly results: readonly { readonly url: string; readonly status: string }[];
}

let plane: TestControlPlane;
let agent: AgentProcess;
let web: HttpServer;
let environment: Readonly<Record<string, string>>;
const folder = mkdtempSync(join(tmpdir(), "vantage-batch-"));

beforeAll(async () => {
  [plane, web] = await Promise.all([startControlPlane(), startHttpServer()]);
  agent = await startAgent(plane, "eu-west");
  environment = { VANTAGE_BASE_URL: plane.url, VTG_API_KEY: await plane.createKey("captain") };
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await agent?.stop();
  await Promise.all([plane?.stop(), web?.close()]);
});

const run = (words: readonly string[], stdin = "") => runVantage(["batch", ...words], environment, () => {}, { stdin });

it("a list of targets is checked, with the progress on standard error and the results on standard output", async () => {
  const file = join(folder, "targets.txt");
  const good = [1, 2, 3].map((one) => `${web.url}/status/200?${one}`);
  writeFileSync(file, `# our sites\n${good.join("\n")}\n\nhttp://\n`);
  const ran = await run(["create", file, "--type", "http-status"]);
  expect(ran.status, ran.complained).toBe(0);
  const batch = JSON.parse(ran.said) as Batch;
  expect(batch).toMatchObject({ status: "completed", total: 3, type: "http-status" });
  expect(batch.results.map(({ url, status }) => `${status} ${url}`).toSorted()).toEqual(good.map((url) => `ok ${url}`));
  expect(ran.complained).toMatch(/^vantage batch create: not accepted: .* \(http:\/\/\)\n/);
  expect(ran.complained).toMatch(/: 3 of 3 done, 0 failed$/);
});

it("a target that fails gives the status 1, and its result is there too", async () => {
  const bad = `http://127.0.0.1:${await freePort()}/`;
  const ran = await run(["create", "-", "--type", "http-status"], `${web.url}/status/200\n${bad}\n`);
  expect(ran.status, ran.complained).toBe(1);
  const { results } = JSON.parse(ran.said) as Batch;
  expect(results.map(({ status }) => status).toSorted()).toEqual(["failed", "ok"]);
});

it.each([
  ["every one by its probe", ["probe", "probe"], 4],
  ["every one by a probe or the service", ["probe", "service"], 5],
  ["one by its probe, and the other by its target", ["probe", "target"], 1],
] as const)("where targets fail, %s, the status says whose fault it is: %j is %i", async (_what, sources, status) => {
  const error = (source: string) => ({ code: "request_failed", message: `the ${source} failed`, source });
  const results = sources.map((source, index) => ({
    url: `https://${index}.example.com`,
    status: "failed",
    error: error(source),
  }));
  const job = { job_id: "job_1", total: 2, completed: 2, failed: 2, finished_at: "2026-01-01T00:00:00Z", results };
  const service = await startHttpServer({
    handler: (_request, response) => {
      response.setHeader("content-type", "application/json").end(JSON.stringify({ data: job, meta: {} }));
      return true;
    },
  });
  try {
    const place = { ...environment, VANTAGE_BASE_URL: service.url };
    const ran = await runVantage(["batch", "create", "-"], place, () => {}, { stdin: "example.com\n" });
    expect(ran.status, ran.complained).toBe(status);
    expect(ran.said === "").toBe(status > 1);
    expect(ran.complained.includes("no target was checked: request_failed: the ")).toBe(status > 1);
  } finally {
    await service.close();
  }
});

it("a body of the API is sent as it is; with --no-wait it is shown later", async () => {
  const body = JSON.stringify({ urls: [`${web.url}/status/200`], type: "http-status" });
  const submitted = await run(["create", "-", "--no-wait"], body);
  expect(submitted, submitted.complained).toMatchObject({ status: 0 });
  const { job_id: id } = JSON.parse(submitted.said) as { readonly job_id: string };
  const shown = async () => (JSON.parse((await run(["show", id])).said) as Batch).status;
  await expect.poll(shown, { interval: 500 }).toBe("completed");
  expect(JSON.parse((await run(["cancel", id, "--yes"])).said)).toMatchObject({ job_id: id, status: "completed" });
});

it("a submission that is refused says why", async () => {
  const none = await run(["create", "-"], "# nothing\n");
  expect(none).toMatchObject({ status: 2, said: "" });
  expect(none.complained).toMatch(/^vantage batch create: missing_parameter: urls/);
  const tool = await run(["create", "-", "--type", "nonsense"], `${web.url}\n`);
  expect(tool.complained).toContain("missing_parameter: type: no tool of this name");
});
