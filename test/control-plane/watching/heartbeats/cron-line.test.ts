import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { writeCronLine, writeJobScript } from "#control-plane/watching/heartbeats/cron-line.ts";
import { openSchedule } from "#control-plane/watching/heartbeats/deadline.ts";
import { startHttpServer } from "#test/servers/http.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";

const URL = "https://v.example/api/heartbeat/T";
const CURL = `curl -fsS -m 10 --retry 5 -o /dev/null ${URL}/$?`;
const JOB = `/path/to/job; ${CURL}`;

const lineOf = (over: Partial<HeartbeatSettings>): string =>
  writeCronLine({ period_seconds: 300, grace_seconds: 60, cron: null, timezone: "UTC", methods: "any", ...over }, URL);

it.each([
  [60, "* * * * *"],
  [300, "*/5 * * * *"],
  [1_800, "*/30 * * * *"],
  [3_600, "0 * * * *"],
  [14_400, "0 */4 * * *"],
  [86_400, "0 0 * * *"],
  [604_800, "0 0 * * 0"],
])("a period of %i s becomes a whole line that runs once a period", (period, expected) => {
  expect(lineOf({ period_seconds: period })).toBe(`${expected} ${JOB}`);
});

it.each([30, 59, 90, 420, 2_700, 5_400, 18_000, 172_800, 1_209_600, 2_678_400, 31_622_400])(
  "a period of %i s is none of cron: the line says so, and has the call alone",
  (period) => {
    const [comment, ...calls] = lineOf({ period_seconds: period }).split("\n");
    expect(comment).toContain(`# No line for a crontab: cron cannot run a job every ${period} s.`);
    expect(calls).toEqual([CURL]);
  },
);

it("a line for a period runs exactly once a period, whatever the period", () => {
  let written = 0;
  for (let period = 30; period <= 700_000; period += 30) {
    const line = lineOf({ period_seconds: period });
    if (line.startsWith("#")) continue;
    const schedule = openSchedule(line.slice(0, -JOB.length - 1), "UTC");
    const runs = [0, 1, 2].reduce((found) => [...found, schedule?.nextRun(found.at(-1) ?? 0) ?? 0], [0]);
    expect([period, (runs[3] ?? 0) - (runs[2] ?? 0)]).toEqual([period, period * 1_000]);
    written += 1;
  }
  // The divisors of an hour in minutes, those of a day in hours beyond one, and a week.
  expect(written).toBe(12 + 7 + 1);
});

it.each(["UTC", "utc", "Etc/UTC"])("a cron expression in the zone %s is taken as it is", (timezone) => {
  expect(lineOf({ period_seconds: 30, cron: "30 2 * * 1-5", timezone })).toBe(`30 2 * * 1-5 ${JOB}`);
  expect(lineOf({ cron: "@daily", timezone })).toBe(`@daily ${JOB}`);
});

it.each(["Europe/Berlin", "europe/berlin"])(
  "a cron expression in the zone %s follows a comment that names CRON_TZ",
  (timezone) => {
    const [comment, ...lines] = lineOf({ cron: "30 2 * * *", timezone }).split("\n");
    expect(comment).toMatch(/^# The times are in the zone Europe\/Berlin\. .* CRON_TZ=Europe\/Berlin /);
    expect(lines).toEqual([`30 2 * * * ${JOB}`]);
  },
);

it("a period needs no time zone", () => {
  expect(lineOf({ timezone: "Europe/Berlin" })).toBe(`*/5 * * * * ${JOB}`);
});

it("a heartbeat that counts POST alone gets POST", () => {
  expect(lineOf({ methods: "post" })).toBe(
    `*/5 * * * * /path/to/job; curl -fsS -m 10 --retry 5 -o /dev/null -X POST ${URL}/$?`,
  );
});

it.each(["any", "post"] as const)(
  "the script reports start, exit code and the end of the output where the methods are %s, and ends as the job",
  async (methods) => {
    const server = await startHttpServer({ handler: (_request, response) => Boolean(response.end("{}")) });
    try {
      const script = writeJobScript({ methods }, `${server.url}/api/heartbeat/T`);
      const job = `sh -c 'head -c 20000 /dev/zero | tr "\\\\0" a; echo "%s \\\\ 100"; echo failed >&2; exit 7'`;
      const ran = spawn("sh", ["-c", script.replace("/path/to/job", () => job)], { stdio: "ignore" });
      expect(await once(ran, "close")).toEqual([7, null]);
    } finally {
      await server.close();
    }
    const [start, end] = server.requests;
    expect(server.requests).toHaveLength(2);
    expect(start).toMatchObject({
      path: "/api/heartbeat/T/start",
      method: methods === "post" ? "POST" : "GET",
      body: "",
    });
    expect([end?.path, end?.method, end?.body.length]).toEqual(["/api/heartbeat/T/7", "POST", 10_000]);
    expect(end?.body).toMatch(/aaa%s \\ 100\nfailed$/);
  },
);
