import { describe, expect, it } from "vitest";
import { identifyWrite, lockNumber } from "#control-plane/http/idempotency/identity.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type Answer, type TestControlPlane } from "#test/support/control-plane.ts";
import { inOneMinute } from "#test/support/one-minute.ts";
import { portsOf } from "#test/support/measurements.ts";
import { sendRaw } from "#test/support/raw-http.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const BATCH = "/api/v4/batch";
const BODY = { urls: ["https://www.example.com/"] };

const one = await stopAfterAll(startControlPlane());
const two = await stopAfterAll(startControlPlane({ databaseUrl: one.databaseUrl }));
const made = await one.operate("POST", "/api/admin/keys", { plan: "captain" });
const { id: keyId, key } = made.body.data as { readonly id: number; readonly key: string };

interface Ask {
  readonly plane?: TestControlPlane;
  readonly path?: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly key?: string;
}

function ask(name: string, { plane = one, path = BATCH, ...options }: Ask = {}): Promise<Answer> {
  const body = options.method === "DELETE" ? {} : { body: BODY };
  return plane.call(path, { key, ...body, ...options, headers: { "x-idempotency-key": name } });
}

const jobOf = ({ body }: Answer): string => body.data["job_id"];
const countBatches = async () => (await one.app.sql<{ n: number }[]>`select count(*) as n from batches`)[0]?.n ?? 0;

describe("a write with an X-Idempotency-Key", () => {
  it("is done once, and every replica returns the same answer", async () => {
    const before = await countBatches();
    const first = await ask("once");
    expect([first.status, first.headers.get("x-idempotent-replayed")]).toEqual([202, null]);
    for (const again of [await ask("once"), await ask("once", { plane: two })]) {
      expect(again.headers.get("x-idempotent-replayed")).toBe("true");
      expect(again.headers.get("x-request-id")).toBe(first.headers.get("x-request-id"));
      expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
      expect([again.status, again.text]).toEqual([first.status, first.text]);
    }
    expect(await countBatches()).toBe(before + 1);
  });

  it("is done once if many arrive at the same time; the others get its answer, or that it is running", async () => {
    const before = await countBatches();
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) => ask("many", { plane: n % 2 === 0 ? one : two })),
    );
    expect(new Set(all.map(({ status }) => status))).toSatisfy((seen: Set<number>) =>
      [...seen].every((status) => status === 202 || status === 409),
    );
    expect(new Set(all.filter(({ status }) => status === 202).map(jobOf)).size).toBe(1);
    expect(await countBatches()).toBe(before + 1);
  });

  it("is a conflict while the first is running on any replica", async () => {
    const body = Buffer.from(JSON.stringify(BODY));
    const write = { keyId, method: "POST", route: BATCH, params: {}, query: {}, body };
    const { scope } = identifyWrite(write, "running");
    const held = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    const holding = one.app.sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${lockNumber(scope)}::text::bigint)`;
      held.resolve();
      await done.promise;
    });
    await held.promise;
    const { status, headers, body: answered } = await ask("running", { plane: two });
    expect([status, answered.error["code"], answered.error["retry_after_seconds"]]).toEqual([409, "conflict", 1]);
    expect(headers.get("retry-after")).toBeNull();
    done.resolve();
    await holding;
    expect((await ask("running", { plane: two })).status).toBe(202);
  });

  it("whose answer was lost is answered when it is sent again", async () => {
    const text = JSON.stringify(BODY);
    const head = `POST ${BATCH} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nX-Idempotency-Key: lost\r\nContent-Type: application/json\r\n`;
    const before = await countBatches();
    await sendRaw(one.url, `${head}Content-Length: ${text.length}\r\n\r\n${text}`, 1);
    await expect.poll(async () => (await ask("lost")).status).toBe(202);
    expect(await countBatches()).toBe(before + 1);
  });

  it("is another write with another key, path or query, or under another name", async () => {
    const first = jobOf(await ask("apart"));
    const others = [
      await ask("apart", { key: await one.createKey() }),
      await ask("apart", { path: `${BATCH}?x=1` }),
      await ask("Apart"),
    ];
    expect(new Set([first, ...others.map(jobOf)]).size).toBe(4);
  });

  it.each([
    ["a final slash", `${BATCH}/`],
    ["the suffix of older clients", `${BATCH}.php`],
    ["both", `${BATCH}.php/`],
    ["an escape in its name", "/api/v4/b%61tch"],
    ["an escape in its version", "/api/%764/batch"],
    ["an escape in its query", `${BATCH}?x=%31`, `${BATCH}?x=1`],
    ["an empty query", `${BATCH}?`],
  ])("is the same write with %s", async (what, path, plain = BATCH) => {
    const name = what.replaceAll(" ", "-");
    const first = await ask(name, { path: plain });
    const again = await ask(name, { path });
    expect([again.status, again.headers.get("x-idempotent-replayed")]).toEqual([202, "true"]);
    expect(jobOf(again)).toBe(jobOf(first));
  });

  it("is another write with another value of its query behind a question mark", async () => {
    const first = await ask("marks", { path: `${BATCH}?x=1?y=1` });
    expect(jobOf(await ask("marks", { path: `${BATCH}?x=1?y=2` }))).not.toBe(jobOf(first));
  });

  it("with another body is refused, and the first answer is kept", async () => {
    const first = await ask("mismatch");
    const other = await ask("mismatch", { body: { urls: ["https://www.example.org/"] } });
    expect([other.status, other.body.error["code"]]).toEqual([422, "idempotency_mismatch"]);
    expect((await ask("mismatch")).text).toBe(first.text);
  });

  it("counts against the limits and is validated each time", async () => {
    await ask("counted");
    const answers = await inOneMinute(async () => [await ask("counted"), await ask("counted")]);
    const [a, b] = answers.map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
    expect((a ?? 0) - (b ?? 0)).toBe(1);
    expect((await ask("counted", { body: { urls: "no list" } })).status).toBe(400);
  });
});

describe("a refusal", () => {
  it("of the write itself is kept like any answer", async () => {
    const options = { method: "DELETE", path: `${BATCH}?job_id=bat_absent` };
    const [first, again] = [await ask("absent", options), await ask("absent", options)];
    expect([first.status, first.headers.get("x-idempotent-replayed")]).toEqual([404, null]);
    expect([again.status, again.text, again.headers.get("x-idempotent-replayed")]).toEqual([404, first.text, "true"]);
    const nothing = { body: { urls: ["nonsense"] } };
    expect((await ask("nothing", nothing)).text).toBe((await ask("nothing", nothing)).text);
  });

  it("that may not apply to the next attempt is not kept", async () => {
    const free = await one.createKey("free");
    const six = { key: free, body: { urls: Array.from({ length: 6 }, () => "https://www.example.com/") } };
    for (const { status, headers } of [await ask("plan", six), await ask("plan", six)])
      expect([status, headers.get("x-idempotent-replayed")]).toEqual([403, null]);
    // There is no probe, so the answer is 503 and the transaction is rolled back.
    const body = { tool: "check", params: { url: "https://www.example.com/" } };
    const withoutAgent = { path: "/api/v4/measurements", body };
    const [first, again] = [await ask("withoutAgent", withoutAgent), await ask("withoutAgent", withoutAgent)];
    expect([first.status, again.status, again.headers.get("x-idempotent-replayed")]).toEqual([503, 503, null]);
  });

  it.each(["", "two words", "x".repeat(256)])("reports an invalid key: %j", async (name) => {
    const { status, body } = await ask(name);
    expect([status, body.error["code"], body.error["field"]]).toEqual([400, "missing_parameter", "X-Idempotency-Key"]);
  });
});

it("a measurement takes its target's budget once for each key, and a lack of budget is not kept", async () => {
  // Budgets belong to a UTC minute; an answer would be kept for a minute from now.
  const clock = createManualClock(new Date(Math.floor(Date.now() / 60_000) * 60_000 + 30_000));
  const plane = await startControlPlane({ config: { targetBudget: 1 }, overrides: { clock } });
  const agent = await attachScripted(plane, helloOf("eu-a"));
  const theirs = await plane.createKey();
  const body = portsOf("eu-a", { params: { host: "www.example.com", action: "ports", ports: "443" } });
  const create = (name: string) => ask(name, { plane, key: theirs, path: "/api/v4/measurements", body });
  const first = await create("measured");
  expect(first.status).toBe(202);
  expect((await create("measured")).text).toBe(first.text);
  expect((await create("too-many")).body.error["reason"]).toBe("target_budget");
  clock.advance(30_000);
  const later = await create("too-many");
  expect([later.status, later.headers.get("x-idempotent-replayed")]).toEqual([202, null]);
  agent.cut();
  await plane.stop();
});

it("a cancellation is done once like any write, and its answer is repeated", async () => {
  const path = `${BATCH}?job_id=${jobOf(await ask("cancelled"))}`;
  const first = await ask("cancel", { method: "DELETE", path });
  expect([first.status, first.body.data["status"]]).toEqual([200, "cancelled"]);
  const again = await ask("cancel", { method: "DELETE", path, plane: two });
  expect([again.text, again.headers.get("x-idempotent-replayed")]).toEqual([first.text, "true"]);
});

it("tools and the agent endpoint ignore the header", async () => {
  const tools = await ask("two words", { path: "/api/v4/check", body: { url: "nonsense" } });
  expect(tools.body.error["field"]).toBe("url");
});
