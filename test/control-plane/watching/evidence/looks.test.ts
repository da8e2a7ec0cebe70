import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { Job } from "#shared/protocol/probe.ts";
import type { Evidence } from "#control-plane/watching/evidence/evidence.ts";
import { readEvidence } from "#control-plane/watching/evidence/requests.ts";
import { NO_ANSWER, openEvidenceWorld } from "#test/control-plane/watching/evidence/world.ts";

const HANDSHAKE: Outcome<unknown> = {
  status: "failed",
  stage: "tls",
  source: "target",
  reason: "certificate_required",
  message: "the server requires a client certificate",
};
const CERTIFICATE = {
  subject: "CN=shop.example",
  issuer: "CN=Lab",
  fingerprint_sha256: "ab".repeat(32),
  not_before: "2026-01-01T00:00:00Z",
  not_after: "2026-02-01T00:00:00Z",
};
/** What the check of an ssl monitor answers. */
const LOOKED: Outcome<unknown> = {
  status: "ok",
  data: {
    verdict: "down",
    response_ms: 5,
    http_status: null,
    fault: { stage: "tls", reason: "expired", message: "the certificate has expired" },
    phases: null,
    certificate_fingerprint: "ab".repeat(32),
    whole: { host: "shop.example", port: 443, certificate: CERTIFICATE, trusted: false, trust_error: "expired" },
    elapsed_ms: 5,
  },
};

let world: Awaited<ReturnType<typeof openEvidenceWorld>>;

beforeEach(async () => {
  world = await openEvidenceWorld();
});
afterEach(() => world?.close());

/** Opens an outage, and returns its evidence with the tools of the jobs that it took. */
async function gather(
  options: NonNullable<Parameters<typeof world.open>[2]> & { readonly url: string; readonly regions?: string[] },
  answer: (job: Job) => Outcome<unknown> | Promise<Outcome<unknown>>,
): Promise<{ readonly evidence: Evidence; readonly jobs: readonly string[] }> {
  const { url, regions = ["eu-west"], ...rest } = options;
  const [incident] = await world.open(await world.createAccount(), [url], rest);
  const { jobs } = world.startReplica(answer, regions);
  await expect.poll(() => world.statuses()).toEqual({ gathered: 1 });
  return { evidence: (await readEvidence(world.sql, incident?.id ?? 0)) as Evidence, jobs };
}

const countOf = (jobs: readonly string[], tool: string): number => jobs.filter((one) => one === tool).length;

describe("the certificate of a server whose handshake fails", () => {
  it("is looked at by one more handshake, not by a survey", async () => {
    const answer = ({ tool }: Job) =>
      tool === "monitor-http" ? HANDSHAKE : tool === "monitor-ssl" ? LOOKED : NO_ANSWER;
    const { evidence, jobs } = await gather({ url: "https://shop.example/" }, answer);
    expect([countOf(jobs, "monitor-ssl"), countOf(jobs, "ssl")]).toEqual([1, 0]);
    expect(evidence.certificate).toEqual({
      location: "eu-west",
      trusted: false,
      trust_error: "expired",
      ...CERTIFICATE,
    });
  });

  it.each([
    ["grpc", "grpcs://shop.example:50051", 50_051],
    ["websocket", "wss://shop.example/live", 443],
  ] as const)("is looked at by the same handshake for a %s monitor", async (checkType, url, port) => {
    const asked: unknown[] = [];
    const answer = ({ tool, params }: Job) => {
      if (tool === `monitor-${checkType}`) return HANDSHAKE;
      if (tool !== "monitor-ssl") return NO_ANSWER;
      asked.push(JSON.parse(params));
      return LOOKED;
    };
    const { evidence } = await gather({ url, checkType }, answer);
    expect(asked).toMatchObject([{ host: "shop.example", port }]);
    expect(evidence.certificate).toMatchObject({ fingerprint_sha256: CERTIFICATE.fingerprint_sha256 });
  });

  it("of an ssl monitor is not looked at again, because its check is that handshake", async () => {
    const answer = ({ tool }: Job) => (tool === "monitor-ssl" ? HANDSHAKE : NO_ANSWER);
    const { evidence, jobs } = await gather({ url: "shop.example", checkType: "ssl" }, answer);
    expect(countOf(jobs, "monitor-ssl")).toBe(1);
    expect(evidence.certificate).toBeNull();
  });
});

describe("a registry", () => {
  it("is asked once for the evidence of a domain monitor, and is not the target", async () => {
    const limited: Outcome<unknown> = {
      status: "failed",
      stage: "response",
      source: "service",
      reason: "rate_limited",
      message: "the registry is asked too often",
    };
    const answer = ({ tool }: Job) => (tool === "monitor-domain" ? limited : NO_ANSWER);
    const options = { url: "shop.example", checkType: "domain", regions: ["eu-west", "us-east"] } as const;
    const { evidence, jobs } = await gather({ ...options, regions: [...options.regions] }, answer);
    expect(countOf(jobs, "monitor-domain")).toBe(1);
    expect(evidence.failing?.check).toMatchObject({ verdict: "unknown", error: { source: "service" } });
  });
});

describe("a check that gets no answer", () => {
  const regions = ["eu-west", "us-east"];

  it("within the limit of evidence is unknown, if the monitor waits longer", async () => {
    // As an agent answers at the limit of evidence.
    const slow = async ({ tool }: Job) => {
      if (tool === "monitor-http") await sleep(6_000);
      return NO_ANSWER;
    };
    const { evidence } = await gather(
      { url: "https://shop.example/", settings: { timeout_seconds: 15 }, regions },
      slow,
    );
    expect(evidence.failing?.check).toMatchObject({
      verdict: "unknown",
      error: { stage: "connect", source: "probe", reason: "out_of_time" },
    });
    expect(evidence.healthy).toBeNull();
    expect(evidence.summary[2]).toMatch(/^Fails from eu-west; not known from us-east, which got no answer in time/);
  });

  it("is down, if the time was not too short", async () => {
    const settings = { timeout_seconds: 15 };
    const { evidence } = await gather({ url: "https://shop.example/", settings, regions }, () => NO_ANSWER);
    expect(evidence.failing?.check).toMatchObject({ verdict: "down", error: { source: "target", reason: "timeout" } });
    expect(evidence.summary[2]).toMatch(/^Fails from everywhere that was checked: eu-west, us-east/);
  });
});
