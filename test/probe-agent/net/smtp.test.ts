import { afterEach, describe, expect, it } from "vitest";
import { createEgress } from "#shared/internet/egress.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { createSmtp } from "#probe-agent/net/smtp.ts";
import type { SmtpLink } from "#probe-agent/port/smtp.ts";
import { startSmtpServer, type SmtpScript, type SmtpServer } from "#test/servers/smtp.ts";
import { systemClock } from "#test/support/clock.ts";
import { jobLimits, loopbackEgress } from "#test/support/net.ts";
import { until } from "#test/support/until.ts";

/** Far above what a busy machine needs for an answer. */
const PATIENT_MS = 120_000;
/** The limits of a job that ends long before them. */
const patient = (signal?: AbortSignal) => jobLimits(PATIENT_MS, signal);

const servers: SmtpServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(script: SmtpScript = {}): Promise<SmtpServer> {
  const server = await startSmtpServer(script);
  servers.push(server);
  return server;
}

function connect(port: number, limits = patient(), egress = loopbackEgress): Promise<Outcome<SmtpLink>> {
  return createSmtp({ clock: systemClock, egress })(limits).connect({ ip: "127.0.0.1", port, timeoutMs: PATIENT_MS });
}

async function linked(port: number, limits = patient()): Promise<SmtpLink> {
  const outcome = await connect(port, limits);
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  return outcome.data;
}

describe("the SMTP port", () => {
  it("reads replies and sends commands with its address as its name", async () => {
    const server = await serve();
    const link = await linked(server.port);
    expect(await link.read(PATIENT_MS)).toMatchObject({ kind: "reply", reply: { code: 220 } });
    expect(link.send("EHLO")).toBe("EHLO [127.0.0.1]");
    expect(await link.read(PATIENT_MS)).toMatchObject({ kind: "reply", reply: { code: 250 } });
    link.send("QUIT");
    expect(await link.read(PATIENT_MS)).toMatchObject({ kind: "reply", reply: { code: 221 } });
    expect(await link.read(PATIENT_MS)).toMatchObject({ kind: "lost", loss: "closed" });
    link.close();
    expect(server.commands).toEqual(["EHLO [127.0.0.1]", "QUIT"]);
  });

  it("does not connect to forbidden addresses", async () => {
    const server = await serve();
    const strict = createEgress({ targets: [], names: [] });
    expect(await connect(server.port, patient(), strict)).toEqual({ status: "refused" });
    expect(server.accepted()).toBe(0);
  });

  it("reports why a connection failed", async () => {
    expect(await connect(9)).toMatchObject({ status: "failed", stage: "connect", reason: "refused" });
  });

  it("waits no longer than its time limit and reports an incomplete reply", async () => {
    const server = await serve({ greeting: "220-half\r\n220-a" });
    const link = await linked(server.port);
    expect(await link.read(200)).toEqual({ kind: "lost", loss: "timeout", received: "half / 220-a", bytes: 15 });
    link.close();
  });

  it("disconnects a server that sends without end", async () => {
    let sentBytes = (): number => 0;
    const server = await serve({
      greeting: (socket) => {
        sentBytes = () => socket.bytesWritten;
        const flood = (): void => void (!socket.destroyed && socket.write("220 a\r\n".repeat(2_000), flood));
        flood();
      },
    });
    const link = await linked(server.port);
    let answer = await link.read(PATIENT_MS);
    let replies = 0;
    while (answer.kind === "reply") {
      replies += 1;
      answer = await link.read(PATIENT_MS);
    }
    expect(answer).toMatchObject({ loss: "too_long" });
    expect(replies).toBeLessThan(60_000);
    // The agent stops reading, so the server can send only as much as the kernel buffers.
    let sent = -1;
    let unchanged = 0;
    await until(() => {
      unchanged = sentBytes() === sent ? unchanged + 1 : 0;
      sent = sentBytes();
      return unchanged >= 30;
    }, "the server cannot send any more");
    link.close();
  });

  it("closes when the job ends", async () => {
    const controller = new AbortController();
    const server = await serve({ greeting: () => undefined });
    const link = await linked(server.port, patient(controller.signal));
    const answer = link.read(5_000);
    controller.abort();
    expect(await answer).toMatchObject({ kind: "lost", loss: "cancelled" });
  });

  it("ends a handshake without an answer at its time limit", async () => {
    const server = await serve({ greeting: "220 a\r\n", starttls: "220 go\r\n" });
    const link = await linked(server.port);
    await link.read(PATIENT_MS);
    link.send("STARTTLS");
    await link.read(PATIENT_MS);
    expect(await link.secure(null, 300)).toMatchObject({
      plaintext: null,
      outcome: { status: "failed", stage: "tls", reason: "timeout" },
    });
    link.close();
  });
});
