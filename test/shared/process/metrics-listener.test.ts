import { connect } from "node:net";
import { Counter, Gauge, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { listenMetrics } from "#shared/process/metrics-listener.ts";

function createRegistry(): Registry {
  const registry = new Registry();
  new Counter({ name: "vantage_things_total", help: "Things", registers: [registry] }).inc(3);
  return registry;
}

describe("the metrics listener", () => {
  it("serves the registry at /metrics and nothing else", async () => {
    const listener = await listenMetrics({ registry: createRegistry(), host: "127.0.0.1", port: 0 });
    const base = `http://127.0.0.1:${listener.port}`;
    const answer = await fetch(`${base}/metrics?x=1`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
    ]);
    expect(await answer.text()).toContain("vantage_things_total 3");
    expect((await fetch(`${base}/`)).status).toBe(404);
    expect((await fetch(`${base}/metrics`, { method: "POST" })).status).toBe(405);
    await listener.close();
  });

  it("serves 64 connections", async () => {
    const listener = await listenMetrics({ registry: createRegistry(), host: "127.0.0.1", port: 0 });
    const sockets = Array.from({ length: 80 }, () => connect(listener.port, "127.0.0.1"));
    for (const socket of sockets) socket.on("error", () => {}).resume();
    await expect.poll(() => sockets.filter((socket) => socket.destroyed).length).toBe(16);
    for (const socket of sockets) socket.destroy();
    await listener.close();
  });

  it("uses a free port if the configured one is in use and another is allowed", async () => {
    const first = await listenMetrics({ registry: createRegistry(), host: "127.0.0.1", port: 0 });
    const options = { registry: createRegistry(), host: "127.0.0.1", port: first.port };
    await expect(listenMetrics(options)).rejects.toThrow("EADDRINUSE");
    const second = await listenMetrics({ ...options, orFree: true });
    expect(second.port).not.toBe(first.port);
    expect((await fetch(`http://127.0.0.1:${second.port}/metrics`)).status).toBe(200);
    await Promise.all([first.close(), second.close()]);
  });

  it("renders once for concurrent requests, and disconnects clients that do not read", async () => {
    const registry = createRegistry();
    let rendered = 0;
    const help = "x".repeat(16 * 1_048_576);
    registry.registerMetric(
      new Gauge({
        name: "vantage_large",
        help,
        registers: [],
        collect() {
          rendered += 1;
        },
      }),
    );
    let cut = 0;
    const stall = { checkEveryMs: 50, checks: 6, onCut: () => (cut += 1) };
    const listener = await listenMetrics({ registry, host: "127.0.0.1", port: 0, stall });
    const socket = connect({ host: "127.0.0.1", port: listener.port });
    socket.on("error", () => {}).pause();
    socket.write("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(100));
    await expect.poll(() => cut).toBe(1);
    expect(rendered).toBeLessThan(5);
    socket.destroy();
    await listener.close();
  });
});
