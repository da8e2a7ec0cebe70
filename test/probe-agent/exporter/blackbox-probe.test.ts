import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEgress, type Denials } from "#shared/internet/egress.ts";
import { createBlackbox } from "#probe-agent/exporter/blackbox-port.ts";
import { blackboxProbe } from "#probe-agent/exporter/blackbox-probe.ts";
import { loadImplementation } from "#probe-agent/implementations.ts";
import { toExactNumber } from "#shared/json/exact.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { noIcmp } from "#test/probe-agent/exporter/recorded-probe.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { jobLimits, netOf } from "#test/support/net.ts";

let web: HttpServer;
let folder: string;

beforeAll(async () => {
  web = await startHttpServer();
  folder = mkdtempSync(join(tmpdir(), "vantage-job-"));
  writeFileSync(join(folder, "secret"), "of-the-agent");
});
afterAll(async () => {
  await web.close();
  rmSync(folder, { recursive: true });
});

/** What ends a probe in a test is never its time. */
const AFTER_ANY_TEST_MS = 600_000;

interface Given {
  readonly options: unknown;
  readonly target?: string;
  readonly hostname?: string;
}

interface Rules {
  readonly targets?: readonly string[];
  readonly names?: readonly string[];
  readonly denials?: Denials;
  readonly signal?: AbortSignal;
  /** Called when a probe wakes the ICMP process. */
  readonly onWake?: () => void;
}

function run({ options, target = web.url, hostname = "" }: Given, rules: Rules = {}): Promise<Outcome<unknown>> {
  const { targets = ["127.0.0.0/8"], names = ["localhost"], denials, signal, onWake } = rules;
  const host = noIcmp([]);
  const blackbox = createBlackbox({
    clock: systemClock,
    random: systemRandom,
    egress: createEgress({ targets, names }, denials),
    icmpHost: {
      ...host,
      ready() {
        onWake?.();
        return host.ready();
      },
    },
    userAgent: "test",
    proxyEnvironment: {},
    roots: null,
  });
  const limits = jobLimits(AFTER_ANY_TEST_MS, signal);
  const params = { options, target, hostname, timeout_ms: AFTER_ANY_TEST_MS };
  return blackboxProbe.run(netOf({ blackbox: blackbox(limits) }, limits), params);
}

describe("the job blackbox-probe", () => {
  it("is one that agents can run", async () => {
    expect((await loadImplementation("blackbox-probe"))?.contract).toBe(blackboxProbe.contract);
  });

  it("wakes the ICMP process for a probe of ICMP alone", async () => {
    const woken: string[] = [];
    for (const prober of ["http", "tcp", "icmp"]) {
      const target = prober === "icmp" ? "127.0.0.1" : new URL(web.url).host;
      await run({ options: { prober }, target }, { onWake: () => woken.push(prober) });
    }
    expect(woken).toEqual(["icmp"]);
  });

  it("runs a module, and takes numbers with all their digits as text", async () => {
    const digits = "12345678901234567890";
    const options = { prober: "http", http: { headers: { "X-Digits": toExactNumber(digits) } } };
    const outcome = await run({ options });
    expect(outcome).toMatchObject({ status: "ok", data: { verdict: "success" } });
    expect(web.requests.at(-1)?.headers).toContainEqual(["X-Digits", digits]);
  });

  it.each([
    ["http", { body_file: "secret" }],
    ["http", { tls_config: { ca_file: "secret" } }],
    ["http", { bearer_token_file: "secret" }],
    ["http", { basic_auth: { username_file: "secret" } }],
    ["tcp", { tls_config: { cert_file: "secret", key_file: "secret" } }],
  ])("reads no file of the agent: %s %j", async (prober, section) => {
    const before = web.requests.length;
    const named = JSON.stringify(section).replaceAll('"secret"', JSON.stringify(join(folder, "secret")));
    const outcome = await run({ options: { prober, [prober]: JSON.parse(named) as unknown } });
    expect(outcome).toMatchObject({ status: "failed", source: "probe", reason: "invalid_module" });
    expect(JSON.stringify(outcome)).not.toContain("of-the-agent");
    expect(web.requests.length).toBe(before);
  });

  it("refuses options that are none", async () => {
    for (const options of [null, 7, {}, { prober: "http", http: { no_such: 1 } }, { prober: "unix" }]) {
      expect(await run({ options })).toMatchObject({ status: "failed", source: "probe", reason: "invalid_module" });
    }
  });

  it("keeps the agent's own rules of targets", async () => {
    const options = { prober: "http" };
    const refused = { status: "refused" };
    expect(await run({ options }, { targets: [] })).toEqual(refused);
    const optedOut = { deniesAddress: (ip: string) => ip === "127.0.0.1", deniesName: () => false };
    expect(await run({ options }, { denials: optedOut })).toEqual(refused);
    const target = `http://localhost:${new URL(web.url).port}/`;
    expect(await run({ options, target }, { names: [] })).toEqual(refused);
    expect(await run({ options, target }, { targets: [] })).toEqual(refused);
    expect(await run({ options, target })).toMatchObject({ status: "ok" });
    for (const never of ["http://127.0.0.1:25/", "http://10.0.0.1", "http://me:secret@127.0.0.1/"]) {
      const through = { prober: "http", http: { proxy_url: web.url, skip_resolve_phase_with_proxy: true } };
      expect(await run({ options: through, target: never })).toEqual(refused);
    }
    const tcp = { prober: "tcp" };
    const { host } = new URL(target);
    expect(await run({ options: tcp, target: host }, { names: [] })).toEqual(refused);
    expect(await run({ options: tcp, target: host })).toMatchObject({ data: { verdict: "success" } });
    expect(await run({ options: tcp, target: "169.254.169.254:80" })).toEqual(refused);
  });

  it("keeps them for redirects", async () => {
    const { port } = new URL(web.url);
    const leading = await startHttpServer({
      handler(_request, response) {
        response.writeHead(302, { location: `http://localhost:${port}/` }).end();
        return true;
      },
    });
    const before = web.requests.length;
    const outcome = await run({ options: { prober: "http" }, target: leading.url }, { names: [] });
    expect(outcome).toMatchObject({ status: "ok", data: { verdict: "failure" } });
    expect(web.requests.length).toBe(before);
    expect(await run({ options: { prober: "http" }, target: leading.url })).toMatchObject({
      data: { verdict: "success" },
    });
    await leading.close();
  });

  it("uses a proxy only if the agent's operator allows it", async () => {
    const through = (proxy: string) => ({ prober: "http", http: { proxy_url: proxy } });
    const { port } = new URL(web.url);
    const target = "http://192.0.2.1/";
    const allowing = { targets: ["192.0.2.0/24"] };
    const before = web.requests.length;
    expect(await run({ options: through(web.url), target }, allowing)).toEqual({ status: "refused" });
    const named = through(`http://localhost:${port}`);
    expect(await run({ options: named, target }, { ...allowing, names: [] })).toEqual({ status: "refused" });
    expect(await run({ options: through("http://proxy.example.com"), target }, allowing)).toEqual({
      status: "refused",
    });
    expect(web.requests.length).toBe(before);
    expect(await run({ options: named, target }, allowing)).toMatchObject({ status: "ok" });
    expect(web.requests.length).toBe(before + 1);
  });

  it("reads a bounded part of a body", async () => {
    const outcome = await run({ options: { prober: "http" }, target: `${web.url}/endless-body` });
    expect(outcome).toMatchObject({ status: "ok", data: { verdict: "failure" } });
  });

  it("ends when it is cancelled", async () => {
    const cancelling = new AbortController();
    const silent = await startHttpServer({
      handler: () => {
        cancelling.abort();
        return true;
      },
    });
    const outcome = await run({ options: { prober: "http" }, target: silent.url }, { signal: cancelling.signal });
    await silent.close();
    expect(outcome).toMatchObject({ status: "ok", data: { verdict: "failure" } });
  });
});
