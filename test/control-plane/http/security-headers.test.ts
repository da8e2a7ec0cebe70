import { expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const plane = await stopAfterAll(startControlPlane());

it.each(["/api/v4/tools", "/api/v1/check", "/nowhere", "/healthz", "/mcp"])(
  "an answer of %s cannot run scripts, be framed or be stored by a cache",
  async (path) => {
    const { headers } = await plane.call(path);
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("strict-transport-security")).toBeNull();
  },
);
