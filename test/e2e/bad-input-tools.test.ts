import { existsSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Value } from "typebox/value";
import { MAX_HEADERS_BYTES } from "#shared/tools/email-header/limits.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { callAgentEndpoint, callRest, type SurfaceAnswer } from "#test/support/surfaces.ts";
import { HOSTILE_NAMES, HOSTILE_PAGES, startHostileWorld, type HostileWorld } from "#test/support/hostile-world.ts";
import type { Call } from "#test/support/tool-calls.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";

/** Maximum memory of the agent's process. It grows to 1.1 GB over the first large pages, and then no more. */
const MOST_MEMORY_MB = 1_600;

const SECONDS = 15;
/** What the deadlines of tools depend on, if a call does not say it. */
const DEFAULTS = { timeout: SECONDS, count: 4 };

let plane: TestControlPlane;
let agent: AgentProcess;
let world: HostileWorld;
let key: string;

beforeAll(async () => {
  [world, plane] = await Promise.all([startHostileWorld(), startControlPlane({ plans: WIDE_PLANS })]);
  agent = await startAgent(plane, "local", world.settings);
  key = await plane.createKey();
});

afterAll(async () => {
  await agent?.stop();
  await Promise.all([world?.close(), plane?.stop()]);
});

/**
 * Calls a tool by REST and by the agent endpoint at the same time. The answers arrive within the tool's deadline, and
 * data matches its contract.
 */
async function ask(tool: string, params: Call): Promise<readonly SurfaceAnswer[]> {
  const contract = CONTRACTS.find(({ name }) => name === tool);
  if (contract === undefined) throw new Error(`there is no ${tool}`);
  const both = async (): Promise<readonly SurfaceAnswer[]> => {
    const deadlineMs = contract.deadlineMs({ ...DEFAULTS, ...params });
    return endsBy(deadlineMs, () =>
      Promise.all([callRest(plane, key, tool, params), callAgentEndpoint(plane, key, tool, params)]),
    );
  };
  let answers = await both();
  // A loaded machine can delay an agent's heartbeat by more than 4 s, so that the agent counts as lost and attaches
  // again, or an agent's result by more than 200 ms after its deadline.
  if (answers.some((one) => "error" in one && isDelay(one.error))) {
    // Not expect.poll: tests that run at the same time cannot use it.
    await expect.poll(async () => callWell()).toMatchObject({ data: { code: 200 } });
    answers = await both();
  }
  for (const one of answers) if ("data" in one) expect(Array.from(Value.Errors(contract.result, one.data))).toEqual([]);
  return answers;
}

/** Reports whether an error can be caused by a loaded machine alone. */
function isDelay({ code, source, reason }: Readonly<Record<string, unknown>>): boolean {
  return code === "probe_unavailable" || (source === "probe" && reason === "timeout");
}

/** Makes a call that succeeds. */
function callWell(): Promise<SurfaceAnswer> {
  return callRest(plane, key, "check", { url: `${world.site.url}/` });
}

/** Asserts that the agent answers the next call and is within its memory limit. */
async function expectHealthy(): Promise<void> {
  const after = await callWell();
  const status = `/proc/${agent.child.pid}/status`;
  const peakKb = existsSync(status) ? /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(status, "utf8"))?.[1] : "0";
  if ("data" in after && Number(peakKb) / 1024 < MOST_MEMORY_MB) return;
  throw new Error(
    `after this (${agent.log().slice(-1500)}): ${JSON.stringify(after).slice(0, 200)}, peak ${peakKb} kB`,
  );
}

/** Returns both surfaces' refusals of a call for this field. */
function refusals(field: string): readonly object[] {
  const error = { code: "missing_parameter", field };
  return [{ error }, { error }];
}

/** Returns both surfaces' answers to a call that fails because of its target. */
function failures(error: object): readonly object[] {
  return [{ error: { code: "request_failed", ...error } }, { error: { code: "request_failed", ...error } }];
}

afterEach(expectHealthy);

describe("a hostile page", () => {
  // A browser has its own limits and its own tests.
  const readers = CONTRACTS.filter(
    ({ name, target }) => target?.kind === "url" && target.connects && name !== "pagespeed",
  ).map(({ name }) => name);
  const thorough = ["health", "schema", "mixed-content", "tech-detect", "og-preview", "seo-audit"];

  it.each(HOSTILE_PAGES)("is read within limits: %s", async (path) => {
    for (const tool of path === "/huge" ? readers : thorough) {
      for (const one of await ask(tool, { url: `${world.site.url}${path}` })) {
        // The operator's expressions that would not end are stopped with their page.
        const isStopped = "error" in one && ["tech-detect", "cms"].includes(tool) && one.error["reason"] === "too_slow";
        expect("data" in one || isStopped, `${tool}: ${JSON.stringify(one)}`).toBe(true);
      }
    }
  });

  it("is searched without the expressions that do not end", async () => {
    const detected = await ask("tech-detect", { url: `${world.site.url}/bomb` });
    for (const one of detected) {
      const { technologies, limitations } = (one as { data: { technologies: object[]; limitations: string[] } }).data;
      expect(technologies).toMatchObject([{ name: "Quiet" }]);
      expect(limitations.join(" ")).toMatch(/rules that took too long.*Bomb/i);
    }
  });

  it("with a header of 100 KB is reported as such", async () => {
    const overflow = failures({ stage: "response", source: "target", reason: "headers_overflow" });
    for (const tool of ["csp", "security", "check"])
      expect(await ask(tool, { url: `${world.site.url}/large-header` })).toMatchObject(overflow);
  });

  it("has a robots.txt of 5 MB, of which 500 KiB are read", async () => {
    const answers = await ask("robots", { domain: world.site.url, test_url: `${world.site.url}/abcdef` });
    expect(answers).toMatchObject([{ data: { truncated: true } }, { data: { truncated: true } }]);
  });
});

/** Result of propagation for each name. A name that is not listed gets no answer at all. */
const PROPAGATED: Readonly<Record<string, object>> = {
  "aliases.hostile.test": {},
  "truncated.hostile.test": {},
  // An answer that cannot be parsed counts as SERVFAIL.
  "loop.hostile.test": { verdict: "broken", agreement_pct: 0 },
  "count.hostile.test": { verdict: "broken", agreement_pct: 0 },
  "garbage.hostile.test": { verdict: "broken", agreement_pct: 0 },
  "cut.hostile.test": { verdict: "broken", agreement_pct: 0 },
};

// One name after the other: each asks many tools, whose resolvers must answer in the time that a busy machine leaves them.
describe("names with invalid answers", () => {
  it.each(HOSTILE_NAMES)("%s", async (name) => {
    const unknown = failures({ stage: "dns" });
    const silence = failures({ stage: "dns", source: "resolver" });
    const both = (data: object): readonly object[] => [{ data }, { data }];
    const domain = { domain: name };
    const asked: readonly (readonly [string, Call, readonly object[]])[] = [
      ["dns", domain, both({ domain: name, records: { A: [], MX: [] } })],
      ["mx", domain, both({ records: [], null_mx: null })],
      ["dkim", { ...domain, selector: "a" }, both({ record: null, valid: null })],
      ["email-check", domain, both({ grade: null, spf: { record: null, valid: null } })],
      ["check", { url: `http://${name}:${world.site.port}/` }, unknown],
      ["robots", domain, unknown],
      ["ping", { host: name }, unknown],
      ["asn", { query: name }, unknown],
      ["smtp-test", { target: name }, unknown],
      ["propagation", domain, name in PROPAGATED ? both({ ascii: name, ...PROPAGATED[name] }) : silence],
    ];
    await Promise.all(
      asked.map(async ([tool, params, expected]) => expect(await ask(tool, params), tool).toMatchObject(expected)),
    );
  });
});

describe("invalid text", () => {
  it("is not accepted as a WHOIS host, and nothing is queried", async () => {
    const before = world.whois.queries().length;
    for (const host of ["shop.test\r\nhelp", "shop.test\n", "-V x shop.test", "shop.test\u0000", "a/../b", ""])
      expect(await ask("whois", { host })).toMatchObject(refusals("host"));
    expect(world.whois.queries()).toHaveLength(before);
  });

  it("is not accepted as a DKIM selector", async () => {
    for (const selector of ["../../etc/passwd", "a/b", "a\r\nb", "a b", "%2e%2e", ".", "a..b", "x".repeat(300)])
      expect(await ask("dkim", { domain: "shop.test", selector }), selector).toMatchObject(refusals("selector"));
  });

  it("is not accepted as a mail header beyond 256 KB, nor as a request beyond 1 MB", async () => {
    const over = { headers: `Subject: ${"x".repeat(300 * 1024)}` };
    expect(await ask("email-header", over)).toMatchObject(refusals("headers"));
    const most = "Received: from a by b; Mon, 1 Jan 2024 00:00:00 +0000\r\n".repeat(MAX_HEADERS_BYTES / 57);
    for (const one of await ask("email-header", { headers: most })) expect("data" in one).toBe(true);
    const body = { headers: "x".repeat(5 * 1024 * 1024) };
    expect((await plane.call("/api/v4/email-header", { key, body })).status).toBe(413);
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "check_email_header", arguments: body },
    };
    expect((await plane.call("/mcp", { headers: { authorization: `Bearer ${key}` }, body: call })).status).toBe(413);
  });
});
