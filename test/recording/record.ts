// npm run record -- OUT.json: what a control plane answers to a fixed list of requests over all of its routes, without
// what differs between two runs. Two recordings of the same code are equal, so that a change that should change nothing
// can be held against an earlier one: `--against OLD.json` also prints each request that is answered differently, and
// exits with 1 if there is one.
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ADMIN_TOKEN } from "#test/support/control-plane.ts";
import { COOKIE } from "#test/support/dashboard.ts";
import { beat } from "#test/recording/agent.ts";
import { ask, type Askers } from "#test/recording/ask.ts";
import { compareRecordings, type RecordedAnswer } from "#test/recording/compare.ts";
import { normaliseMetrics } from "#test/recording/normalise.ts";
import { listRequests } from "#test/recording/requests.ts";
import { startRecordedService, type RecordedService } from "#test/recording/service.ts";
import { fillWorld, type RecordedWorld } from "#test/recording/world.ts";

/** Longer than a view may take of the views of a minute. */
const STEP_MS = 300;

const { values, positionals } = parseArgs({ options: { against: { type: "string" } }, allowPositionals: true });
const [out] = positionals;
if (out === undefined || positionals.length !== 1) {
  console.error("usage: npm run record -- OUT.json [--against OLD.json]");
  process.exit(2);
}
// Read first: both may be one file.
const old =
  values.against === undefined ? null : (JSON.parse(readFileSync(values.against, "utf8")) as RecordedAnswer[]);
const service = await startRecordedService();
try {
  const recording = await record(service);
  writeFileSync(out, `${JSON.stringify(recording, null, 1)}\n`);
  console.log(`${recording.length} answers of ${service.routes.length} routes written`);
  const changes = old === null ? [] : compareRecordings(old, recording);
  for (const change of changes) console.log(change);
  if (old !== null) console.log(`${changes.length} answers differ`);
  if (changes.length > 0) process.exitCode = 1;
} finally {
  await service.stop();
}
process.exit();

async function record(started: RecordedService): Promise<readonly RecordedAnswer[]> {
  const { plane, clock, routes } = started;
  const world = await fillWorld(started);
  const askers = await askersOf(started, world);
  const document: unknown = JSON.parse((await plane.call("/openapi.json")).text);
  const answers: RecordedAnswer[] = [];
  for (const [index, asked] of listRequests(routes, world, document).entries()) {
    clock.advance(STEP_MS);
    beat(world.agent);
    // The session stays one whose password was given just now.
    if (asked.as === "owner")
      await plane.app.sql`update sessions set signed_in_at = ${clock.now()}, used_at = ${clock.now()}`;
    answers.push(await ask(asked, index, askers));
  }
  // The listener of metrics is the main file's: this is what it sends.
  const metrics = normaliseMetrics(await plane.app.metrics.registry.metrics());
  return numberTwins([...answers, { request: "nobody GET /metrics", status: 200, headers: {}, body: metrics }]);
}

/** Numbers requests that are asked more than once, because the world has changed in between. */
function numberTwins(answers: readonly RecordedAnswer[]): readonly RecordedAnswer[] {
  const times = new Map<string, number>();
  return answers.map((answer) => {
    const time = (times.get(answer.request) ?? 0) + 1;
    times.set(answer.request, time);
    return time === 1 ? answer : { ...answer, request: `${answer.request} (time ${time})` };
  });
}

async function askersOf({ plane }: RecordedService, world: RecordedWorld): Promise<Askers> {
  const page = await world.owner.get("/app/profile");
  if (page.csrf === null) throw new Error(`the profile has no form: ${page.status}`);
  return {
    url: plane.url,
    key: world.key,
    operatorToken: ADMIN_TOKEN,
    cookie: `${COOKIE}=${world.owner.cookie}`,
    csrf: page.csrf,
    known: new Map([
      [page.csrf, "<csrf>"],
      [world.heartbeatToken, "<heartbeat>"],
      [world.batchId, "<batch>"],
      [world.measurementId, "<measurement>"],
      [world.shareId, "<share>"],
      [plane.app.installation, "<installation>"],
    ]),
  };
}
