import { describe, expect, it } from "vitest";
import { createIcmp, judgeRun } from "#probe-agent/net/icmp.ts";
import type { IcmpHost } from "#probe-agent/net/icmp/host.ts";
import type { JobEvent } from "#probe-agent/net/icmp/messages.ts";
import type { EchoReply, EchoRequest } from "#probe-agent/port/packets.ts";
import { jobLimits, loopbackEgress } from "#test/support/net.ts";

const ECHO: EchoRequest = { ip: "127.0.0.1", count: 2, intervalMs: 10, size: 56, ttl: 64, timeoutMs: 100 };
const lost: EchoReply = { seq: 1, rttMs: null, ttl: null, status: "timeout" };
const answered: EchoReply = { seq: 2, rttMs: 1, ttl: 64, status: "ok" };
const OVERLOADED = {
  status: "failed",
  stage: "request",
  source: "probe",
  reason: "probe_overloaded",
  repeatable: true,
};

/** An ICMP process whose events the test sends. */
function madeHost() {
  const started = { onEvent: (_event: JobEvent): void => {} };
  const host: IcmpHost = {
    ready: () => Promise.resolve({ v4: true, v6: true, missing: [] }),
    capabilities: () => ({ v4: true, v6: true, missing: [] }),
    pid: () => null,
    start(_order, onEvent) {
      started.onEvent = onEvent;
      return () => {};
    },
    stop: () => Promise.resolve(),
  };
  return { host, started };
}

describe("a run of echoes", () => {
  it("blames the target for lost replies while the ICMP process runs", () => {
    const run = { replies: [lost, lost], clockErrorMs: 1_000 };
    expect(judgeRun(run)).toEqual({ status: "ok", data: run });
  });

  it.each([[[lost, lost]], [[answered, lost]]])("blames the probe for %j when that was held up", (replies) => {
    const blamed = judgeRun({ replies, clockErrorMs: 1_200 });
    expect(blamed).toMatchObject(OVERLOADED);
    expect(blamed).toHaveProperty("message", expect.stringMatching(/^The probe was overloaded: .*held up for 1\.2 s/));
  });

  it("without losses stays a result, which has the error of its clock", () => {
    expect(judgeRun({ replies: [answered], clockErrorMs: 5_000 })).toMatchObject({ status: "ok" });
  });

  it("is judged when it ends", async () => {
    const { host, started } = madeHost();
    const run = createIcmp({ host, egress: loopbackEgress })(jobLimits()).echo(ECHO, () => {});
    started.onEvent({ job: 1, kind: "reply", reply: lost });
    started.onEvent({ job: 1, kind: "echo_done", clockErrorMs: 3_000 });
    expect(await run).toMatchObject(OVERLOADED);
  });

  it("that has not ended long after its last wait is the probe's fault", async () => {
    const { host } = madeHost();
    const abort = new AbortController();
    const run = createIcmp({ host, egress: loopbackEgress })(jobLimits(10_000, abort.signal)).echo(ECHO, () => {});
    // Timers of the same process fire in the order of their times.
    setTimeout(() => abort.abort(), 400);
    expect(await run).toMatchObject(OVERLOADED);
  });

  it("that its caller ends is cancelled", async () => {
    const { host } = madeHost();
    const abort = new AbortController();
    const run = createIcmp({ host, egress: loopbackEgress })(jobLimits(10_000, abort.signal)).echo(ECHO, () => {});
    abort.abort();
    expect(await run).toMatchObject({ source: "probe", reason: "cancelled" });
  });
});
