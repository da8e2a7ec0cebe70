import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseLocations, type LocationItem } from "#shared/internet/locations.ts";
import { parseOptOut } from "#shared/internet/opt-out.ts";
import { ok } from "#shared/contracts/outcome.ts";
import type { Job } from "#shared/protocol/probe.ts";
import type { Contract } from "#shared/tools/define.ts";
import { createResultCache } from "#control-plane/checks/cache.ts";
import { createPacer } from "#control-plane/checks/target-pacer.ts";
import type { CheckContext, CheckRequest } from "#control-plane/checks/context.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { readHello } from "#control-plane/checks/dispatch/hello.ts";
import type { AbsentAgent } from "#control-plane/checks/dispatch/presence.ts";
import type { TargetBudget } from "#control-plane/http/limits/target-budget.ts";
import { refuseUnanswered } from "#control-plane/checks/tool-requests/refuse-unanswered.ts";
import { echoTool } from "#test/control-plane/checks/echo-tool.ts";
import { startLocalHub, type LocalHub } from "#test/control-plane/checks/dispatch/local-hub.ts";
import { attachAgent } from "#test/support/attached-agent.ts";
import { systemClock } from "#test/support/clock.ts";
import { helloOf } from "#test/support/scripted-agent.ts";

let local: LocalHub;
let taken: [string, boolean][];
let left: number;
let absent: readonly AbsentAgent[];

const budget: TargetBudget = {
  take(target, anonymous) {
    taken.push([target, anonymous]);
    left -= 1;
    return Promise.resolve(left >= 0 ? { ok: true } : { ok: false, retryAfterSeconds: 17 });
  },
};

beforeEach(() => {
  taken = [];
  left = 1_000;
  absent = [];
  const presence = { absent: () => absent, replicas: () => [], onReplicas: () => {}, changed: () => {} };
  local = startLocalHub({ presence });
});

afterEach(() => local.hub.stop());

const echo = ({ params }: Job) => ok({ url: (JSON.parse(params) as { url: string }).url, rtt_ms: 1 });
/** Attaches an agent that answers, with parts of its hello and enrolment replaced. */
const attach = (region: string, hello: Parameters<typeof helloOf>[1] = {}, accountId: number | null = null) =>
  attachAgent(local.hub, helloOf(region, hello), { accountId }, echo);

const { cacheMs: _, ...uncached } = echoTool;

function check(url: string, over: Partial<CheckRequest> = {}, context: Partial<CheckContext> = {}) {
  const app: CheckContext = {
    hub: local.hub,
    clock: systemClock,
    results: createResultCache(systemClock),
    budget,
    ...context,
  };
  const params = { url, loud: false };
  return runCheck(app, { contract: uncached, params, accountId: 1, locations: null, maxLocations: 10, ...over });
}

function at(expression: string): readonly LocationItem[] {
  const parsed = parseLocations(expression);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.items;
}

describe("the target budget", () => {
  it("counts an on-demand call once by its registrable domain, regardless of the number of locations", async () => {
    for (const region of ["eu", "us"]) attach(region);
    expect(await check("https://www.example.co.uk/x", { locations: at("all") })).toMatchObject({ kind: "multi" });
    expect(await check("https://api.example.co.uk./", { accountId: null })).toMatchObject({ kind: "single" });
    expect(taken).toEqual([
      ["example.co.uk", false],
      ["example.co.uk", true],
    ]);
  });

  it("refuses with 429, its reason and Retry-After, before any agent gets a job", async () => {
    const agent = attach("eu");
    left = 0;
    const answer = await check("https://example.com/");
    expect(agent.jobs).toEqual([]);
    expect(() => refuseUnanswered(answer)).toThrow(
      expect.objectContaining({
        code: "rate_limit_exceeded",
        details: expect.objectContaining({ reason: "target_budget", headers: { "retry-after": "17" } }) as unknown,
      }) as Error,
    );
  });

  it("is not used by dry runs, cached answers, refusals, paced jobs and calls that cannot run", async () => {
    await check("https://example.com/", { locations: at("mars") });
    await check("https://example.com/");
    attach("eu");
    const results = createResultCache(systemClock);
    expect(await check("https://example.com/", { dryRun: true })).toMatchObject({ kind: "dry_run" });
    expect(await check("http://10.0.0.1/")).toEqual({ kind: "refused" });
    expect(await check("https://example.com/", { pace: "paced" })).toMatchObject({ kind: "single" });
    expect(taken).toEqual([]);
    const cached = { contract: echoTool, locations: at("eu") };
    await check("https://example.com/", cached, { results });
    expect(taken).toHaveLength(1);
    expect(await check("https://example.com/", cached, { results })).toMatchObject({ kind: "multi" });
    expect(taken).toHaveLength(1);
  });

  it("exempts targets that the operator's agents list, public or not, but not those of a private agent", async () => {
    attach("eu", { allowTargets: ["127.0.0.0/8", "8.8.8.0/24"], allowNames: ["corp.example"] });
    attach("mine", { allowTargets: ["0.0.0.0/0"], allowNames: [] }, 1);
    for (const host of ["127.0.0.1", "8.8.8.8", "www.corp.example"]) await check(`http://${host}/`);
    await check("http://192.168.1.1/", { locations: at("mine") });
    expect(taken).toEqual([]);
    await check("http://1.1.1.1/");
    expect(taken).toEqual([["1.1.1.1", false]]);
  });

  it("that cannot be counted admits no call", async () => {
    const agent = attach("eu");
    const away: TargetBudget = { take: () => Promise.reject(new Error("the database is away")) };
    await expect(check("https://example.com/", {}, { budget: away })).rejects.toThrow("away");
    expect(agent.jobs).toEqual([]);
  });
});

describe("the opt-out list", () => {
  it("refuses a target before dispatch, even if agents allow it", async () => {
    const agent = attach("eu", { allowNames: ["closed.example"] });
    const list = parseOptOut("closed.example\n127.0.0.9\n");
    if (!list.ok) throw new Error(list.message);
    const optOut = list.denials;
    for (const url of ["https://www.closed.example/", "http://127.0.0.9:8080/", "http://[64:ff9b::127.0.0.9]/"]) {
      expect(await check(url, {}, { optOut }), url).toEqual({ kind: "refused" });
    }
    expect(
      await check("http://127.0.0.1/", { reaches: { kind: "host", target: "ns.closed.example" } }, { optOut }),
    ).toEqual({ kind: "refused" });
    expect(agent.jobs).toEqual([]);
    expect(await check("http://127.0.0.8/", {}, { optOut })).toMatchObject({ kind: "single" });
  });
});

describe("private agents", () => {
  it("serve only their account, when no shared agent allows the target", async () => {
    attach("shared", { allowTargets: [] });
    attach("office", { allowTargets: ["10.0.0.0/8"] }, 7);
    const location = (region: string) => ({ kind: "single", location: { region } });
    expect(await check("https://example.com/", { accountId: 7 })).toMatchObject(location("shared"));
    expect(await check("http://10.0.0.1/", { accountId: 7 })).toMatchObject(location("office"));
    expect(await check("http://10.0.0.1/", { accountId: 8 })).toEqual({ kind: "refused" });
    expect(await check("http://10.0.0.1/", { accountId: null })).toEqual({ kind: "refused" });
  });

  it("are a location only for their account, and not part of `all` for others", async () => {
    attach("shared");
    attach("office", {}, 7);
    const regions = async (accountId: number | null, expression: string) => {
      const answer = await check("https://example.com/", { accountId, locations: at(expression) });
      return answer.kind === "multi" ? answer.data.locations.map((row) => row.location.region) : answer;
    };
    expect(await regions(7, "office")).toEqual(["office"]);
    expect(await regions(7, "all")).toEqual(["shared"]);
    for (const expression of ["office", "probe:agent-office"]) {
      expect(await regions(8, expression)).toMatchObject({ problem: { reason: "unknown_location" } });
      expect(await regions(null, expression)).toMatchObject({ problem: { reason: "unknown_location" } });
    }
  });

  it("serve calls without locations if there are no others, but never calls without an account", async () => {
    attach("office", {}, 7);
    expect(await check("https://example.com/", { accountId: 7 })).toMatchObject({ kind: "single" });
    expect(await check("https://example.com/", { accountId: null })).toEqual({
      kind: "unavailable",
      reason: "no_probe",
    });
  });
});

it("results of a private agent are not cached, and cached results of others do not replace its own", async () => {
  const shared = attach("eu-1", { location: { region: "eu", city: "", country: "", asn: 0, tags: [] } });
  const own = attach("eu-2", { location: { region: "eu", city: "", country: "", asn: 0, tags: ["own"] } }, 7);
  const results = createResultCache(systemClock);
  const ask = (accountId: number, expression: string) =>
    check("https://example.com/", { contract: echoTool, accountId, locations: at(expression) }, { results });
  await ask(7, "own");
  await ask(8, "eu");
  await ask(8, "eu");
  await ask(7, "own");
  expect([shared.jobs.length, own.jobs.length]).toEqual([1, 2]);
});

describe("agents that only other replicas have", () => {
  const there = (region: string, replicas: readonly string[]): AbsentAgent => {
    const read = readHello(helloOf(region));
    if (!read.ok) throw new Error(read.rejection.message);
    return { agent: read.agent, accountId: null, enabled: true, replicas, draining: false };
  };
  const refusal = async (over: Partial<CheckRequest> = {}) => {
    const answer = await check("https://example.com/", over);
    try {
      return refuseUnanswered(answer);
    } catch (error) {
      return error;
    }
  };

  it("cause an error with a retry after one second", async () => {
    absent = [there("jp", ["other"])];
    const details = { reason: "probe_elsewhere", retryAfterSeconds: 1 };
    expect(await refusal()).toMatchObject({ code: "probe_unavailable", details });
    expect(await refusal({ locations: at("jp") })).toMatchObject({ code: "probe_unavailable", details });
  });

  it("cause no retry if attached nowhere, and are not an unknown location", async () => {
    absent = [there("jp", [])];
    for (const over of [{}, { locations: at("jp") }]) {
      const refused = await refusal(over);
      expect(refused).toMatchObject({ code: "probe_unavailable", details: { reason: "no_probe" } });
      expect(refused).not.toHaveProperty("details.retryAfterSeconds");
    }
  });

  it("are a failed row with a retry next to locations that answer", async () => {
    attach("eu");
    absent = [there("jp", ["other"]), there("br", [])];
    expect(await check("https://example.com/", { locations: at("eu,jp,br") })).toMatchObject({
      data: {
        locations: [
          { status: "ok" },
          { status: "failed", error: { reason: "probe_elsewhere", retry_after_seconds: 1 } },
          { status: "failed", error: { reason: "no_probe" } },
        ],
      },
    });
  });
});

describe("a job", () => {
  it("goes to an agent with the capabilities that the tool needs", async () => {
    attach("a-plain");
    attach("b-able", { capabilities: ["traceroute"] });
    const contract: Contract = { ...uncached, needs: () => ["traceroute"] };
    expect(await check("https://example.com/", { contract })).toMatchObject({ location: { region: "b-able" } });
  });

  it("that is paced waits for its turn at its target", async () => {
    const agent = attachAgent(local.hub, helloOf("eu", { credits: 50, maxJobs: 50 }));
    const pacer = createPacer(systemClock, 2);
    const stop = new AbortController();
    const paced = (url: string, signal?: AbortSignal) =>
      check(url, { pace: "paced", ...(signal === undefined ? {} : { signal }) }, { pacer });
    const calls = [paced("https://a.example.com/1"), paced("https://b.example.com/2"), paced("https://example.com/3")];
    const given = paced("https://example.com/4", stop.signal);
    const other = paced("https://example.org/");
    const running = () => agent.jobs.map((job) => (JSON.parse(job.params) as { url: string }).url);
    await expect.poll(running).toEqual(["https://a.example.com/1", "https://b.example.com/2", "https://example.org/"]);
    stop.abort();
    expect(await given).toEqual({ kind: "cancelled" });
    for (const job of agent.jobs.slice(0, 3)) agent.answer(job, echo(job));
    await expect.poll(running).toHaveLength(4);
    const [last] = agent.jobs.slice(3) as [Job];
    agent.answer(last, echo(last));
    expect(await Promise.all([...calls, other])).toMatchObject(Array.from({ length: 4 }, () => ({ kind: "single" })));
  });
});
