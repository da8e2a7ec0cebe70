import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBearerProxy, type BearerProxy } from "#test/peers/bearer-proxy.ts";
import { runPeer } from "#test/peers/run-peer.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";

let plane: TestControlPlane;
let proxy: BearerProxy;

beforeAll(async () => {
  proxy = await startBearerProxy();
  // The endpoint takes browsers' requests of its own address alone, which for the suite is the proxy's.
  plane = await startControlPlane({ config: { baseUrl: proxy.url } });
  proxy.lead(plane.url, await plane.createKey());
});
afterAll(async () => {
  await proxy?.close();
  await plane?.stop();
});

describe("the official conformance suite", () => {
  it.each(["2025-11-25", "2026-07-28"])(
    "finds in revision %s no fault but what a server of tools alone cannot have",
    async (revision) => {
      const expected = fileURLToPath(new URL(`mcp-expected-failures-${revision}.yml`, import.meta.url));
      const { status, output } = await runPeer("conformance", [
        "server",
        "--url",
        `${proxy.url}/mcp`,
        "--requirements",
        revision,
        "--expected-failures",
        expected,
      ]);
      expect(status, output).toBe(0);
    },
  );
});
