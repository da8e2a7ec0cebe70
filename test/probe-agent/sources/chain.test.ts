import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { followChain } from "#probe-agent/sources/chain.ts";
import { jobLimits } from "#test/support/net.ts";
import { netFactory } from "#test/support/tool.ts";

let server: Server;

beforeAll(async () => {
  server = createServer((_request, response) => response.end("here")).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => server.close());

it("the time of a chain starts with its first request, however late the agent sends it", async () => {
  const net = netFactory()(jobLimits(10_000), () => undefined);
  let calls = 0;
  // There is a pause of one second before each call of the clock.
  const paused = { ...net, monotonic: () => 1000 * calls++ };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const followed = await followChain(paused, { url, maxRedirects: 5 });
  expect(followed).toMatchObject({ status: "ok", data: { steps: [{ startedAtUs: 0 }] } });
});
