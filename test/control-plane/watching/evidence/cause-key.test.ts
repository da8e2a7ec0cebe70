import { describe, expect, it } from "vitest";
import { causeKeyOf } from "#control-plane/watching/evidence/cause-key.ts";

const CAUSE = { code: "http_status", message: "HTTP 503 instead of 200 from eu-west" };

interface Options {
  readonly id?: number;
  readonly checkType?: string;
  readonly port?: number | null;
  readonly cause?: typeof CAUSE;
}

function keyOf(url: string, { id = 1, checkType = "http", port = null, cause = CAUSE }: Options = {}): string {
  return causeKeyOf({ id, url, checkType, settings: { port } }, cause);
}

describe("outages of two monitors", () => {
  it.each<[string, string, Options, string, Options]>([
    ["with one target", "https://shop.example/cart", {}, "https://shop.example/cart", { id: 2 }],
    ["whose targets are written differently", "https://SHOP.example", {}, "https://shop.example:443/", { id: 2 }],
    [
      "with one host and port",
      "shop.example",
      { checkType: "port", port: 25 },
      "shop.example",
      { checkType: "port", port: 25 },
    ],
  ])("%s share their evidence", (_what, url, options, other, others) => {
    expect(keyOf(url, options)).toBe(keyOf(other, others));
  });

  it.each<[string, string, Options, string, Options]>([
    ["of two ports", "http://shop.example:81/", {}, "http://shop.example:82/", {}],
    ["of two schemes", "http://shop.example/", {}, "https://shop.example/", {}],
    ["of two paths", "https://shop.example/a", {}, "https://shop.example/b", {}],
    ["of two queries", "https://shop.example/?a", {}, "https://shop.example/?b", {}],
    ["of two names of one domain", "https://a.shop.example/", {}, "https://b.shop.example/", {}],
    [
      "of two ports in their settings",
      "a.example",
      { checkType: "port", port: 25 },
      "a.example",
      { checkType: "port", port: 26 },
    ],
    ["of two types", "a.example", { checkType: "ping" }, "a.example", { checkType: "dns" }],
    ["of two heartbeats", "", { checkType: "heartbeat" }, "", { checkType: "heartbeat", id: 2 }],
    [
      "with one word of cause and another status",
      "https://shop.example/",
      {},
      "https://shop.example/",
      { cause: { ...CAUSE, message: "HTTP 404 instead of 200 from eu-west" } },
    ],
  ])("%s do not", (_what, url, options, other, others) => {
    expect(keyOf(url, options)).not.toBe(keyOf(other, others));
  });
});
