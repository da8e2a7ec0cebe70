import { pino } from "pino";
import { afterAll, expect, it } from "vitest";
import { parseLocations } from "#shared/internet/locations.ts";
import { createResultCache } from "#control-plane/checks/cache.ts";
import { runCheck } from "#control-plane/checks/run-check.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { monitorCall } from "#control-plane/watching/checking/watch/monitor-call.ts";
import { startLocalHub } from "#test/control-plane/checks/dispatch/local-hub.ts";
import { listenForAgents } from "#test/support/agent-listener.ts";
import { useAgent } from "#test/support/agent-process.ts";
import { systemClock } from "#test/support/clock.ts";
import { freePort } from "#test/support/free-port.ts";

const { hub } = startLocalHub();
const server = await listenForAgents(hub, pino({ level: "silent" }));
afterAll(async () => {
  await server.listener.stop();
  hub.stop();
});
useAgent(server, "cut-off", { VANTAGE_DNS_SERVERS: `127.0.0.1:${await freePort()}` });

// What the other verdicts are, a try of every kind says (test/e2e/try-monitors.test.ts).
it.each([
  ["http", "http://www.example.net/"],
  ["dns", "www.example.net"],
  ["ping", "www.example.net"],
] as const)("the check of a monitor of type %s blames the probe if its own network is gone", async (checkType, url) => {
  const settings = { ...DEFAULT_SETTINGS, timeout_seconds: 1, locations: ["cut-off"] };
  const { contract, params } = monitorCall(
    { url, checkType, settings },
    { request_headers: {}, body: null },
    "up",
    false,
  );
  const items = parseLocations("cut-off");
  if (!items.ok) throw new Error(items.message);
  const answer = await runCheck(
    { hub, clock: systemClock, results: createResultCache(systemClock) },
    { contract, params, accountId: 1, locations: items.items, maxLocations: 1, pace: "paced" },
  );
  expect(answer).toMatchObject({
    data: { locations: [{ status: "failed", error: { source: "probe", stage: "dns" } }] },
  });
});
