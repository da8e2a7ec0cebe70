import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { Value } from "typebox/value";
import { ping as pingContract } from "#shared/tools/ping/contract.ts";
import { monitorPort } from "#probe-agent/monitor-checks/monitor-port.ts";
import { startDeafServer } from "#test/servers/deaf.ts";
import { freePort } from "#test/support/free-port.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { runMonitor, verdictOf } from "#test/support/monitor-check.ts";

describe("a port", () => {
  it("that is open is up, with the round trip of the handshake", async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const result = await verdictOf(monitorPort, { host: "127.0.0.1", port });
    const first = await verdictOf(monitorPort, { host: "127.0.0.1", port, known: null });
    await new Promise((resolve) => server.close(resolve));
    expect(result).toMatchObject({ verdict: "up", http_status: null, fault: null, whole: null });
    expect(result.response_ms).toBeLessThan(10_000);
    expect(Array.from(Value.Errors(pingContract.result, first.whole))).toEqual([]);
    expect(first.whole).toMatchObject({ action: "ports", ports: [{ port, state: "open" }] });
  });

  it("that is closed is down: it refuses connections", async () => {
    const port = await freePort();
    expect(await verdictOf(monitorPort, { host: "127.0.0.1", port })).toMatchObject({
      verdict: "down",
      fault: {
        stage: "connect",
        reason: "refused",
        message: `port ${port} of 127.0.0.1 is closed: it refuses connections`,
      },
      whole: { ports: [{ state: "closed" }] },
    });
  });

  it("that does not answer is a failure at the time limit", async () => {
    const deaf = await startDeafServer();
    const outcome = await runMonitor(monitorPort, { host: "127.0.0.1", port: deaf.port, timeout_seconds: 2 });
    await deaf.close();
    expect(failureOf(outcome)).toBe("connect/target/timeout");
    expect(outcome).toMatchObject({ message: `port ${deaf.port} of 127.0.0.1: no answer` });
  });

  it("of a refused address is refused", async () => {
    expect(await runMonitor(monitorPort, { host: "10.0.0.1", port: 80 })).toEqual({ status: "refused" });
  });
});
