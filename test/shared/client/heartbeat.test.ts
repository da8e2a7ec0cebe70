import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pingUrl, keepEnd } from "#shared/client/commands/heartbeat.ts";
import { LAUNCHER_PATH } from "#shared/client/programs.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";

interface ShownPing {
  readonly kind: string;
  readonly exit_code: number | null;
  readonly rid: string | null;
  readonly body: string | null;
  readonly body_truncated: boolean;
  readonly duration_ms: number | null;
}

let plane: TestControlPlane;
let key: string;

beforeAll(async () => {
  plane = await startControlPlane();
  key = await plane.createKey("captain");
});
afterAll(() => plane?.stop());

async function createHeartbeat() {
  const { body, status, text } = await plane.call("/api/v4/monitors", { key, body: { check_type: "heartbeat" } });
  expect(status, text).toBe(201);
  const { id, heartbeat_url: address } = body.data as { readonly id: number; readonly heartbeat_url: string };
  // The service does not know at which port it listens here.
  const url = `${plane.url}${new URL(address).pathname}`;
  const read = async () => {
    const { body: answer } = await plane.call(`/api/v4/monitors?id=${id}`, { key });
    const { status: state, heartbeat } = answer.data as Shown;
    return { status: state, pings: heartbeat.pings };
  };
  return { url, read };
}

interface Shown {
  readonly status: string;
  readonly heartbeat: { readonly pings: readonly ShownPing[] };
}

/** Starts a line as cron does: by /bin/sh, with nothing in the environment. `signal` reaches the command of the line. */
function start(line: string) {
  const child = spawn("env", ["-i", "/bin/sh", "-c", line], { stdio: ["pipe", "pipe", "pipe"] });
  const [out, err] = [[] as Buffer[], [] as Buffer[]];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  const ended = once(child, "close").then(([status]) => ({
    status: status as number | null,
    stdout: Buffer.concat(out).toString("utf8"),
    stderr: Buffer.concat(err).toString("utf8"),
  }));
  return { ended, stdin: child.stdin, kill: child.kill.bind(child), stdout: () => Buffer.concat(out).toString("utf8") };
}

const run = (line: string) => {
  const started = start(line);
  started.stdin.end();
  return started.ended;
};

/** Returns a line that runs a script of sh under a heartbeat. */
const watched = (url: string, script: string) =>
  `exec ${LAUNCHER_PATH} heartbeat run --url ${url} -- /bin/sh -c '${script}'`;

describe("a command under heartbeat run", () => {
  it("reports its start and its success with its output, and prints the same", async () => {
    const heartbeat = await createHeartbeat();
    const ran = await run(watched(heartbeat.url, "echo copied 3 files; echo two were skipped >&2"));
    expect(ran).toEqual({ status: 0, stdout: "copied 3 files\n", stderr: "two were skipped\n" });
    const { status, pings } = await heartbeat.read();
    expect(status).toBe("up");
    const [end, begin] = pings;
    expect(pings).toHaveLength(2);
    expect(begin).toMatchObject({ kind: "start" });
    expect(end).toMatchObject({ kind: "exit", exit_code: 0, rid: begin?.rid });
    expect(end?.body?.split("\n").toSorted()).toEqual(["", "copied 3 files", "two were skipped"]);
    expect(end?.duration_ms).toEqual(expect.any(Number));
  });

  it("fails as it did, and the heartbeat is down", async () => {
    const heartbeat = await createHeartbeat();
    const ran = await run(watched(heartbeat.url, "echo disk full >&2; exit 3"));
    expect(ran).toEqual({ status: 3, stdout: "", stderr: "disk full\n" });
    const { status, pings } = await heartbeat.read();
    expect(status).toBe("down");
    expect(pings[0]).toMatchObject({ kind: "exit", exit_code: 3, body: "disk full\n" });
  });

  it("that a signal kills ends with 128 and its number", async () => {
    const heartbeat = await createHeartbeat();
    expect(await run(watched(heartbeat.url, "kill -KILL $$"))).toMatchObject({ status: 137, stderr: "" });
    expect((await heartbeat.read()).pings[0]).toMatchObject({ exit_code: 137 });
  });

  it("gets the signals that are sent to the job", async () => {
    const heartbeat = await createHeartbeat();
    const script = 'trap "echo cleaned up; exit 7" TERM; echo ready; while :; do sleep 0.05; done';
    const job = start(watched(heartbeat.url, script));
    await expect.poll(job.stdout).toBe("ready\n");
    job.kill("SIGTERM");
    expect(await job.ended).toEqual({ status: 7, stdout: "ready\ncleaned up\n", stderr: "" });
    expect((await heartbeat.read()).pings[0]).toMatchObject({ exit_code: 7 });
  });

  it("reads standard input, has the environment of the job, and nothing more", async () => {
    const heartbeat = await createHeartbeat();
    const job = start(watched(heartbeat.url, "cat; env | grep -i vantage"));
    job.stdin.end("typed\n");
    expect(await job.ended).toMatchObject({ status: 1, stdout: "typed\n" });
  });

  it("that is not there is a failure too, as for a shell", async () => {
    const heartbeat = await createHeartbeat();
    const ran = await run(`exec ${LAUNCHER_PATH} heartbeat run --url ${heartbeat.url} /nonexistent/job --fast`);
    const line = "vantage heartbeat: /nonexistent/job is not found\n";
    expect(ran).toEqual({ status: 127, stdout: "", stderr: line });
    expect((await heartbeat.read()).pings[0]).toMatchObject({ exit_code: 127, body: line });
    const folder = await run(`exec ${LAUNCHER_PATH} heartbeat run --url ${heartbeat.url} -- /tmp`);
    expect(folder).toMatchObject({ status: 126 });
  });

  it("has a long output passed on byte for byte, and its last whole lines sent", async () => {
    const heartbeat = await createHeartbeat();
    const ran = await run(watched(heartbeat.url, "seq 1 200000"));
    const lines = Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join("");
    const digest = (text: string) => createHash("sha256").update(text).digest("hex");
    expect(ran.status).toBe(0);
    expect(digest(ran.stdout)).toBe(digest(lines));
    const [end] = (await heartbeat.read()).pings;
    expect(end).toMatchObject({ exit_code: 0, body_truncated: false });
    expect(end?.body).toMatch(/^19\d{4}\n/);
    expect(end?.body?.endsWith("\n199999\n200000\n")).toBe(true);
  });

  it("ends like others when nobody reads its output", async () => {
    const heartbeat = await createHeartbeat();
    const ran = await run(`${LAUNCHER_PATH} heartbeat run --url ${heartbeat.url} -- yes | head -n 1`);
    expect(ran).toMatchObject({ status: 0, stdout: "y\n" });
    // The pipeline has ended when the last ping was sent.
    await expect.poll(async () => (await heartbeat.read()).pings[0]?.kind, { interval: 250 }).toBe("exit");
  });

  it("is reported when it ends, also if it leaves a process behind, whose output is passed on", async () => {
    const heartbeat = await createHeartbeat();
    const folder = mkdtempSync(join(tmpdir(), "vantage-heartbeat-"));
    const goOn = join(folder, "go-on");
    const job = start(
      watched(heartbeat.url, `(until [ -e ${goOn} ]; do sleep 0.05; done; echo later) & echo started; exit 4`),
    );
    job.stdin.end();
    await expect.poll(async () => (await heartbeat.read()).pings[0], { interval: 250 }).toMatchObject({ exit_code: 4 });
    writeFileSync(goOn, "");
    expect(await job.ended).toEqual({ status: 4, stdout: "started\nlater\n", stderr: "" });
    rmSync(folder, { recursive: true });
  });

  it("keeps its output to itself with --no-output", async () => {
    const heartbeat = await createHeartbeat();
    const ran = await run(`exec ${LAUNCHER_PATH} heartbeat run --no-output --url ${heartbeat.url} -- echo secret`);
    expect(ran).toMatchObject({ status: 0, stdout: "secret\n" });
    expect((await heartbeat.read()).pings[0]).toMatchObject({ exit_code: 0, body: null });
  });
});

describe("heartbeat run without a service", () => {
  it("runs the command all the same, with one line for each ping that failed", async () => {
    const ran = await run(watched("http://127.0.0.1:9/api/heartbeat/x", "echo done; exit 5"));
    expect(ran).toEqual({
      status: 5,
      stdout: "done\n",
      stderr:
        "vantage heartbeat: the start was not reported: ECONNREFUSED\n" +
        "vantage heartbeat: the end was not reported: ECONNREFUSED\n",
    });
  });

  it("does not wait for it before the command, tries the last ping again, and a signal ends its waits", async () => {
    const seen: string[] = [];
    const held: ServerResponse[] = [];
    const service = createServer((request, response) => {
      const path = (request.url ?? "").split("?")[0] ?? "";
      seen.push(path);
      // The start is answered when the test has seen the output; the first end fails, the second is never answered.
      if (path.endsWith("/start")) held.push(response);
      else if (seen.filter((one) => one === path).length === 1) response.writeHead(503).end();
    });
    service.listen(0, "127.0.0.1");
    await once(service, "listening");
    const base = `http://127.0.0.1:${(service.address() as AddressInfo).port}/api/heartbeat/x`;
    const job = start(watched(base, "echo done"));
    job.stdin.end();
    await expect.poll(job.stdout).toBe("done\n");
    await expect.poll(() => held.length).toBe(1);
    held[0]?.end("{}");
    const [begin, end] = ["/api/heartbeat/x/start", "/api/heartbeat/x/0"];
    await expect.poll(() => seen).toEqual([begin, end, end]);
    job.kill("SIGTERM");
    const ran = await job.ended;
    service.closeAllConnections();
    service.close();
    expect(ran).toMatchObject({ status: 0, stdout: "done\n" });
    expect(ran.stderr).toMatch(/^vantage heartbeat: the end was not reported: .*\n$/);
  });

  it("does not try again what can never arrive, and refuses what is no address before it runs anything", async () => {
    const unknown = await run(watched(`${plane.url}/api/heartbeats/x`, "echo done"));
    expect(unknown).toMatchObject({ status: 0, stdout: "done\n" });
    expect(unknown.stderr).toMatch(/^(vantage heartbeat: the (start|end) was not reported: \S+ answered 404\n){2}$/);
    const wrong = await run(watched("backup", "echo done"));
    expect(wrong).toMatchObject({ status: 2, stdout: "" });
    expect(wrong.stderr).toBe(
      "vantage heartbeat run: not an address of a heartbeat: give heartbeat_url of the monitor with --url, or set VTG_HEARTBEAT_URL\n",
    );
  });
});

describe("the end of an output", () => {
  const endOf = (texts: readonly string[]) => {
    const end = keepEnd(10);
    for (const text of texts) end.add(Buffer.from(text));
    return end.read().toString("utf8");
  };

  it.each([
    ["a short one is whole", ["ab", "c\n"], "abc\n"],
    ["one that fits exactly is whole", ["0123456789"], "0123456789"],
    ["a longer one begins with a line", ["first\nsecond\nthird\n"], "third\n"],
    ["a line that begins at the cut is kept", ["x\n012345678\n"], "012345678\n"],
    ["of one long line, characters are kept whole", [`${"x".repeat(20)}ä${"y".repeat(9)}`], "y".repeat(9)],
    ["of very many parts, the last counts", Array.from({ length: 200_000 }, () => "0123\n"), "0123\n0123\n"],
  ])("%s", (_name, texts, expected) => {
    expect(endOf(texts)).toBe(expected);
  });
});

it("the address of a ping keeps what the heartbeat's has", () => {
  const url = (address: string) => pingUrl(new URL(address), "start", "r1").href;
  expect(url("https://a.example/api/heartbeat/t")).toBe("https://a.example/api/heartbeat/t/start?rid=r1");
  expect(url("https://a.example/x/api/heartbeat/t/?rid=own")).toBe("https://a.example/x/api/heartbeat/t/start?rid=own");
});
