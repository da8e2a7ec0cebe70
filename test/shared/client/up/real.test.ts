import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makePlace, serversIn, type Place } from "#test/shared/client/up/supervisor.ts";
import { until } from "#test/support/until.ts";

const MAIN = fileURLToPath(new URL("../../../../shared/client/main.ts", import.meta.url));
const OFF = { VANTAGE_METRICS_ADDR: "off", VANTAGE_AGENT_METRICS_ADDR: "off" };
/** Removes CAP_NET_RAW if the tests have it, because an ordinary user's agent does not. */
const UNPRIVILEGED = process.getuid?.() === 0 ? "setpriv --bounding-set=-net_raw " : "";
const LOGS = ["control-plane.log", "agent.log"];

// A start takes 2 s on a quiet machine and far more on a busy one.

let place: Place;
beforeEach(async () => {
  place = await makePlace();
});
afterEach(() => place.clean());

test("vantage up runs the real control plane and agent, and the printed key works", async () => {
  const run = place.start(OFF, [process.execPath, MAIN, "up"]);
  await run.says("Ctrl-C stops everything");
  const key = /First API key +(vtg_\w{36}) /.exec(run.output())?.[1] ?? "";
  const tools = await fetch(`${place.base}/api/v4/tools`, { headers: { "X-API-Key": key } });
  expect(tools.status).toBe(200);
  const ready = await fetch(`${place.base}/readyz`);
  expect(await ready.json()).toMatchObject({ degraded: [] });
  const token = readFileSync(join(place.directory, "admin-token"), "utf8").trim();
  const listed = await fetch(`${place.base}/api/admin/probes`, { headers: { authorization: `Bearer ${token}` } });
  const { data } = (await listed.json()) as { data: readonly { readonly capabilities: readonly string[] }[] };
  expect(run.output().includes("ICMP and traceroute are off")).toBe(!data[0]?.capabilities.includes("icmp4"));
  expect(run.output()).not.toContain(token);
  // This output is no terminal: what it prints can be kept as a log.
  expect(run.output()).toMatch(/^ {2}URL +http:\/\/localhost:\d+$/m);
  expect(run.output()).not.toContain("http://127.0.0.1");
  expect(run.output()).toMatch(/^ {2}Sign in +by the link that deploy\/vantage sign-in-link prints$/m);
  expect(run.output()).not.toContain("/start/");
  for (const name of LOGS) expect(readFileSync(join(place.directory, name), "utf8"), name).toContain('"level":"info"');
  run.process.kill("SIGTERM");
  expect(await run.ended).toBe(0);
  expect(serversIn(place.directory)).toEqual([]);
});

test("a terminal shows the first user a link to sign in, which is in no log", async () => {
  const run = place.start(OFF, ["script", "-qefc", `${process.execPath} ${MAIN} up`, "/dev/null"]);
  await run.says("Ctrl-C stops everything");
  const [, url = "", token = ""] = /^ {2}Sign in +(http:\/\/localhost:\d+\/start\/(\w{32})) /m.exec(run.output()) ?? [];
  const { origin, pathname } = new URL(url);
  const body = new URLSearchParams({ email: "owner@example.com", password: "correct horse battery staple" });
  const answer = await fetch(`${place.base}${pathname}`, {
    method: "POST",
    redirect: "manual",
    headers: { origin: place.base },
    body,
  });
  expect([answer.status, answer.headers.get("location")]).toEqual([303, "/app/"]);
  expect(new URL(origin).port).toBe(new URL(place.base).port);
  for (const name of LOGS) {
    const log = readFileSync(join(place.directory, name), "utf8");
    expect(log.length, name).toBeGreaterThan(0);
    expect(log, name).not.toContain(token);
  }
  const operator = readFileSync(join(place.directory, "admin-token"), "utf8").trim();
  const again = await fetch(`${place.base}/api/admin/sign-in-links`, {
    method: "POST",
    headers: { authorization: `Bearer ${operator}`, "content-type": "application/json" },
    body: JSON.stringify({ if_no_users: true }),
  });
  expect(again.status).toBe(409);
  // The end of the terminal ends everything.
  run.process.kill("SIGTERM");
  await until(() => serversIn(place.directory).length === 0, "everything stopped");
});

test("the sudden death of npm ends what it started", async () => {
  // npm runs scripts in a shell and puts the script's name into this variable.
  const shell = ["sh", "-c", `${UNPRIVILEGED}"$0" "$1" up; :`, process.execPath, MAIN];
  const run = place.start({ ...OFF, VANTAGE_LOG_LEVEL: "error", npm_lifecycle_event: "start" }, shell);
  await run.says("Ctrl-C stops everything");
  // A user who reads only the terminal learns what does not work, and the remedy.
  expect(run.output()).toMatch(/^ICMP and traceroute are off: .+\. Ping uses TCP\.\n {2}To turn them on: .+\.\n/m);
  run.process.kill("SIGKILL");
  await until(() => serversIn(place.directory).length === 0, "everything stopped");
  expect(await run.ended).toBeNull();
  for (const name of LOGS)
    expect(readFileSync(join(place.directory, name), "utf8"), name).not.toContain('"level":"info"');
});
