import { afterAll, describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { givenInQuery, readTyped, toCall, writeAddress } from "#control-plane/surfaces/dashboard/tools/values.ts";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { COOKIE, openBrowser, PASSWORD, signInOwner, type Browser } from "#test/support/dashboard.ts";
import { BUILT_IN_PLANS } from "#control-plane/core/plans.ts";
import { readFields } from "#test/support/read-form.ts";
import { readHtml } from "#test/support/read-html.ts";
import { attachScripted, helloOf, type ScriptedAgent } from "#test/support/scripted-agent.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const HOSTILE = `"><script>alert(1)</script>'\`</textarea>&amp;`;

const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));

const plans = { ...BUILT_IN_PLANS, free: { ...BUILT_IN_PLANS.free, requestsPerMinute: 3 } };
const plane = await stopAfterAll(startControlPlane({ overrides: { clock }, plans }));
const { browser: owner, accountId } = await signInOwner(plane);
const places = { country: "DE", city: "Berlin", asn: 0, tags: [] };
const berlin = await attachScripted(plane, helloOf("eu-a", { location: { region: "eu-a", ...places } }));
const tokyo = await attachScripted(plane, helloOf("ap-a"));

afterAll(async () => {
  berlin.cut();
  tokyo.cut();
});

/** Signs in the owner of a new account with the plan free, which has the scopes check and dns. */
async function signInFree(email: string): Promise<Browser> {
  const { body } = await plane.operate("POST", "/api/admin/keys", { plan: "free" });
  const { account_id: id } = body.data as { account_id: number };
  return (await signInOwner(plane, email, { accountId: id })).browser;
}

/** Lets a viewer into the account of the owner. */
async function openViewer(): Promise<Browser> {
  const { body } = await plane.operate("POST", "/api/admin/invites", { account_id: accountId, role: "viewer" });
  const browser = openBrowser(plane);
  const path = `/invite/${(body.data as { token: string }).token}`;
  await browser.post(path, { email: "viewer@example.com", password: PASSWORD });
  return browser;
}

/** Answers the next job of an agent with the example of a tool in the API document. */
async function answerNext(agent: ScriptedAgent, tool: string): Promise<void> {
  const job = await agent.nextJob();
  agent.accept(job);
  agent.answer(job, { status: "ok", data: exampleOf(tool)?.data } as never);
}

interface Shown {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly { readonly const?: string }[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly "x-kind"?: string;
}

/** Returns a value of a parameter that differs from its default, as hostile as the parameter can be. */
function valueFor({ type, default: usual, maximum, maxLength = 0, ...schema }: Shown): string {
  if (schema["x-kind"] === "flag") return usual === true ? "0" : "1";
  const words = schema.enum ?? schema.anyOf?.map((one) => one.const ?? "") ?? [];
  if (words.length > 0) return words.findLast((word) => word !== usual) ?? "";
  if (type === "integer") return String(usual === maximum ? schema.minimum : maximum);
  if (schema["x-kind"] === "list") return "A,<b>,22";
  if (schema["x-kind"] === "text") return `\n first ${HOSTILE}\n\n  last `;
  return HOSTILE.slice(0, maxLength);
}

describe("the list of tools", () => {
  it("has every tool in its group, and those that a search matches", async () => {
    const all = await owner.get("/app/tools");
    for (const { name, title } of CONTRACTS) {
      expect(all.html).toContain(`href="/app/tools/${name}"`);
      expect(readHtml(all.html).text).toContain(title);
    }
    const found = await owner.get("/app/tools?q=TRACE");
    expect([found.html.includes("/app/tools/traceroute"), found.html.includes("/app/tools/ssl")]).toEqual([
      true,
      false,
    ]);
    const none = await owner.get(`/app/tools?q=${encodeURIComponent(HOSTILE)}`);
    expect([none.status, none.html.includes("No tool matches."), none.html.includes("<script>alert")]).toEqual([
      200,
      true,
      false,
    ]);
  });

  it("has no page for a tool that does not exist", async () => {
    expect((await owner.get("/app/tools/constructor")).status).toBe(404);
    expect((await owner.post("/app/tools/nothing")).status).toBe(404);
  });
});

describe("the form of a tool", () => {
  it.each(CONTRACTS.map((contract) => [contract.name, contract] as const))(
    "of %s has a field for each parameter, and reads back what its address says, escaped",
    async (name, contract) => {
      const empty = await owner.get(`/app/tools/${name}`);
      expect(empty.status).toBe(200);
      const names = new Set(readFields(empty.html, `/app/tools/${name}`).keys());
      for (const param of Object.keys(contract.params.properties)) expect(empty.html).toContain(`id="f-${param}"`);
      expect(names.has("_csrf")).toBe(true);
      expect(toCall(contract, readTyped(contract, listed(readFields(empty.html, `/app/tools/${name}`))))).toEqual({});

      const values = Object.entries(contract.params.properties).map(([param, schema]) => [
        param,
        valueFor(schema as Shown),
      ]);
      const call = { ...Object.fromEntries(values), locations: "eu-a,<i>x</i>", share: "1" } as Record<string, string>;
      const address = writeAddress(contract, readTyped(contract, givenInQuery(call)));
      const filled = await owner.get(address ?? "");
      expect(filled.html).not.toMatch(/<script>alert|<\/textarea>&amp;|<b>,|<i>x/);
      const fields = readFields(filled.html, `/app/tools/${name}`);
      expect(toCall(contract, readTyped(contract, listed(fields)))).toEqual(
        toCall(contract, readTyped(contract, givenInQuery(call))),
      );
      expect(fields.get("at")).toEqual(["eu-a"]);
    },
  );

  it("says where probes are, and how many the plan allows", async () => {
    const { html } = await owner.get("/app/tools/ping");
    expect(html).toContain("eu-a (Berlin, DE)");
    expect(html).toContain(`allows ${BUILT_IN_PLANS.captain.locations} probes`);
  });

  it("is disabled for viewers, and says why", async () => {
    const viewer = await openViewer();
    const { html, status } = await viewer.get("/app/tools/ssl?host=example.com");
    expect([status, /<fieldset[^>]* disabled>/.test(html), html.includes("Your role, viewer")]).toEqual([
      200,
      true,
      true,
    ]);
    expect((await viewer.post("/app/tools/ssl", { host: "example.com" })).status).toBe(403);
  });
});

/** Returns the fields of a form as its reader takes them. */
function listed(fields: ReadonlyMap<string, readonly string[]>) {
  return { list: (name: string) => fields.get(name) ?? [] };
}

describe("a run of a tool", () => {
  it("shows the result, its data, and the same call for a terminal", async () => {
    const sent = owner.post("/app/tools/ip", { host: "dns.google", locations: "eu-a" });
    await answerNext(berlin, "ip");
    const { status, html } = await sent;
    expect(status).toBe(200);
    expect(html).toMatch(/<table class="facts">[^]*15169/);
    expect(readHtml(html).text).toContain("--data-urlencode host=dns.google --data-urlencode locations=eu-a");
    expect(readHtml(html).text).toContain("deploy/vantage ip --from eu-a dns.google");
    expect(html).toContain('href="/app/tools/ip?host=dns.google&amp;locations=eu-a"');
    expect(html).toContain('<button type="button" data-copy="as-curl">');
    expect(readHtml(html).text).toContain('"asn"');
    expect(readFields(html, "/app/tools/ip").get("host")).toEqual(["dns.google"]);
  });

  it("compares several locations, and shares the result if asked", async () => {
    const sent = owner.post("/app/tools/ip", { host: "dns.google", at: ["eu-a", "ap-a"], share: "1" });
    await Promise.all([answerNext(berlin, "ip"), answerNext(tokyo, "ip")]);
    const { html } = await sent;
    expect(html).toContain("From 2 locations");
    expect(html).toMatch(/<details[^>]*><summary>From eu-a, Berlin, DE<\/summary>/);
    const path = /\/s\/[\w-]+/.exec(html)?.[0] ?? "no link";
    const shared = await openBrowser(plane).get(path, { accept: "text/html" });
    expect([shared.status, shared.html.includes("2 locations")]).toEqual([200, true]);
  });

  /** Runs a tool at both locations: resolves with the answer that has begun, and the accepted jobs. */
  async function runAtBoth(signal?: AbortSignal) {
    const { csrf } = await owner.get("/app/tools/ip");
    const body = new URLSearchParams({ _csrf: csrf ?? "", host: "dns.google", locations: "eu-a,ap-a" });
    const headers = { cookie: `${COOKIE}=${owner.cookie}`, origin: plane.url, "accept-encoding": "gzip" };
    const how = { method: "POST", body, headers, ...(signal === undefined ? {} : { signal }) };
    const sent = fetch(`${plane.url}/app/tools/ip`, how);
    const [atBerlin, atTokyo] = await Promise.all([berlin.nextJob(), tokyo.nextJob()]);
    berlin.accept(atBerlin);
    tokyo.accept(atTokyo);
    return { answer: await sent, atBerlin, atTokyo };
  }

  it("shows the result of each of several locations when it comes", async () => {
    const { answer, atBerlin, atTokyo } = await runAtBoth();
    expect([answer.status, answer.headers.get("content-encoding")]).toEqual([200, null]);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let html = "";
    /** Reads until the page has a text; "": to its end. */
    const readUntil = async (text: string): Promise<void> => {
      for (;;) {
        if (text !== "" && html.includes(text)) return;
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done) return;
        html += value;
      }
    };
    const outcome = { status: "ok", data: exampleOf("ip")?.data } as never;
    await readUntil('aria-label="Results by location"');
    tokyo.answer(atTokyo, outcome);
    await readUntil("<li>ap-a: ");
    expect([html.includes("<li>ap-a: "), html.includes("<li>eu-a"), html.includes("From 2 locations")]).toEqual([
      true,
      false,
      false,
    ]);
    berlin.answer(atBerlin, outcome);
    await readUntil("");
    expect(html).toMatch(/<h1>[^]*<li>eu-a, Berlin, DE: [^]*<\/ul><h2>[^]*From 2 locations[^]*<\/html>/);
    expect(html.match(/<h1>/g)).toHaveLength(1);
  });

  it("ends in order when no location has a result", async () => {
    const { answer, atBerlin, atTokyo } = await runAtBoth();
    const failure = { status: "failed", stage: "dns", source: "target", reason: "nxdomain", message: `No ${HOSTILE}` };
    berlin.answer(atBerlin, failure as never);
    tokyo.answer(atTokyo, failure as never);
    const html = await answer.text();
    expect(html.match(/<li>(?:ap-a|eu-a)[^<]*: /g)).toHaveLength(2);
    expect(html).toMatch(/<\/ul>[^]*action="\/app\/tools\/ip"[^]*<\/main><footer>.*<\/footer><\/body><\/html>\s*$/);
    expect([html.match(/<h1>/g)?.length, html.includes("<script>alert")]).toEqual([1, false]);
    expect(readFields(html, "/app/tools/ip").get("host")).toEqual(["dns.google"]);
  });

  it("is cancelled when the browser goes away while results come", async () => {
    const gone = new AbortController();
    const { atBerlin, atTokyo } = await runAtBoth(gone.signal);
    gone.abort();
    const cancelled = ({ messages }: ScriptedAgent) =>
      messages.flatMap(({ body }) => (body?.$case === "cancel" ? [body.value.jobId] : []));
    await expect.poll(() => [cancelled(berlin), cancelled(tokyo)]).toEqual([[atBerlin.jobId], [atTokyo.jobId]]);
  });

  it("shows why a target is refused, beside its field, and keeps what was typed", async () => {
    const refused = await owner.post("/app/tools/ssl", { host: "10.0.0.1", port: "8443" });
    expect(refused.status).toBe(400);
    expect(refused.html).toMatch(/id="p-host">This target is not allowed/);
    expect(readFields(refused.html, "/app/tools/ssl").get("port")).toEqual(["8443"]);
    const wrong = await owner.post("/app/tools/ssl", { host: "example.com", port: "70000" });
    expect([wrong.status, /id="p-port">Must be between 1 and 65535/.test(wrong.html)]).toEqual([400, true]);
    expect(wrong.html).toMatch(/<details class="part" open>/);
    const nowhere = await owner.post("/app/tools/ssl", { host: "example.com", locations: "atlantis" });
    expect([nowhere.status, nowhere.html.includes('id="p-locations"')]).toEqual([400, true]);
  });

  it("counts once as a call of the plan, a form not at all", async () => {
    const left = async (sent: ReturnType<Browser["post"]>) => (await sent).headers.get("x-ratelimit-remaining");
    const free = await signInFree("free@example.com");
    expect(await left(free.get("/app/tools/ip"))).toBeNull();
    expect(await left(free.post("/app/tools/check", { url: "http://10.0.0.1/" }))).toBe("2");
    const outOfPlan = await free.post("/app/tools/ssl", { host: "example.com" });
    expect([outOfPlan.status, outOfPlan.headers.get("x-ratelimit-remaining")]).toEqual([403, "1"]);
    expect(outOfPlan.html).toContain("The free plan does not include ssl.");
    expect(await left(free.post("/app/tools/check", { url: "" }))).toBe("0");
    const over = await free.post("/app/tools/check", { url: "https://example.com/" });
    expect([over.status, over.headers.get("retry-after")]).toEqual([429, "60"]);
    expect(over.html).toContain("Your plan allows 3 requests a minute");
    expect(readFields(over.html, "/app/tools/check").get("url")).toEqual(["https://example.com/"]);
  });

  it("is refused without the token of the form", async () => {
    expect((await owner.post("/app/tools/ip", { host: "dns.google", _csrf: "other" })).status).toBe(403);
  });

  it("shows the failure of a target as an answer", async () => {
    const sent = owner.post("/app/tools/ip", { host: "gone.example" });
    const taken = [berlin, tokyo].map(async (agent) => ({ agent, job: await agent.nextJob() }));
    const { agent, job } = await Promise.race(taken);
    agent.accept(job);
    const failure = { status: "failed", stage: "dns", source: "target", reason: "nxdomain", message: `No ${HOSTILE}` };
    agent.answer(job, failure as never);
    const { status, html } = await sent;
    expect([status, html.includes("<script>alert")]).toEqual([200, false]);
    expect(readHtml(html).text).toContain(`No ${HOSTILE}`);
  });
});
