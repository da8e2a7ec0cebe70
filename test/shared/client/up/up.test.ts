import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AGENT_MEMORY, CONTROL_PLANE_MEMORY } from "#shared/client/process-memory.ts";
import { makePlace, serversIn, type Place } from "#test/shared/client/up/supervisor.ts";
import { freePort } from "#test/support/free-port.ts";
import { until } from "#test/support/until.ts";

// A start takes 2 s on a quiet machine and far more on a busy one.

let place: Place;
beforeEach(async () => {
  place = await makePlace();
});
afterEach(() => place.clean());

/** Returns the command lines of a process's children. */
function childrenOf(pid: number): string[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const children = threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean),
  );
  return children.map((child) => readFileSync(`/proc/${child}/cmdline`, "utf8"));
}

async function query(url: string, statement: string): Promise<unknown[]> {
  const sql = postgres(url, { max: 1 });
  try {
    return await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}

test("the first start creates a database and a key, a second one uses both, and a stop leaves nothing", async () => {
  const first = place.start();
  await first.says("Ctrl-C stops everything");
  const shown = place.base.replace("127.0.0.1", "localhost");
  expect(first.output()).toContain(shown);
  expect(first.output()).toContain("vtg_first (plan captain; not shown again)");
  expect(first.output()).toContain(`in ${join(place.directory, "admin-token")}`);
  expect(first.output()).toContain(`curl -H 'X-API-Key: vtg_first' ${shown}/api/v4/tools`);
  const { DATABASE_URL = "" } = place.given("control-plane");
  expect(first.output()).not.toContain(new URL(DATABASE_URL).password);
  await query(DATABASE_URL, "create table kept as select 1 as one");

  first.process.kill("SIGINT");
  first.process.kill("SIGINT");
  expect(await first.ended).toBe(0);
  expect(place.notes()).toEqual(["control-plane start", "agent start", "agent stop", "control-plane stop"]);
  expect(serversIn(place.directory)).toEqual([]);
  expect(existsSync(join(place.directory, "processes.json"))).toBe(false);

  const second = place.start();
  await second.says("Ctrl-C stops everything");
  expect(await query(place.given("control-plane")["DATABASE_URL"] ?? "", "select * from kept")).toEqual([{ one: 1 }]);
});

test("everything in the data directory is closed to other users", async () => {
  const run = place.start();
  await run.says("Ctrl-C stops everything");
  expect(statSync(place.directory).mode & 0o066).toBe(0);
  expect(statSync(join(place.directory, "postgres")).mode & 0o077).toBe(0);
  for (const name of ["control-plane.log", "agent.log", "processes.json", "postgres/password"]) {
    expect(statSync(join(place.directory, name)).mode & 0o077, name).toBe(0);
  }
});

test("after kill -9 the children end by themselves and the next start takes over the database", async () => {
  const killed = place.start();
  await killed.says("Ctrl-C stops everything");
  const before = serversIn(place.directory);
  killed.process.kill("SIGKILL");
  await killed.ended;
  const stops = () => place.notes().filter((note) => note.endsWith("stop"));
  await until(() => stops().length === 2, "both children gone without anybody's help");
  const next = place.start();
  await next.says("Ctrl-C stops everything");
  expect(next.output()).toContain("Took over the PostgreSQL server of an earlier run");
  expect(serversIn(place.directory)).toEqual(expect.arrayContaining(before.slice(0, 1)));
  expect(stops().toSorted()).toEqual(["agent stop", "control-plane stop"]);
  next.process.kill("SIGTERM");
  expect(await next.ended).toBe(0);
  expect(serversIn(place.directory)).toEqual([]);
});

test("a second start on the same data directory prints one clear line", async () => {
  const first = place.start();
  await first.says("Ctrl-C stops everything");
  const second = place.start({ VANTAGE_HTTP_ADDR: "127.0.0.1:1", VANTAGE_GRPC_ADDR: "127.0.0.1:2" });
  expect(await second.ended).toBe(1);
  expect(second.output().trim().split("\n")).toEqual([
    `vantage: Vantage is already running on ${place.directory}: stop it first, or set VANTAGE_DATA_DIR to another directory`,
  ]);
});

test("two data directories cannot share one database", async () => {
  const first = place.start();
  await first.says("Ctrl-C stops everything");
  const copy = join(place.directory, "copy");
  mkdirSync(copy);
  const root = join(place.directory, "postgres");
  writeFileSync(join(copy, "postgres-is-elsewhere"), `${root}\n`);
  const listeners = {
    VANTAGE_HTTP_ADDR: `127.0.0.1:${await freePort()}`,
    VANTAGE_GRPC_ADDR: `127.0.0.1:${await freePort()}`,
  };
  const second = place.start({ VANTAGE_DATA_DIR: copy, ...listeners });
  expect(await Promise.race([second.ended, second.says("Ctrl-C stops everything")])).toBe(1);
  expect(second.output()).toContain(
    `vantage: another Vantage is running on the database in ${root}: stop it, or give this one its own VANTAGE_DATA_DIR\n`,
  );
});

test("a supervisor keeps no connection to the database and no process but the programs", async () => {
  const run = place.start();
  await run.says("Ctrl-C stops everything");
  const programs = [/bin\/postgres/, /control-plane\.ts/, /agent\.ts/];
  const isRest = () => {
    const children = childrenOf(run.process.pid ?? 0);
    return children.length === programs.length && programs.every((each) => children.some((child) => each.test(child)));
  };
  await until(isRest, "only the programs");
  const { DATABASE_URL = "" } = place.given("control-plane");
  const clients = "select count(*)::int as count from pg_stat_activity where backend_type = 'client backend'";
  await until(
    async () => JSON.stringify(await query(DATABASE_URL, clients)) === '[{"count":1}]',
    "no client but this one",
  );
  // The new agent's token needs the helper once more.
  process.kill(Number(place.given("agent")["pid"]), "SIGKILL");
  await until(() => place.notes().filter((note) => note === "agent start").length === 2, "another agent");
  expect(place.given("agent")["VANTAGE_JOIN_TOKEN"]).toMatch(/^vjt_/);
  await until(isRest, "only the programs again");
});

test("a child that exits is started again, and the others continue", async () => {
  const run = place.start();
  await run.says("Ctrl-C stops everything");
  const agent = Number(place.given("agent")["pid"]);
  await fetch(`${place.base}/die`).catch(() => {});
  await run.says("The control plane ended with status 3; restarting it in 0.5 s");
  await until(() => place.notes().filter((note) => note === "control-plane start").length === 2, "restart");
  process.kill(agent, "SIGKILL");
  await run.says("The agent was killed (SIGKILL); restarting it in 0.5 s");
  await until(() => place.notes().filter((note) => note === "agent start").length === 2, "another agent");
  expect(place.notes().filter((note) => note === "control-plane start")).toHaveLength(2);
});

test("an embedded server that exits is started again under the same URL", async () => {
  const run = place.start();
  await run.says("Ctrl-C stops everything");
  const { DATABASE_URL = "" } = place.given("control-plane");
  const [postmaster = ""] = readFileSync(join(place.directory, "postgres/data/postmaster.pid"), "utf8").split("\n");
  process.kill(Number(postmaster), "SIGQUIT");
  await run.says("PostgreSQL has stopped; restarting it");
  await expect.poll(() => query(DATABASE_URL, "select 1 as one").catch(() => null)).toEqual([{ one: 1 }]);
});

test("a program that cannot start ends everything with its own message", async () => {
  const run = place.start({ VANTAGE_CITY: "fails at once" });
  expect(await run.ended).toBe(1);
  expect(run.output()).toContain(
    "vantage: the control plane could not start: VANTAGE_PLANS plans.json cannot be read\n",
  );
  expect(serversIn(place.directory)).toEqual([]);
});

test("an unreachable DATABASE_URL is one clear line without its password", async () => {
  const run = place.start({ DATABASE_URL: "postgres://user:hunter2@127.0.0.1:1/x" });
  expect(await run.ended).toBe(1);
  expect(run.output()).toMatch(/^vantage: DATABASE_URL cannot be used \(ECONNREFUSED\)/m);
  expect(run.output()).not.toContain("hunter2");
  expect(readdirSync(place.directory)).toEqual([]);
});

test("each process gets only its own secrets, and the agent dials the configured listener", async () => {
  const run = place.start({ VANTAGE_ADMIN_TOKEN: "operator", VANTAGE_PSI_KEY: "psi" });
  await run.says("Ctrl-C stops everything");
  const agent = place.given("agent");
  expect(agent).not.toHaveProperty("DATABASE_URL");
  expect(agent).not.toHaveProperty("VANTAGE_ADMIN_TOKEN");
  expect(agent).toMatchObject(AGENT_MEMORY);
  expect(agent["VANTAGE_CONTROL_PLANE"]).toBe(place.environment["VANTAGE_GRPC_ADDR"]);
  expect(agent["VANTAGE_JOIN_TOKEN"]).toMatch(/^vjt_/);
  expect(place.given("control-plane")).toMatchObject(CONTROL_PLANE_MEMORY);
  expect(place.given("control-plane")).not.toHaveProperty("VANTAGE_PSI_KEY");
  expect(place.given("control-plane")).not.toHaveProperty("VANTAGE_JOIN_TOKEN");
  expect(run.output()).not.toContain("vjt_");
});
